/* Parts that several pages are made of. */

import { explain } from "./api.js";
import { el, fill } from "./dom.js";
import { icon } from "./icons.js";
import { t } from "./words.js";

/** The top of a page: its one heading of level 1, what it is for, and where it belongs. */
export function heading({ title, intro, back, actions }) {
  return el("header.page-head", {},
    back && el("p.back", {}, el("a", { href: back.href }, icon("chevron"), back.text)),
    el("div.page-title", {}, el("h1", {}, title), actions && el("div.actions", {}, actions)),
    intro && el("p.intro", {}, intro),
  );
}

/**
 * A list that is loaded a page at a time: the first now, each other by a button.
 * @param {function(): Promise<{items: Array, more: boolean}>} next as `pager` of api.js gives it.
 * @param {function(any): Node} row of an item.
 * @param {string} empty what is said where there is nothing.
 * @param {string|HTMLElement} kind the element that holds the rows; `around` puts it into what it stands in.
 * @throws {Problem} for the first page; of another one the list itself says it.
 */
export async function listInPages(next, row, { empty, kind = "ul.list", around = (list) => list }) {
  const rows = typeof kind === "string" ? el(kind) : kind;
  const whole = el("div.paged");
  const foot = el("div.paged-foot");
  const take = async () => {
    const { items, more: isMore } = await next();
    const first = rows.childElementCount;
    rows.append(...items.map(row));
    /* To what is new, for whoever is not looking. */
    if (first > 0) rows.children[first]?.querySelector("a, button, input")?.focus();
    return isMore;
  };
  const more = el("button.button", { type: "button" }, t("more"));
  const error = el("p.field-error", { role: "alert", hidden: true });
  more.addEventListener("click", async () => {
    more.disabled = true;
    error.hidden = true;
    try {
      if (!(await take())) foot.remove();
    } catch (problem) {
      if (problem.name === "AbortError") return;
      fill(error, icon("warning"), explain(problem));
      error.hidden = false;
    } finally {
      more.disabled = false;
    }
  });
  const hasMore = await take();
  if (rows.childElementCount === 0) return fill(whole, el("p.empty", {}, empty));
  fill(whole, around(rows));
  if (hasMore) whole.append(fill(foot, error, more));
  return whole;
}

/** A message above what it is about. @param {"info"|"warning"|"bad"|"good"} kind */
export function notice(kind, ...children) {
  return el(`div.notice.${kind}`, { role: kind === "bad" ? "alert" : null }, icon(kind === "good" ? "check" : "warning"), el("div", {}, children));
}

/**
 * A table that becomes a list of cards where it has no room; its roles are said, as layout takes them away there.
 * @param {string[]} columns their headings.
 * @param {Array<Array<Node|string|Array>>} rows a cell for each column.
 * @param {string} label what the table is of, for those who do not see what stands above it.
 * @param {number[]} figures the places of columns of numbers.
 */
export function table({ columns, rows, label = null, figures = [] }) {
  return tableAround(columns, tableBody(rows.map((cells) => tableRow(columns, cells, figures))), { label, figures });
}

/** What holds the rows of such a table. */
export const tableBody = (rows = []) => el("tbody", { role: "rowgroup" }, rows);

/** Such a table around its rows. */
export function tableAround(columns, body, { label = null, figures = [] } = {}) {
  const heads = columns.map((each, at) => el(figures.includes(at) ? "th.figure" : "th", { scope: "col", role: "columnheader" }, each));
  return el("div.table-frame", {},
    el("table.table", { role: "table", "aria-label": label },
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads)), body));
}

/** A row of such a table. */
export function tableRow(columns, cells, figures = []) {
  return el("tr", { role: "row" }, cells.map((cell, at) =>
    el(figures.includes(at) ? "td.figure" : "td", { role: "cell", "data-label": columns[at] }, el("div.cell", {}, cell))));
}
