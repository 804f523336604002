/* From the address to a page, and from one page to the next. */

import { Problem, explain } from "./api.js";
import { el, fill } from "./dom.js";
import { isDirty, mayLeave, unguard } from "./leaving.js";
import { say } from "./live.js";
import { HOME, PAGES } from "./pages.js";
import { t } from "./words.js";

let shown = null; // the address that is shown
let leaving = new AbortController();
let place = { main: null, hear: () => {} };

/** The page that an address names, with its parameters; undefined for none. */
export function find(hash) {
  const [path, query = ""] = hash.replace(/^#/, "").split("?");
  for (const page of PAGES) {
    const names = [];
    const pattern = page.path.replace(/:(\w+)/g, (_, name) => names.push(name) && "([^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (match) {
      const params = Object.fromEntries(names.map((name, at) => [name, decoded(match[at + 1])]));
      return { page, params, query: new URLSearchParams(query) };
    }
  }
  return undefined;
}

/** Change the query of the address of the page that is shown, without showing it again. */
export function remember(query) {
  const [path] = location.hash.split("?");
  const text = new URLSearchParams(query).toString();
  history.replaceState(null, "", path + (text ? `?${text}` : ""));
  shown = location.hash;
}

/**
 * Show pages from now on.
 * @param {HTMLElement} main where.
 * @param {function(object)} heard told of each page that is shown.
 */
export function start(main, heard) {
  if (place.main === null) {
    addEventListener("hashchange", moved);
    document.addEventListener("click", followed);
  }
  place = { main, hear: heard };
  return showAt({ first: true });
}

/** Show none from now on, until it is started again. */
export function stop() {
  leaving.abort();
  unguard();
  shown = null;
}

/* A link away from what is not saved: nothing happens before that is meant. */
async function followed(event) {
  const link = event.target.closest?.("a[href^='#/']");
  const isElsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || isElsewhere || event.defaultPrevented || !isDirty()) return;
  event.preventDefault();
  if (!(await mayLeave())) return;
  unguard();
  location.hash = link.hash;
}

async function moved() {
  if (shown === null || location.hash === shown) return;
  if (isDirty()) {
    /* Back: the address says where one is for as long as the question stands, and the way back stays as it was. */
    history.pushState(null, "", shown);
    if (!(await mayLeave())) return;
    unguard();
    history.back();
    return;
  }
  await showAt({ first: false });
}

async function showAt({ first }) {
  const { main, hear } = place;
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  unguard();
  if (location.hash === "" || location.hash === "#" || location.hash === "#/") history.replaceState(null, "", `#${HOME}`);
  shown = location.hash;
  const found = find(location.hash);
  hear(found?.page);
  /*
   * What a page gets:
   *   root    where it builds itself; a heading of level 1 comes first
   *   params  of its path
   *   query   of its address, a URLSearchParams
   *   signal  aborted when the page is left: for requests and listeners
   */
  const root = el("div.page");
  const view = { root, params: found?.params, query: found?.query, signal };
  main.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => fill(main, el("p.loading", {}, t("loading"))), 150);
  try {
    if (found === undefined) missing(root);
    else await (await found.page.load()).show(view);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) console.error(error);
    fill(root, failure(error, () => showAt({ first: false })));
  } finally {
    clearTimeout(slow);
  }
  if (signal.aborted) return;
  fill(main, root);
  main.removeAttribute("aria-busy");
  const heading = root.querySelector("h1");
  document.title = `${heading?.textContent ?? ""} · ${t("app.name")}`;
  if (!first && heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function missing(root) {
  fill(root,
    el("h1", {}, t("missing.title")),
    el("p", {}, t("missing.text")),
    el("p", {}, el("a", { href: `#${HOME}` }, t("missing.back"))),
  );
}

/** What is shown in place of what could not be had. */
export function failure(error, retry) {
  const text = error instanceof Problem ? explain(error) : t("problem.internal_error");
  say(text);
  return [
    el("h1", {}, t("problem.title")),
    el("p", {}, text),
    el("p", {}, el("button.button", { type: "button", on: { click: retry } }, t("again"))),
  ];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
