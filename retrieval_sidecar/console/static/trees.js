/* What there is to select from, as nested lists of checkboxes. What is in a folder is asked for when it is opened. */

import { Problem, explain, pager } from "./api.js";
import { el, fill, own } from "./dom.js";
import { icon } from "./icons.js";
import * as selection from "./selection.js";
import { t } from "./words.js";

/* The sidecar tells so many of an agent's folders, and of its directories, in one go; lists have the others. */
const MOST_SUMMARIES = 1000;
let numbers = 0;

/** Knowledge bases and folders, with the items that stand in each. */
export function knowledgeTree(editor, sources) {
  const tree = new Tree(editor, "knowledge");
  const bases = el("ul.rows");
  const folders = el("ul.rows");
  const known = new Set();
  const add = (folder) => {
    if (known.has(folder.key)) return;
    known.add(folder.key);
    tree.name(folder.key, folderName(folder));
    (isBase(folder.key) ? bases : folders).append(tree.group({
      id: folder.key,
      groups: () => [],
      tag: isBase(folder.key) ? null : folder.key.split(":")[0],
      count: folder.item_count,
      words: "knowledge.items",
      contents: folder.item_count > 0 && ((signal) => tree.single({
        next: pager(`/knowledge-folders/${encodeURIComponent(folder.key)}/items`, {}, signal),
        group: folder.key,
        groups: () => [folder.key],
      })),
      describe: "knowledge.itemsOf",
    }));
  };
  sources.folders.forEach(add);
  /* A folder that was chosen and has nothing in it any more is in no list; it is still chosen. */
  for (const key of editor.saved.knowledge.groups) add({ key, name: decodedName(key), item_count: 0 });
  const more = sources.folders.length >= MOST_SUMMARIES
    && moreButton(t("knowledge.moreFolders"), pager("/knowledge-folders", {}, editor.signal), (each) => { add(each); editor.update(); });
  return el("div.tree", {},
    part(t("knowledge.bases"), bases), part(t("knowledge.folders"), folders), more,
    bases.childElementCount + folders.childElementCount === 0 && el("p.quiet", {}, t("knowledge.none")));
}

/** Directories within directories, and the instructions that stand in each. */
export function instructionTree(editor, sources) {
  const tree = new Tree(editor, "instructions");
  const all = new Map(sources.directories.map((each) => [each.id, each]));
  const parents = new Map(sources.directories.map((each) => [each.id, each.parent_id ?? null]));
  const within = (id) => [...all.values()].filter((each) => (all.has(each.parent_id) ? each.parent_id : null) === id);
  const row = (directory) => {
    const { id } = directory;
    const inside = within(id);
    tree.name(id, directory.name);
    return tree.group({
      id,
      groups: () => selection.lineage(parents.get(id), parents),
      count: directory.instruction_count,
      words: "knowledge.instructions",
      contents: directory.instruction_count + inside.length > 0 && ((signal) => [
        inside.map(row),
        directory.instruction_count > 0 ? tree.single({
          next: pager("/instructions", { directory_id: id }, signal),
          group: id,
          groups: () => selection.lineage(id, parents),
        }) : [],
      ]),
      describe: "knowledge.contentsOf",
    });
  };
  const top = within(null);
  for (const each of all.values()) tree.name(each.id, each.name);
  const rows = el("ul.rows", {}, top.map(row));
  const add = (directory) => {
    if (all.has(directory.id)) return;
    all.set(directory.id, directory);
    parents.set(directory.id, directory.parent_id ?? null);
    rows.append(row(directory));
    editor.update();
  };
  const more = sources.directories.length >= MOST_SUMMARIES
    && moreButton(t("knowledge.moreDirectories"), pager("/instruction-directories", {}, editor.signal), add);
  return el("div.tree", {}, rows, more, top.length === 0 && el("p.quiet", {}, t("knowledge.none")));
}

/* The rows of a category. */
class Tree {
  constructor(editor, category) {
    Object.assign(this, { editor, category, names: new Map(), members: new Map(), groupsOf: new Map(), stored: new Map() });
    /* Before any row looks. */
    editor.follow(() => {
      const { folders, directories } = editor.sources;
      this.stored = category === "knowledge"
        ? new Map(folders.map((each) => [each.key, each.selected_item_count]))
        : new Map(directories.map((each) => [each.id, each.selected_instruction_count]));
    });
  }

  name(id, name) {
    this.names.set(id, name);
    if (!this.members.has(id)) this.members.set(id, new Set());
  }

