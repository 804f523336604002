/* One knowledge base: what is added to it, and what becomes of that while it happens. */

import { address, explain, get, pager, request } from "../api.js";
import { ask } from "../dialog.js";
import { el, fill, own } from "../dom.js";
import { icon } from "../icons.js";
import { say } from "../live.js";
import { heading, notice } from "../parts.js";
import { may } from "../session.js";
import { t } from "../words.js";
import { uploads } from "../uploads.js";
import { owner } from "./bases.js";

const COME_AGAIN_MS = 3_000;

export async function show({ root, params, signal }) {
  const path = `/knowledge-bases/${params.kb}`;
  const base = await get(path, {}, signal);
  const live = el("p.hint.live", {}, t("base.notLive"));
  const sources = new Sources(path, signal);
  /* Before the list is read: what changes after that is told. */
  await follow(path, sources, live, signal);
  await sources.load();
  root.append(
    heading({ title: [own(base.name, "span"), owner(base)], back: { href: "#/knowledge-bases", text: t("base.back") } }),
    may("agents.edit") ? additions(path, sources, signal) : "",
    el("section", { "aria-labelledby": "sources" },
      el("div.section-head", {}, el("h2", { id: "sources" }, t("base.sources")), live), sources.element),
  );
}

/** Have the sources told of what becomes of them, again and again, for as long as the page is shown. */
function follow(path, sources, live, signal) {
  return new Promise((opened) => {
    const connect = () => {
      if (signal.aborted) return;
      const stream = new EventSource(address(`${path}/events`));
      const heard = (event) => JSON.parse(event.data);
      stream.addEventListener("open", () => {
        fill(live, t("base.live"));
        /* What happened while it was closed is in the list alone. */
        if (sources.isLoaded) sources.load().catch(() => {});
        opened();
      });
      stream.addEventListener("source", (event) => sources.put(heard(event)));
      stream.addEventListener("progress", (event) => sources.advance(heard(event)));
      stream.addEventListener("removed", (event) => sources.take(heard(event).id));
      stream.addEventListener("error", () => {
        fill(live, t("base.notLive"));
        opened();
        if (stream.readyState !== EventSource.CLOSED) return; // it comes again by itself
        setTimeout(async () => {
          /* Signed out, or too many are open: to ask for the list says which, and signs in. */
          await sources.load().catch(() => {});
          connect();
        }, COME_AGAIN_MS);
      });
      signal.addEventListener("abort", () => stream.close());
    };
    connect();
  });
}

/** The sources of a base as they are shown, by name. */
class Sources {
  element = el("div");
  isLoaded = false;
  #rows = new Map();
  #list = el("ul.cards");

  constructor(path, signal) {
    this.path = path;
    this.signal = signal;
  }

