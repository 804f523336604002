/* The agents, and how far each may search. */

import { pager } from "../api.js";
import { el } from "../dom.js";
import { icon } from "../icons.js";
import { heading, listInPages } from "../parts.js";
import { t } from "../words.js";

export async function show({ root, signal }) {
  const list = await listInPages(pager("/phone-agents", {}, signal), card, { empty: t("agents.none"), kind: "ul.cards" });
  root.append(heading({ title: t("agents.title"), intro: t("agents.intro") }), list);
}

function card(agent) {
  const numbers = agent.numbers.length
    ? agent.numbers.map((each) => el("bdi.number", { dir: "ltr" }, each))
    : el("span.quiet", {}, t("agents.noNumbers"));
  return el("li.card.agent", {},
    el("div", {},
      el("h2.card-title", {}, el("a", { href: `#/agents/${agent.id}`, dir: "auto" }, agent.name)),
      el("p.numbers", {}, numbers),
    ),
    el("dl.facts", {},
      fact(t("agents.instructions"), agent.instruction_scope_mode),
      fact(t("agents.knowledge"), agent.knowledge_scope_mode),
    ),
    el("span.card-go", {}, icon("chevron")),
  );
}

function fact(name, mode) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, el(`span.tag.${mode}`, {}, t(mode === "all" ? "agents.all" : "agents.selected"))));
}
