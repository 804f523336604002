/* The calls, the latest first, and which of them. */

import { get, pager } from "../api.js";
import { el, fill, own } from "../dom.js";
import { say } from "../live.js";
import { heading, listInPages, tableAround, tableBody, tableRow } from "../parts.js";
import { failure, remember } from "../router.js";
import { duration } from "../timeline.js";
import { moment, number, t } from "../words.js";

const STATUSES = ["active", "completed", "transferred", "failed", "lost"];
const TONES = { active: "selected", completed: "good", transferred: "good", failed: "bad", lost: "warning" };

export async function show({ root, query, signal }) {
  const agents = await everyAgent(signal);
  const results = el("div");
  const fields = filters(agents, query);
  let latest = new AbortController();
  const load = async () => {
    latest.abort();
    latest = new AbortController();
    const either = AbortSignal.any([signal, latest.signal]);
    fill(results, await list(wanted(fields), either));
  };
  const changed = async () => {
    remember(given(fields));
    try {
      await load();
      say(t("calls.updated"));
    } catch (error) {
      if (error.name !== "AbortError") fill(results, failure(error, changed).slice(1));
    }
  };
  const reset = el("button.button", { type: "button" }, t("calls.reset"));
  reset.addEventListener("click", () => {
    for (const field of Object.values(fields)) field.value = "";
    fields.agent.focus();
    changed();
  });
  const form = el("form.filters", { "aria-label": t("calls.filters"), on: { change: changed, submit: (event) => event.preventDefault() } },
    labelled("calls.agent", fields.agent), labelled("calls.status", fields.status),
    labelled("calls.from", fields.from), labelled("calls.to", fields.to), reset);
  root.append(heading({ title: t("calls.title"), intro: t("calls.intro") }), form, results);
  await load();
}

function filters(agents, query) {
  const choice = (id, any, options) => el("select.input", { id }, el("option", { value: "" }, any),
    options.map(([value, text]) => el("option", { value, selected: query.get(id) === value }, text)));
  const day = (id) => el("input.input", { id, type: "date", value: /^\d{4}-\d\d-\d\d$/.test(query.get(id)) ? query.get(id) : "" });
  return {
    agent: choice("agent", t("calls.anyAgent"), agents.map(({ id, name }) => [id, name])),
    status: choice("status", t("calls.anyStatus"), STATUSES.map((each) => [each, t(`calls.status.${each}`)])),
    from: day("from"),
    to: day("to"),
  };
}

const labelled = (key, field) => el("div.filter", {}, el("label.label", { htmlFor: field.id }, t(key)), field);
const given = (fields) => Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]).filter(([, value]) => value));

/* Days are the reader's own: from the beginning of the one to the end of the other. */
function wanted(fields) {
  const day = (field, later) => {
    if (!field.value) return undefined;
    const [year, month, date] = field.value.split("-").map(Number);
    return new Date(year, month - 1, date + later).toISOString();
  };
  return { agent_id: fields.agent.value, status: fields.status.value, from: day(fields.from, 0), to: day(fields.to, 1) };
}

async function list(query, signal) {
  const columns = [t("calls.began"), t("calls.agent"), t("calls.status"), t("calls.length"), t("calls.searches")];
  const figures = [3, 4];
  const row = (call) => tableRow(columns, [
    el("a", { href: `#/calls/${call.session_id}` }, el("time", { datetime: call.started_at }, moment(call.started_at))),
    own(call.agent.name),
    statusTag(call.status),
    call.ended_at ? duration(Date.parse(call.ended_at) - Date.parse(call.started_at)) : "–",
    number(call.search_count),
  ], figures);
  const isFiltered = Object.values(query).some(Boolean);
  return listInPages(pager("/calls", query, signal), row, {
    empty: t(isFiltered ? "calls.noneFiltered" : "calls.none"),
    kind: tableBody(),
    around: (body) => tableAround(columns, body, { label: t("calls.listed"), figures }),
  });
}

export const statusTag = (status) => el(`span.tag.${TONES[status]}`, {}, t(`calls.status.${status}`));

async function everyAgent(signal) {
  const found = [];
  let cursor;
  do {
    const page = await get("/phone-agents", { limit: 100, cursor }, signal);
    found.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return found;
}