  /** Read all of them; what is shown already stays where it is. @throws {Problem} */
  async load() {
    const next = pager(`${this.path}/sources`, { limit: 100 }, this.signal);
    const found = [];
    for (let more = true; more;) {
      const page = await next();
      found.push(...page.items);
      more = page.more;
    }
    const ids = new Set(found.map((each) => each.id));
    for (const id of this.#rows.keys()) if (!ids.has(id)) this.take(id);
    for (const source of found) this.put(source, { quiet: !this.isLoaded });
    this.isLoaded = true;
    this.#show();
  }

  /** Show a source as it is now. */
  put(source, { quiet = false } = {}) {
    let row = this.#rows.get(source.id);
    if (row === undefined) {
      row = new Row(this, source);
      this.#rows.set(source.id, row);
      const after = [...this.#rows.values()]
        .filter((each) => each.source.name.localeCompare(source.name) > 0)
        .reduce((first, each) => (first && first.source.name.localeCompare(each.source.name) < 0 ? first : each), null);
      this.#list.insertBefore(row.element, after?.element ?? null);
    }
    const before = row.source.status;
    row.update(source);
    this.#show();
    if (quiet || before === source.status || source.status === "processing") return;
    say(t(source.status === "ready" ? "source.isReady" : "source.isFailed", { name: source.name }));
    if (source.reading?.rejected) row.readRejections();
  }

  /** Show how far a source is. */
  advance({ id, reading }) {
    const row = this.#rows.get(id);
    if (row) row.update({ ...row.source, reading });
  }

  /** Show one no longer. */
  take(id) {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    const hadFocus = row.element.contains(document.activeElement);
    this.#rows.delete(id);
    row.element.remove();
    this.#show();
    if (hadFocus) this.focus();
  }

  focus() {
    const title = document.querySelector("#sources");
    if (title === null) return;
    title.tabIndex = -1;
    title.focus();
  }

  #show() {
    if (this.#rows.size === 0) fill(this.element, el("p.empty", {}, t("base.none")));
    else if (!this.#list.isConnected || this.element.firstChild !== this.#list) fill(this.element, this.#list);
  }
}

class Row {
  constructor(sources, source) {
    this.sources = sources;
    this.source = source;
    this.state = el("div.source-state");
    this.title = el("h3.card-title");
    this.facts = el("p.quiet");
    this.problem = el("p.field-error", { role: "alert", hidden: true });
    this.again = el("button.button.plain", { type: "button", on: { click: () => this.#reprocess() } }, t("source.again"));
    const remove = el("button.button.plain.dangerous", { type: "button", on: { click: () => this.#remove() } }, t("source.remove"));
    this.again.setAttribute("aria-label", t("source.againNamed", { name: source.name }));
    remove.setAttribute("aria-label", t("source.removeNamed", { name: source.name }));
    const actions = may("agents.edit") && el("div.actions", {}, this.again, remove);
    this.element = el("li.card.source", { "data-id": source.id },
      el("div", {}, this.title, this.facts, this.state, this.problem), actions);
    this.update(source);
    if (source.reading?.rejected) this.readRejections();
  }

  update(source) {
    const rejections = source.reading?.rejections ?? (source.reading?.started_at === this.source.reading?.started_at ? this.source.reading?.rejections : undefined);
    this.source = source.reading ? { ...source, reading: { ...source.reading, rejections } } : source;
    if (this.title.textContent !== source.name) {
      fill(this.title, el("a", { href: `#${this.sources.path}/sources/${source.id}` }, own(source.name, "span")));
    }
    fill(this.facts, t(`source.kind.${source.kind}`), " · ", t("bases.passages", { count: source.chunk_count }));
    fill(this.state, state(this.source));
    this.again.disabled = source.status === "processing" || source.kind === "integration";
  }

  /** Which lines of an import were not taken stands with the source alone. */
  async readRejections() {
    const whole = await get(`${this.sources.path}/sources/${this.source.id}`, {}, this.sources.signal).catch(() => null);
    if (whole) this.update(whole);
  }

  async #reprocess() {
    await this.#done(async () => {
      const { body } = await request("POST", `${this.sources.path}/sources/${this.source.id}/reprocess`, { signal: this.sources.signal });
      this.update(body);
    });
  }

  async #remove() {
    const { name, id } = this.source;
    const sure = await ask({
      title: t("source.removeTitle"), text: t("source.removeText", { name }), yes: t("source.remove"), no: t("cancel"), dangerous: true,
    });
    if (!sure) return;
    await this.#done(async () => {
      await request("DELETE", `${this.sources.path}/sources/${id}`, { signal: this.sources.signal });
      this.sources.take(id);
      this.sources.focus();
      say(t("source.removed", { name }));
    });
  }

  async #done(work) {
    this.problem.hidden = true;
    try {
      await work();
    } catch (error) {
      if (error.name === "AbortError") return;
      fill(this.problem, icon("warning"), explain(error));
      this.problem.hidden = false;
    }
  }
}

/* How a source stands: what is being done, or what came of it. */
function state(source) {
  const { status, reading, name } = source;
  const tag = el(`span.tag.${{ processing: "warning", ready: "good", failed: "bad" }[status]}`, {}, t(`source.${status}`));
  if (status === "processing") {
    const running = reading?.status === "running" ? reading : null;
    const text = running?.texts ? t("source.embedded", { done: running.texts_embedded, all: running.texts })
      : running && source.kind === "jsonl" ? t("source.lines", { count: running.lines_read })
        : running ? null : t("source.waiting");
    const bar = running?.texts
      ? el("progress", { max: running.texts, value: running.texts_embedded, "aria-label": t("source.progress", { name }) })
      : el("progress", { "aria-label": t("source.progress", { name }) });
    return [tag, bar, text && el("span.hint", {}, text)];
  }
  const rejected = reading?.rejected > 0 && el("div.notice.warning", {}, icon("warning"), el("div", {},
    el("p", {}, t("source.rejected", { count: reading.rejected })),
    el("ul.bullets", {}, (reading.rejections ?? []).map((each) => el("li", {}, t("source.line", each))))));
  if (status === "ready") return [tag, rejected];
  return [tag, el("div.notice.bad", {}, icon("warning"), el("div", {},
    el("p", { dir: "auto" }, source.error ?? source.error_code ?? ""),
    source.is_searchable && el("p", {}, t("source.stillAnswers")))), rejected];
}

/* What can be added: files by drag and drop or by a button, a page, a text. */
function additions(path, sources, signal) {
  return el("section.additions", { "aria-labelledby": "add" },
    el("h2", { id: "add" }, t("base.add")),
    uploads(path, (source) => sources.put(source), signal),
    el("div.two", {},
      form({
        title: t("base.page"), submit: t("base.addPage"), to: `${path}/sources/url`, sources, signal,
        fields: [{ name: "url", label: t("base.url"), hint: t("base.urlHint"), type: "url", placeholder: "https://" }],
      }),
      form({
        title: t("base.paste"), submit: t("base.addText"), to: `${path}/sources/text`, sources, signal,
        fields: [{ name: "name", label: t("base.textName") }, { name: "text", label: t("base.text"), rows: 4 }],
      }),
    ),
  );
}

function form({ title, submit, to, fields, sources, signal }) {
  const error = el("p.field-error", { role: "alert" });
  const go = el("button.button", { type: "submit" }, submit);
  const inputs = fields.map((field) => {
    const id = `add-${field.name}`;
    const given = { id, name: field.name, required: true, autocomplete: "off", dir: "auto" };
    const input = field.rows ? el("textarea.input", { ...given, rows: field.rows })
      : el("input.input", { ...given, type: field.type ?? "text", placeholder: field.placeholder, maxlength: field.type ? 2048 : 200 });
    const hint = field.hint && el("p.hint", { id: `${id}-hint` }, field.hint);
    if (hint) input.setAttribute("aria-describedby", hint.id);
    return { field, input, element: el("div.form", {}, el("label.label", { htmlFor: id }, field.label), input, hint) };
  });
  const sent = async (event) => {
    event.preventDefault();
    fill(error);
    for (const { input } of inputs) input.removeAttribute("aria-invalid");
    const blank = inputs.find(({ input }) => !input.value.trim());
    if (blank) return refuse(blank, t("base.blank"));
    go.disabled = true;
    try {
      const body = Object.fromEntries(inputs.map(({ field, input }) => [field.name, input.value.trim()]));
      const added = (await request("POST", to, { body, signal })).body;
      for (const { input } of inputs) input.value = "";
      sources.put(added);
      say(t("base.added", { name: added.name }));
      inputs[0].input.focus();
    } catch (problem) {
      if (problem.name === "AbortError") return;
      const at = inputs.find(({ field }) => problem.errors?.some((each) => each.field === field.name)) ?? inputs[0];
      refuse(at, explain(problem));
    } finally {
      go.disabled = false;
    }
  };
  const refuse = ({ input }, text) => {
    input.setAttribute("aria-invalid", "true");
    fill(error, icon("warning"), text);
    input.focus();
  };
  return el("form.card.form", { novalidate: true, "aria-label": title, on: { submit: sent } },
    el("h3", {}, title), inputs.map((each) => each.element), error, el("div", {}, go));
}
