/* The knowledge bases: which there are, a new one, and one less. */

import { Problem, explain, get, pager, request } from "../api.js";
import { ask, show as dialog } from "../dialog.js";
import { el, fill, own } from "../dom.js";
import { icon } from "../icons.js";
import { say } from "../live.js";
import { heading, listInPages, notice } from "../parts.js";
import { may } from "../session.js";
import { t } from "../words.js";

const ROOT = "/knowledge-bases";

export async function show({ root, signal }) {
  const place = el("div");
  const head = heading({ title: t("bases.title"), intro: t("bases.intro") });
  const reload = async () => fill(place, await list(signal, reload));
  await reload();
  root.append(head, may("agents.edit") ? creation(signal, reload) : "", place);
}

const list = (signal, reload) =>
  listInPages(pager(ROOT, {}, signal), (base) => card(base, signal, reload), { empty: t("bases.none"), kind: "ul.cards" });

function creation(signal, reload) {
  const name = el("input.input", { id: "base-name", required: true, maxlength: 200, autocomplete: "off", "aria-describedby": "base-error" });
  const error = el("p.field-error", { id: "base-error", role: "alert" });
  const go = el("button.button.primary", { type: "submit" }, t("bases.create"));
  const submit = async (event) => {
    event.preventDefault();
    fill(error);
    name.removeAttribute("aria-invalid");
    go.disabled = true;
    try {
      const { body } = await request("POST", ROOT, { body: { name: name.value.trim() }, signal });
      name.value = "";
      await reload();
      say(t("bases.created", { name: body.name }));
    } catch (problem) {
      if (problem.name === "AbortError") return;
      name.setAttribute("aria-invalid", "true");
      fill(error, icon("warning"), name.value.trim() ? explain(problem) : t("base.blank"));
    } finally {
      go.disabled = false;
      name.focus();
    }
  };
  return el("form.card.one-line", { novalidate: true, "aria-label": t("bases.new"), on: { submit } },
    el("div.form", {}, el("label.label", { htmlFor: "base-name" }, t("bases.new")), name, error), go);
}

function card(base, signal, reload) {
  const rest = base.agent_count - base.agents.length;
  const remove = el("button.button.plain.dangerous", {
    type: "button", "aria-label": t("bases.removeNamed", { name: base.name }),
    on: { click: () => removal(base, signal, reload) },
  }, t("bases.remove"));
  return el("li.card.base", {},
    el("div", {},
      el("h2.card-title", {}, el("a", { href: `#${ROOT}/${base.id}` }, own(base.name, "span")), owner(base)),
      el("p.quiet", {}, t("bases.sources", { count: base.source_count }), " · ", t("bases.passages", { count: base.chunk_count })),
      el("p.hint", {}, base.agents.length
        ? t("bases.agents", { names: base.agents.map((each) => each.name).join(", ") }) + (rest > 0 ? ` ${t("bases.more", { count: rest })}` : "")
        : t("bases.noAgents")),
    ),
    may("agents.edit") && remove,
  );
}

/** Whose a base is, where it is not the organization's, and whether agents may search it. */
export function owner({ owner_type: type, published }) {
  if (type === "organization") return null;
  return [" ", el("span.tag", {}, t(`bases.of.${type}`)), " ", el(`span.tag.${published ? "good" : "warning"}`, {}, t(published ? "bases.published" : "bases.notPublished"))];
}

async function removal(base, signal, reload) {
  const sure = await ask({
    title: t("bases.removeTitle"), text: t("bases.removeText", { name: base.name }),
    yes: t("bases.remove"), no: t("cancel"), dangerous: true,
  });
  if (!sure) return;
  try {
    await request("DELETE", `${ROOT}/${base.id}`, { signal });
    say(t("bases.removed", { name: base.name }));
  } catch (problem) {
    if (problem.name === "AbortError") return;
    if (problem instanceof Problem && problem.status === 409) await inUse(base, signal);
    else if (!(problem instanceof Problem && problem.status === 404)) await told(problem);
  }
  await reload().catch(told);
  document.querySelector("#base-name")?.focus();
}

/* Why it stays: who uses it, as they are now. */
async function inUse(base, signal) {
  const now = await get(`${ROOT}/${base.id}`, {}, signal).catch(() => base);
  const agents = el("ul.bullets", {}, now.agents.map((each) => el("li", {}, own(each.name))));
  await dialog(t("bases.inUse", { name: base.name }), (close) => [
    el("p", {}, t("bases.inUseText")), agents, closing(close),
  ]);
}

const told = (problem) => dialog(t("problem.title"), (close) => [notice("bad", explain(problem)), closing(close)]);

const closing = (close) =>
  el("div.actions", {}, el("button.button", { type: "button", autofocus: true, on: { click: () => close() } }, t("close")));
