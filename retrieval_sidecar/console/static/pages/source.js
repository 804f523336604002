/* One source: how it stands, and the passages that it gave. */

import { get, pager } from "../api.js";
import { el, own } from "../dom.js";
import { heading, listInPages, notice } from "../parts.js";
import { t } from "../words.js";

export async function show({ root, params, signal }) {
  const base = `/knowledge-bases/${params.kb}`;
  const source = await get(`${base}/sources/${params.source}`, {}, signal);
  const next = pager(`${base}/sources/${params.source}/passages`, {}, signal);
  const passages = await listInPages(next, passage, { empty: t("source.noPassages"), kind: "ol.cards" });
  const page = /^https?:/i.test(source.url ?? "")
    && el("p", {}, el("a", { href: source.url, target: "_blank", rel: "noopener noreferrer" }, t("source.original")));
  root.append(
    heading({ title: own(source.name, "span"), intro: t("source.passagesIntro"), back: { href: `#${base}`, text: t("base.sources") } }),
    source.error ? notice("bad", el("p", { dir: "auto" }, source.error)) : "",
    page || "",
    passages,
  );
}

function passage(each) {
  return el("li.card.passage", { lang: each.language, dir: "auto" },
    el("h2.card-title", {}, each.title),
    each.heading && each.heading !== each.title && el("p.quiet", {}, each.heading),
    el("p.passage-text", {}, each.text));
}
