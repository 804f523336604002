/* What one agent may search: the instructions and the knowledge, each all of it or what is checked. */

import { Problem, explain, get, request } from "../api.js";
import { ask } from "../dialog.js";
import { el, fill } from "../dom.js";
import { icon } from "../icons.js";
import { guard } from "../leaving.js";
import { say } from "../live.js";
import { heading, notice } from "../parts.js";
import * as selection from "../selection.js";
import { may } from "../session.js";
import { instructionTree, knowledgeTree } from "../trees.js";
import { t } from "../words.js";

export async function show({ root, params, signal }) {
  const path = `/phone-agents/${encodeURIComponent(params.id)}`;
  const [agent, sources] = await Promise.all([get(path, {}, signal), request("GET", `${path}/knowledge-sources`, { signal })]);
  const editor = new Editor(agent, `${path}/knowledge-sources`, signal);
  editor.take(sources);
  root.append(
    heading({
      title: t("knowledge.title", { name: agent.name }),
      intro: t("knowledge.intro"),
      back: { href: "#/agents", text: t("knowledge.back") },
    }),
    may("agents.edit") ? "" : notice("info", t("knowledge.viewer")),
    el("div.categories", {},
      category(editor, "instructions", instructionTree(editor, sources.body)),
      category(editor, "knowledge", knowledgeTree(editor, sources.body))),
    saving(editor),
  );
  guard(() => editor.dirty.length > 0);
  editor.update();
}

/** What is chosen now and what is saved, and whoever shows something of it. */
class Editor {
  constructor(agent, path, signal) {
    Object.assign(this, { agent, path, signal, isEditable: may("agents.edit"), isSaving: false });
    this.shown = [];
  }

  /** What the sidecar has now. */
  take({ body, etag }) {
    this.sources = body;
    this.etag = etag;
    this.saved = selection.read(body);
    this.now ??= this.saved;
  }

  get dirty() {
    return selection.dirty(this.now, this.saved);
  }

  /** Have something follow the selection. */
  follow(show) {
    this.shown.push(show);
  }

  update() {
    for (const show of this.shown) show();
  }

  /** Check or uncheck; where that would open a category to everything, ask first. */
  async set(name, kind, id, on) {
    const category = this.now[name];
    if (on) this.now = { ...this.now, [name]: selection.choose(category, kind, id) };
    else if (selection.isLast(category, kind, id)) {
      this.update(); // it stays checked while the question stands
      await this.open(name, "knowledge.clear.text");
    } else this.now = { ...this.now, [name]: selection.drop(category, kind, id) };
    this.update();
  }

  async open(name, text) {
    const values = { name: this.agent.name, category: t(`agents.${name}`) };
    const isMeant = await ask({
      title: t("knowledge.clear.title", values), text: t(text, values),
      yes: t("knowledge.openAll"), no: t("knowledge.clear.no"), dangerous: true,
    });
    if (isMeant) this.now = { ...this.now, [name]: selection.open() };
    this.update();
  }

  discard() {
    this.now = this.saved;
    this.update();
  }

  /** @throws {Problem} and then nothing of what is chosen is lost. */
  async save() {
    const sent = this.now;
    const body = selection.request(sent, this.saved);
    this.isSaving = true;
    this.update();
    try {
      this.take(await request("PUT", this.path, { body, headers: { "If-Match": this.etag } }));
      /* What was checked meanwhile stays so. */
      this.now = selection.rebase(this.now, sent, this.saved);
    } finally {
      this.isSaving = false;
      this.update();
    }
  }

  /** After somebody else has changed it: theirs, with mine on top or without. @throws {Problem} */
  async reread({ keep }) {
    const base = this.saved;
    this.take(await request("GET", this.path, { signal: this.signal }));
    this.now = keep ? selection.rebase(this.now, base, this.saved) : this.saved;
    this.update();
  }
}

