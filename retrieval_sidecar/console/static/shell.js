/* What stands around each page: where one is, where else one can go, and who one is. */

import { el, own } from "./dom.js";
import { icon } from "./icons.js";
import { PAGES } from "./pages.js";
import { session } from "./session.js";
import { LANGUAGES, language, t } from "./words.js";

/** A choice of languages. @param {function(string)} changed given the code of another one, which it may not take. */
export function languageChoice(changed) {
  const change = async (event) => {
    const choice = event.target;
    await changed(choice.value);
    choice.value = language();
  };
  const options = Object.entries(LANGUAGES).map(([code, { name }]) =>
    el("option", { value: code, lang: code, selected: code === language() }, name));
  return el("label.language", {},
    el("span.visually-hidden", {}, t("language")),
    el("select.input.small", { on: { change } }, options),
  );
}

/** The first thing that the keyboard reaches: past the navigation. */
export function skipLink(main) {
  const skip = (event) => {
    event.preventDefault(); // the address names a page, not a place on one
    main.focus();
  };
  return el("a.skip", { href: "#main", on: { click: skip } }, t("skip"));
}

/**
 * The frame of all pages.
 * @returns {{frame: HTMLElement, main: HTMLElement, mark: function(object)}} `mark` says which page is shown.
 */
export function shell({ changed, leave, enter }) {
  const main = el("main.main", { id: "main", tabindex: "-1" });
  const links = new Map();
  const listed = PAGES.filter((page) => page.label && (session() || page.open)).map((page) => {
    const link = el("a.nav-link", { href: `#${page.path}` }, icon(page.icon), el("span", {}, t(page.label)));
    links.set(page.path, link);
    return el("li", {}, link);
  });
  const nav = el("nav.nav", { id: "nav", "aria-label": t("nav.label") }, el("ul.nav-list", {}, listed));
  const side = el("div.side-body", { id: "side" }, nav, account({ changed, leave, enter }));
  const menu = el("button.menu", { type: "button", "aria-expanded": "false", "aria-controls": "side" }, icon("menu"), t("menu"));
  const open = (is) => {
    menu.setAttribute("aria-expanded", String(is));
    side.classList.toggle("is-open", is);
  };
  menu.addEventListener("click", () => open(menu.getAttribute("aria-expanded") !== "true"));
  side.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || menu.getAttribute("aria-expanded") !== "true") return;
    open(false);
    menu.focus();
  });
  const brand = el("p.brand", {},
    el("img", { src: "icon.svg", alt: "", width: 28, height: 28 }),
    el("span", {}, t("app.name")),
  );
  const frame = el("div.frame", {}, el("header.side", {}, el("div.side-fixed", {}, el("div.side-head", {}, brand, menu), side)), main);
  const mark = (page) => {
    open(false);
    const at = page?.under ?? page?.path;
    for (const [path, link] of links) {
      if (path === at) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
  return { frame, main, mark };
}

function account({ changed, leave, enter }) {
  const who = session();
  return el("div.account", {},
    who && el("p.account-who", {},
      own(who.organization.name, "strong"),
      el("span.quiet", {}, t("signedin", { key: who.key.name })),
    ),
    el("div.account-row", {},
      languageChoice(changed),
      who
        ? el("button.button.plain", { type: "button", on: { click: leave } }, icon("out"), t("signout"))
        : el("button.button.plain", { type: "button", on: { click: enter } }, t("signin.go")),
    ),
  );
}
