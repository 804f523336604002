/* Signing in with an API key: a page of its own, or a dialog over a page that goes on afterwards. */

import { Problem, explain } from "./api.js";
import { show } from "./dialog.js";
import { el, fill } from "./dom.js";
import { icon } from "./icons.js";
import { session, signIn } from "./session.js";
import { languageChoice } from "./shell.js";
import { t } from "./words.js";

/** The page for whoever is not signed in. */
export function signInPage(done, changed) {
  document.title = `${t("signin.title")} · ${t("app.name")}`;
  return el("div.signin", {},
    el("header.signin-head", { "aria-label": t("app.console") }, languageChoice(changed)),
    el("main.signin-card", { id: "main" },
      el("p.brand", {}, el("img", { src: "icon.svg", alt: "", width: 28, height: 28 }), t("app.name")),
      el("h1", {}, t("signin.title")),
      el("p.quiet", {}, t("signin.intro")),
      form(async (key) => {
        await signIn(key);
        done();
      }),
      el("p.signin-foot", {}, el("a", { href: "#/reference" }, t("nav.reference"))),
    ),
  );
}

/** Sign in again after a session has ended, with what is on the page kept. @returns {Promise<boolean>} */
export async function signInAgain() {
  const { organization } = session();
  return (await show(t("signin.again"), (close) => [
    el("p", {}, t("signin.againText")),
    form(async (key) => {
      await signIn(key);
      /* Another organization has nothing of what is on the page. */
      if (session().organization.id !== organization.id) location.reload();
      else close(true);
    }),
  ])) === true;
}

function form(enter) {
  const error = el("p.field-error", { id: "key-error", role: "alert", hidden: true });
  const input = el("input.input", {
    id: "key", type: "password", name: "key", autocomplete: "current-password", autocapitalize: "none", spellcheck: "false",
    dir: "ltr", autofocus: true, "aria-describedby": "key-error key-hint",
  });
  const shows = el("input", { type: "checkbox", on: { change: () => { input.type = shows.checked ? "text" : "password"; } } });
  const button = el("button.button.primary.wide", { type: "submit" }, t("signin.go"));
  const refuse = (text) => {
    fill(error, icon("warning"), text);
    error.hidden = false;
    input.setAttribute("aria-invalid", "true");
    input.focus();
  };
  const submit = async (event) => {
    event.preventDefault();
    const key = input.value.trim();
    if (key === "") return refuse(t("signin.blank"));
    button.disabled = true;
    fill(button, t("signin.going"));
    try {
      await enter(key);
      input.value = "";
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      refuse(problem.code === "unauthorized" ? t("signin.refused") : explain(problem));
    } finally {
      button.disabled = false;
      fill(button, t("signin.go"));
    }
    return undefined;
  };
  return el("form.form", { novalidate: true, on: { submit } },
    el("label.label", { htmlFor: "key" }, t("signin.key")),
    input,
    error,
    el("p.hint", { id: "key-hint" }, t("signin.hint", { prefix: "alk_" })),
    el("label.check", {}, shows, el("span", {}, t("signin.show"))),
    button,
  );
}
