/*
 * What an agent may search, as sets; pure, so that it is tested without a page.
 *
 * A selection has two categories that know nothing of each other, instructions and knowledge. A category is
 * { mode, ones, groups }: "all", or "selected" with the ids of single instructions or items and the ids or keys of
 * directories, folders and bases. Only what somebody chose is in the sets: what stands in a chosen group is implicit.
 *
 * Nothing here opens a category to everything but `open`: neither taking away the last of a selection nor bringing two
 * people's changes together does.
 */

const NAMES = {
  instructions: { scope: "instruction_scope", ones: ["instruction_ids", "instruction_ids"], groups: ["directory_ids", "instruction_directory_ids"] },
  knowledge: { scope: "knowledge_scope", ones: ["item_ids", "knowledge_item_ids"], groups: ["folder_keys", "knowledge_folder_keys"] },
};
export const CATEGORIES = Object.keys(NAMES);

/** The selection in what the sidecar tells of an agent's knowledge sources. */
export function read(sources) {
  const entries = CATEGORIES.map((name) => {
    const { scope, ones, groups } = NAMES[name];
    const told = sources[scope];
    return [name, { mode: told.mode, ones: new Set(told[ones[0]]), groups: new Set(told[groups[0]]) }];
  });
  return Object.fromEntries(entries);
}

/** How many were chosen, one by one or as a group. */
export const count = (category) => category.ones.size + category.groups.size;

/** Whether something was chosen itself. @param {"ones"|"groups"} kind */
export const isChosen = (category, kind, id) => category[kind].has(id);

/** The nearest of these groups that is chosen; null for none. @param {string[]} groups from the nearest outwards. */
export const heldBy = (category, groups) => groups.find((group) => category.groups.has(group)) ?? null;

/** The category with one more; the first restricts it. */
export function choose(category, kind, id) {
  return { ...category, mode: "selected", [kind]: new Set(category[kind]).add(id) };
}

/** Whether this is all that is chosen, so that only `open` can take it away. */
export const isLast = (category, kind, id) => count(category) === 1 && category[kind].has(id);

/** The category with one less; as it is where that is the last. */
export function drop(category, kind, id) {
  if (isLast(category, kind, id)) return category;
  const rest = new Set(category[kind]);
  rest.delete(id);
  return { ...category, [kind]: rest };
}

/** The category opened to everything. */
export const open = () => ({ mode: "all", ones: new Set(), groups: new Set() });

/** Whether two categories are the same. */
export function isSame(one, other) {
  return one.mode === other.mode && sameSet(one.ones, other.ones) && sameSet(one.groups, other.groups);
}

/** The names of the categories that differ. */
export const dirty = (now, saved) => CATEGORIES.filter((name) => !isSame(now[name], saved[name]));

/** What to send so that `now` becomes what is saved: of a category that is the same, nothing. */
export function request(now, saved) {
  const arrays = dirty(now, saved).flatMap((name) =>
    ["ones", "groups"].map((kind) => [NAMES[name][kind][1], [...now[name][kind]].sort()]));
  return Object.fromEntries(arrays);
}

/**
 * My changes on top of theirs: what I chose is added, what I dropped is taken away, all else is as they left it.
 * @param {object} mine as I have it now.
 * @param {object} base as it was when I began.
 * @param {object} theirs as it is saved now.
 */
export function rebase(mine, base, theirs) {
  const entries = CATEGORIES.map((name) => [name, rebased(mine[name], base[name], theirs[name])]);
  return Object.fromEntries(entries);
}

/** All groups that a directory stands in, itself first. @param {Map<string, string|null>} parents of each. */
export function lineage(id, parents) {
  const found = [];
  for (let at = id; at !== undefined && at !== null && !found.includes(at); at = parents.get(at)) found.push(at);
  return found;
}

/**
 * How many single ones of a group are chosen now, though not all that stand in it are known.
 * @param {number} stored how many were, when it was saved.
 * @param {Iterable<string>} known ids that are known to stand in it.
 */
export function chosenWithin(now, saved, stored, known) {
  let total = stored;
  for (const id of known) total += Number(now.ones.has(id)) - Number(saved.ones.has(id));
  return total;
}

function rebased(mine, base, theirs) {
  if (isSame(mine, base)) return theirs;
  const ones = merged(mine.ones, base.ones, theirs.ones);
  const groups = merged(mine.groups, base.groups, theirs.groups);
  if (ones.size + groups.size > 0) return { mode: "selected", ones, groups };
  /* Nothing is left. Where I opened it, that was asked; else each of us took away what the other kept. */
  return mine.mode === "all" ? open() : theirs;
}

function merged(mine, base, theirs) {
  const kept = [...theirs].filter((id) => mine.has(id) || !base.has(id));
  const added = [...mine].filter((id) => !base.has(id));
  return new Set([...kept, ...added]);
}

function sameSet(one, other) {
  return one.size === other.size && [...one].every((each) => other.has(each));
}
