/*
 * The pages. One is a module of `pages/` and an entry here:
 *
 *   path   what stands after `#` in the address; `:name` is a parameter
 *   label  and icon: its words and drawing in the navigation; left out of a page that another leads to
 *   under  the path of the page that the navigation marks instead
 *   open   shown to whoever is not signed in too
 *   load   gives the module, which exports `async show(view)`
 *
 * `show` builds the page into `view.root` and is done when there is something to see; a Problem that it throws is told
 * with a button to try again. See `view` in router.js. Its words are a file in `words/` and a line in words.js, its own
 * style a file in `style/` and a line in index.html; parts that it shares with others are in parts.js and dialog.js.
 */
export const PAGES = [
  { path: "/agents", label: "nav.agents", icon: "agents", load: () => import("./pages/agents.js") },
  { path: "/agents/:id", under: "/agents", load: () => import("./pages/knowledge.js") },
  { path: "/knowledge-bases", label: "nav.bases", icon: "bases", load: () => import("./pages/bases.js") },
  { path: "/knowledge-bases/:kb", under: "/knowledge-bases", load: () => import("./pages/base.js") },
  { path: "/knowledge-bases/:kb/sources/:source", under: "/knowledge-bases", load: () => import("./pages/source.js") },
  { path: "/search", label: "nav.trial", icon: "search", load: () => import("./pages/trial.js") },
  { path: "/calls", label: "nav.calls", icon: "calls", load: () => import("./pages/calls.js") },
  { path: "/calls/:id", under: "/calls", load: () => import("./pages/call.js") },
  { path: "/health", label: "nav.health", icon: "health", load: () => import("./pages/health.js") },
  { path: "/reference", label: "nav.reference", icon: "reference", open: true, load: () => import("./pages/reference.js") },
];

export const HOME = "/agents";
