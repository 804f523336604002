/* Ask as a caller of an agent would: what a call is given, and of the rest why it is not. */

import { explain, get, pager, request } from "../api.js";
import { el, fill, own } from "../dom.js";
import { icon } from "../icons.js";
import { say } from "../live.js";
import { heading, notice } from "../parts.js";
import { remember } from "../router.js";
import { milliseconds, number, t } from "../words.js";

const MOST_AGENTS = 1_000;
const E164 = /^\+[1-9][0-9]{1,14}$/;
const share = (value) => number(value, { maximumFractionDigits: 2, minimumFractionDigits: 2 });

export async function show({ root, query, signal }) {
  const [agents, contacts] = await Promise.all([allAgents(signal), get("/contacts", { limit: 100 }, signal)]);
  root.append(heading({ title: t("trial.title"), intro: t("trial.intro") }));
  if (agents.length === 0) return root.append(el("p.empty", {}, t("trial.noAgents")));
  const found = el("div.trial-found");
  root.append(form(agents, contacts.items, query, found, signal), found);
}

/** All agents there are, for a list to choose from. @throws {Problem} */
export async function allAgents(signal) {
  const next = pager("/phone-agents", { limit: 100 }, signal);
  const agents = [];
  for (let more = true; more && agents.length < MOST_AGENTS;) {
    const page = await next();
    agents.push(...page.items);
    more = page.more;
  }
  return agents;
}

function form(agents, contacts, query, found, signal) {
  const agent = el("select.input", { id: "trial-agent" },
    agents.map((each) => el("option", { value: each.id, selected: each.id === query.get("agent") }, each.name)));
  const caller = el("input.input", { id: "trial-caller", type: "tel", autocomplete: "off", dir: "ltr", "aria-describedby": "trial-caller-hint", list: "trial-contacts" });
  /* The first hundred to choose from; any other number can be typed. */
  const known = el("datalist", { id: "trial-contacts" }, contacts.map((each) => el("option", { value: each.phone_number }, each.name)));
  const question = el("input.input", { id: "trial-question", maxlength: 500, autocomplete: "off", required: true, dir: "auto" });
  const error = el("p.field-error", { role: "alert" });
  const go = el("button.button.primary", { type: "submit" }, icon("search"), t("trial.go"));
  let asked = 0;
  const submit = async (event) => {
    event.preventDefault();
    fill(error);
    for (const each of [caller, question]) each.removeAttribute("aria-invalid");
    const from = caller.value.replace(/[\s().-]/g, "");
    if (from && !E164.test(from)) return refuse(caller, t("trial.badNumber"));
    if (!question.value.trim()) return refuse(question, t("trial.blank"));
    /* In the address, so that it can be come back to; never who calls or what was asked. */
    remember({ agent: agent.value });
    const mine = (asked += 1);
    found.setAttribute("aria-busy", "true");
    try {
      const body = { query: question.value.trim(), ...(from ? { caller_number: from } : {}) };
      const answer = (await request("POST", `/phone-agents/${agent.value}/search`, { body, signal })).body;
      if (mine === asked) say(fill(found, outcome(answer)).querySelector("h2").textContent);
    } catch (problem) {
      if (problem.name === "AbortError" || mine !== asked) return;
      fill(found);
      refuse(question, explain(problem));
    } finally {
      if (mine === asked) found.removeAttribute("aria-busy");
    }
  };
  const refuse = (input, text) => {
    input.setAttribute("aria-invalid", "true");
    fill(error, icon("warning"), text);
    input.focus();
  };
  return el("form.card.trial-form", { novalidate: true, role: "search", on: { submit } },
    el("div.form", {}, el("label.label", { htmlFor: agent.id }, t("trial.agent")), agent),
    el("div.form", {}, el("label.label", { htmlFor: caller.id }, t("trial.caller")), caller, known,
      el("p.hint", { id: "trial-caller-hint" }, t("trial.callerHint"))),
    el("div.form.wide", {}, el("label.label", { htmlFor: question.id }, t("trial.question")),
      el("div.one-line", {}, question, go), error),
  );
}

function outcome(answer) {
  const given = answer.results.filter((each) => each.given);
  const rest = answer.results.filter((each) => !each.given);
  return [
    el("div.trial-head", {},
      el("h2", {}, t(`trial.${answer.status}`, { count: given.length })),
      el("dl.facts", { "aria-label": t("trial.time") },
        fact(t("trial.total"), answer.latency_ms), fact(t("trial.embed"), answer.embed_ms), fact(t("trial.search"), answer.search_ms),
        answer.explain_ms !== undefined && fact(t("trial.explain"), answer.explain_ms)),
    ),
    answer.degraded && notice("warning", t("trial.degraded")),
    !answer.is_complete && notice("warning", t("trial.incomplete")),
    answer.results.length === 0 && el("p.empty", {}, t("trial.nothing")),
    given.length > 0 && [el("h3", {}, t("trial.given")), el("ol.cards", {}, given.map((each) => result(each, answer)))],
    rest.length > 0 && [el("h3", {}, t("trial.notGiven")), el("ul.cards", {}, rest.map((each) => result(each, answer)))],
  ];
}

const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, milliseconds(value)));

function result(each, answer) {
  const level = t("trial.scoreOf", { score: share(each.score), least: share(answer.min_score) });
  return el(each.given ? "li.card.result.given" : "li.card.result.faded", {},
    el("div.result-head", {},
      el("h4.card-title", {}, own(each.title, "span")),
      el("div.score", {},
        el("span.hint", {}, t("trial.score")),
        el("meter", { min: 0, max: 1, low: answer.min_score, value: each.score, "aria-label": `${t("trial.score")}: ${level}` }),
        el("span.figure", { "aria-hidden": "true" }, share(each.score))),
    ),
    each.why_not && el("ul.reasons", { "aria-label": t("trial.why") },
      each.why_not.map((reason) => el("li.tag.warning", {}, t(`why.${reason}`)))),
    el("p.passage-text", { lang: each.language, dir: "auto" }, each.text),
    el("p.marks.hint", {},
      el("span", {}, each.type === "instruction" ? t("trial.instruction") : own(each.source_name)),
      each.meaning !== undefined && el("span", {}, t("trial.meaning", { value: share(each.meaning) })),
      each.keywords.length > 0 && el("span", {}, t("trial.keywords", { words: each.keywords.join(", ") })),
      each.code && el("span.tag.good", {}, t("trial.code")),
    ),
  );
}