/* One of the two roots: a disclosure whose name says how far it is open. */
function category(editor, name, tree) {
  const id = `of-${name}`;
  const status = el("span.status");
  const unsaved = el("span.tag.warning", {}, t("knowledge.unsaved"));
  const button = el("button.root", { type: "button", "aria-expanded": "true", "aria-controls": id },
    el("span.turn", {}, icon("chevron")), el("span.root-name", {}, t(`agents.${name}`)), " ", status, " ", unsaved);
  const help = el("p.hint");
  const gone = el("p.hint");
  const empty = notice("warning", el("p", {}, t("knowledge.emptySelection")),
    editor.isEditable && el("button.button", { type: "button", on: { click: () => editor.open(name, "knowledge.clear.textGone") } }, t("knowledge.openAll")));
  const body = el("div.root-body", { id }, help, empty, gone, tree);
  button.addEventListener("click", () => {
    body.hidden = !body.hidden;
    button.setAttribute("aria-expanded", String(!body.hidden));
  });
  editor.follow(() => {
    const now = editor.now[name];
    const chosen = selection.count(now);
    status.textContent = now.mode === "all" ? t("knowledge.all") : t("knowledge.restricted", { count: chosen });
    status.className = `status ${now.mode}`;
    unsaved.hidden = !editor.dirty.includes(name);
    help.textContent = t(now.mode === "all" ? "knowledge.allHelp" : "knowledge.restrictedHelp");
    empty.hidden = !(now.mode === "selected" && chosen === 0);
    const hidden = unavailable(editor, name);
    gone.hidden = hidden === 0;
    gone.textContent = t("knowledge.gone", { count: hidden });
  });
  return el(`section.card.category`, { "aria-labelledby": `${id}-name` }, el("h2", { id: `${id}-name` }, button), body);
}

/* Of what is chosen one by one, how many no list has: each stands in one base, or one directory, and these count theirs. */
function unavailable(editor, name) {
  const [groups, field] = name === "knowledge"
    ? [editor.sources.folders.filter(({ key }) => key.startsWith("base:")), "selected_item_count"]
    : [editor.sources.directories, "selected_instruction_count"];
  if (editor.sources.folders.length >= 1000 || editor.sources.directories.length >= 1000) return 0;
  if (editor.now[name].mode === "all") return 0;
  return editor.saved[name].ones.size - groups.reduce((sum, each) => sum + each[field], 0);
}

/* The bar that says what is not saved, and what came of saving. */
function saving(editor) {
  const text = el("p.save-text");
  const outcome = el("div.save-outcome");
  const save = el("button.button.primary", { type: "button" });
  const discard = el("button.button", { type: "button" }, t("knowledge.discard"));
  const bar = el("div.save-bar", {}, outcome, el("div.save-row", {}, text, el("div.actions", {}, discard, save)));

  const clear = () => fill(outcome);
  const told = (kind, ...content) => fill(outcome, notice(kind, ...content));
  const good = (key) => {
    told("good", el("p", {}, t(key)));
    say(t(key));
  };
  const attempt = async (work) => {
    clear();
    try {
      await work();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (problem.status === 412) conflict();
      else failed(problem);
    }
  };
  const failed = (problem) => {
    const isUnsure = ["network", "unavailable", "deadline_exceeded", "internal_error"].includes(problem.code);
    told("bad", el("p", {}, el("strong", {}, t(isUnsure ? "knowledge.unsure" : "knowledge.failed"))), el("p", {}, explain(problem)));
  };
  const conflict = () => {
    const again = (keep) => attempt(async () => {
      await editor.reread({ keep });
      good(!keep ? "knowledge.theirs" : editor.dirty.length ? "knowledge.rebased" : "knowledge.rebasedSame");
      (editor.dirty.length ? save : bar).focus();
    });
    told("bad", el("p", {}, el("strong", {}, t("knowledge.conflict"))), el("div.actions", {},
      el("button.button", { type: "button", on: { click: () => again(true) } }, t("knowledge.conflict.mine")),
      el("button.button", { type: "button", on: { click: () => again(false) } }, t("knowledge.conflict.theirs"))));
  };
  save.addEventListener("click", () => attempt(async () => {
    if (editor.isSaving) return;
    await editor.save();
    good("knowledge.saved");
    bar.focus();
  }));
  discard.addEventListener("click", async () => {
    const isMeant = await ask({
      title: t("knowledge.discard.title"), text: t("knowledge.discard.text"),
      yes: t("knowledge.discard"), no: t("knowledge.discard.no"), dangerous: true,
    });
    if (!isMeant) return;
    clear();
    editor.discard();
    bar.focus();
  });
  bar.tabIndex = -1;
  editor.follow(() => {
    const names = editor.dirty.map((name) => t(`agents.${name}`));
    text.textContent = names.length === 0 ? "" : t("knowledge.changed", {
      categories: names.length === 1 ? names[0] : t("knowledge.and", { one: names[0], other: names[1] }),
    });
    bar.classList.toggle("is-dirty", names.length > 0);
    discard.disabled = editor.isSaving;
    save.setAttribute("aria-disabled", String(editor.isSaving));
    fill(save, t(editor.isSaving ? "knowledge.saving" : "knowledge.save"));
    if (names.length > 0 && outcome.querySelector(".good") && !editor.isSaving) clear();
  });
  return bar;
}