  /** A folder, base or directory, which opens to what is in it. */
  group({ id, groups, tag, count, words, contents, describe }) {
    const name = this.names.get(id);
    const within = el("span.row-chosen");
    const line = this.#row({ kind: "groups", id, groups, name, tags: tag && [t(`knowledge.${tag}`)], end: [
      within, el("span.row-count", {}, count > 0 ? t(words, { count }) : t("knowledge.emptyFolder")),
    ] });
    this.editor.follow(() => {
      const now = this.editor.now[this.category];
      const chosen = selection.chosenWithin(now, this.editor.saved[this.category], this.stored.get(id) ?? 0, this.members.get(id));
      within.hidden = chosen === 0;
      within.textContent = t("knowledge.selectedWithin", { count: chosen });
    });
    if (!contents) return el("li", {}, line);
    const inside = el("div.inside", { id: `inside-${(numbers += 1)}`, hidden: true });
    const turn = el("button.turn", {
      type: "button", "aria-expanded": "false", "aria-controls": inside.id, "aria-label": t(describe, { name }),
    }, icon("chevron"));
    turn.addEventListener("click", () => {
      if (inside.childElementCount === 0) {
        inside.append(el("ul.rows", {}, contents(this.editor.signal)));
        this.editor.update();
      }
      inside.hidden = !inside.hidden;
      turn.setAttribute("aria-expanded", String(!inside.hidden));
    });
    line.prepend(turn);
    return el("li", {}, line, inside);
  }

  /** A place for what stands in a group, a page at a time. */
  single({ next, group, groups }) {
    const foot = el("li.row-foot");
    const error = el("p.field-error", { role: "alert", hidden: true });
    const wait = el("p.quiet", { role: "status" }, t("loading"));
    const more = el("button.button.small", { type: "button" }, t("knowledge.moreOf", { name: this.names.get(group) }));
    const take = async ({ isFirst }) => {
      error.hidden = true;
      more.hidden = true;
      wait.hidden = false;
      try {
        const page = await next();
        const rows = page.items.map((each) => this.#one(each, group, groups));
        foot.before(...rows);
        this.editor.update();
        if (!isFirst) rows[0]?.querySelector("input")?.focus();
        if (!page.more) foot.remove();
        fill(more, t("knowledge.moreOf", { name: this.names.get(group) }));
      } catch (problem) {
        if (!(problem instanceof Problem)) {
          if (problem.name === "AbortError") return;
          throw problem;
        }
        fill(error, icon("warning"), explain(problem));
        error.hidden = false;
        fill(more, t("again"));
      }
      wait.hidden = true;
      more.hidden = false;
    };
    more.addEventListener("click", () => take({ isFirst: foot.previousElementSibling === null }));
    foot.append(wait, error, more);
    take({ isFirst: true });
    return foot;
  }

  #one({ id, title, status }, group, groups) {
    this.members.get(group).add(id);
    /* It may stand in a base and in a folder: either holds it, wherever it is shown. */
    const standing = this.groupsOf.get(id) ?? new Set();
    this.groupsOf.set(id, standing.add(group));
    const outward = () => [...groups(), ...[...standing].filter((each) => each !== group)];
    const tags = status === "draft" ? [t("knowledge.draft")] : null;
    return el("li", {}, this.#row({ kind: "ones", id, groups: outward, name: title, tags, end: [] }));
  }

  #row({ kind, id, groups, name, tags, end }) {
    const { editor, category } = this;
    const box = el("input", { type: "checkbox" });
    const why = el("span.row-why");
    box.addEventListener("change", () => editor.set(category, kind, id, box.checked));
    editor.follow(() => {
      const now = editor.now[category];
      const holder = selection.heldBy(now, groups());
      box.checked = holder !== null || selection.isChosen(now, kind, id);
      box.disabled = !editor.isEditable || holder !== null;
      why.hidden = holder === null;
      why.textContent = holder === null ? "" : t("knowledge.included", { name: this.names.get(holder) ?? "" });
    });
    return el("div.row", {},
      el("label.row-label", {}, box, el("span.row-text", {}, own(name, "span"), tags && tags.map((each) => [" ", el("span.tag", {}, each)]), " ", why)),
      el("span.row-end", {}, end));
  }
}

function part(title, rows) {
  return rows.childElementCount > 0 && el("section.part", {}, el("h3", {}, title), rows);
}

function moreButton(text, next, add) {
  const button = el("button.button.small", { type: "button" }, text);
  const error = el("p.field-error", { role: "alert", hidden: true });
  button.addEventListener("click", async () => {
    error.hidden = true;
    try {
      const page = await next();
      page.items.forEach(add);
      if (!page.more) button.remove();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      fill(error, icon("warning"), explain(problem));
      error.hidden = false;
    }
  });
  return el("div.row-foot", {}, error, button);
}

const isBase = (key) => key.startsWith("base:");
const folderName = ({ key, name }) => name || (key === "workflow:" ? t("knowledge.noFolder") : decodedName(key));

/** What a folder is called by its key. */
export function decodedName(key) {
  try {
    return key.slice(key.indexOf(":") + 1).split("/").map(decodeURIComponent).join(" / ");
  } catch {
    return key;
  }
}
