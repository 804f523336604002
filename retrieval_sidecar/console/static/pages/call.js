/* One call: what happened when, what was searched and how long that took, and what could be searched. */

import { Problem, get } from "../api.js";
import { el, own } from "../dom.js";
import { heading } from "../parts.js";
import { duration, entriesOf, outcomeOf, partsOf, timeline } from "../timeline.js";
import { decodedName } from "../trees.js";
import { clock, milliseconds, moment, number, t } from "../words.js";
import { statusTag } from "./calls.js";

const MOST = 1000;

export async function show({ root, params, signal }) {
  const told = await get(`/calls/${encodeURIComponent(params.id)}`, {}, signal);
  const { call } = told;
  const names = await namesOf(call.agent.id, signal);
  const entries = entriesOf(told);
  root.append(
    heading({ title: t("call.title", { agent: call.agent.name }), back: { href: "#/calls", text: t("call.back") } }),
    facts(call),
    el("section.card.section", { "aria-labelledby": "timeline" },
      el("h2", { id: "timeline" }, t("call.timeline")),
      entries.length === 0 ? el("p.quiet", {}, t("call.nothing")) : [
        el("figure", {}, timeline(call, entries, signal), legend()),
        el("ol.entries", {}, entries.map((entry) => row(entry, Date.parse(call.started_at)))),
        Math.max(told.events.length, told.searches.length) >= MOST && el("p.hint", {}, t("call.truncated", { count: MOST })),
      ]),
    scope(told.scope, call.agent.id, names),
  );
}

function facts(call) {
  const fact = (name, ...value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  return el("dl.facts.call-facts", {},
    fact(t("calls.status"), statusTag(call.status)),
    fact(t("calls.began"), el("time", { datetime: call.started_at }, moment(call.started_at))),
    fact(t("calls.length"), call.ended_at ? duration(Date.parse(call.ended_at) - Date.parse(call.started_at)) : "–"),
    fact(t("call.caller"), t(call.contact_id ? "call.known" : "call.unknown")),
    call.end_reason && fact(t("call.reason"), own(call.end_reason.replaceAll("_", " "))),
    fact(t("call.id"), el("bdi.mono", { dir: "ltr" }, call.call_id)),
  );
}

function legend() {
  const entry = (name, key) => el("li", {}, el(`span.key.${name}`), t(key));
  return el("figcaption", {}, el("ul.legend", {},
    entry("part-embed", "call.embed"), entry("part-search", "call.search"), entry("part-rest", "call.rest"),
    entry("found", "call.found"), entry("not-found", "call.notFound")));
}

function row(entry, began) {
  const [kind, tone, ...content] = CONTENT[entry.kind]?.(entry) ?? [t("call.kind.other"), "other", own(entry.kind)];
  return el(`li.entry.${tone}`, {},
    el("time.entry-at", { datetime: new Date(entry.at).toISOString(), title: clock(entry.at) }, duration(entry.at - began)),
    el("span.entry-kind", {}, kind),
    el("div.entry-what", {}, content));
}

const CONTENT = {
  turn: ({ data }) => [
    t(`call.says.${data.role === "caller" ? "caller" : "agent"}`), data.role === "caller" ? "caller" : "agent",
    own(data.text, "p"),
    notes(data.latencyMs !== undefined && t("call.agentTook", { ms: milliseconds(data.latencyMs) }), data.interrupted && t("call.interrupted")),
  ],
  search: (entry) => {
    const { search, felt } = entry;
    const outcome = outcomeOf(entry);
    const parts = partsOf(entry);
    const values = { total: milliseconds(search?.total_ms ?? parts.total), embed: milliseconds(parts.embed), search: milliseconds(parts.search) };
    return [
      t("call.kind.search"), "searched",
      el("p", {}, search && own(search.query, "q"), " ", el(`span.tag.${outcome === "ok" ? "good" : "warning"}`, {}, t(`call.outcome.${outcome}`))),
      notes(
        search && t("call.results", { count: search.result_count }),
        search?.top_relevance !== undefined && t("call.sure", { percent: number(search.top_relevance, { style: "percent" }) }),
        search?.degraded && t("call.byWords"),
        search?.cross_language_fallback && t("call.otherLanguage"),
        search && t("call.took", values),
        felt && t("call.felt", { ms: milliseconds(felt.ms) }),
      ),
    ];
  },
  inline: ({ data }) => [t("call.kind.inline"), "other", el("p", {}, t("call.inline", { characters: data.characters }))],
  error: ({ data }) => [t("call.kind.error"), "error", el("p", {}, el("bdi.mono", { dir: "ltr" }, `${data.source}: ${data.code}`))],
  handoff: ({ data }) => [t("call.kind.handoff"), "other", el("p", {}, `${t(`call.handoff.${data.outcome}`)} · ${t(`call.handoff.${data.reason}`)}`)],
};

function notes(...texts) {
  const said = texts.filter(Boolean);
  return said.length > 0 && el("p.notes", {}, said.join(" · "));
}

function scope(snapshot, agent, names) {
  const part = (name, told, ones, groups) => el("div.scope-part", {},
    el("h3", {}, t(`agents.${name}`)),
    el("p", {}, told.mode === "all" ? t("knowledge.all") : t("knowledge.restricted", { count: ones.length + groups.length })),
    told.mode === "selected" && el("ul.scope-names", {},
      groups.map((each) => el("li", {}, own(names.get(each) || decodedName(each)))),
      ones.length > 0 && el("li", {}, t("call.scopeOnes", { count: ones.length }))));
  const { instruction_scope: instructions, knowledge_scope: knowledge } = snapshot;
  return el("section.card.section", { "aria-labelledby": "scope" },
    el("h2", { id: "scope" }, t("call.scope")),
    el("p.hint", {}, t("call.scopeHelp"), " ", el("a", { href: `#/agents/${agent}` }, t("call.scopeNow"))),
    el("div.scope-parts", {},
      part("instructions", instructions, instructions.instruction_ids, instructions.directory_ids),
      part("knowledge", knowledge, knowledge.item_ids, knowledge.folder_keys)));
}

/* What folders and directories are called now; of those that are gone the snapshot has the key alone. */
async function namesOf(agent, signal) {
  try {
    const { folders, directories } = await get(`/phone-agents/${agent}/knowledge-sources`, {}, signal);
    return new Map([...folders.map(({ key, name }) => [key, name]), ...directories.map(({ id, name }) => [id, name])]);
  } catch (error) {
    if (error instanceof Problem) return new Map();
    throw error;
  }
}
