/* Where the console begins: who is signed in, in which language, and on which page. */

import { explain } from "./api.js";
import { show } from "./dialog.js";
import { el, fill } from "./dom.js";
import { mayLeave, unguard } from "./leaving.js";
import { region } from "./live.js";
import { HOME } from "./pages.js";
import { failure, find, start, stop } from "./router.js";
import { load, onSessionEnd, session, signOut } from "./session.js";
import { shell, skipLink } from "./shell.js";
import { signInAgain, signInPage } from "./signin.js";
import { chooseLanguage, setLanguage, t } from "./words.js";

const place = el("div.place");
let asking = null; // of requests that find the session ended at once, one asks

async function begin() {
  chooseLanguage();
  document.body.prepend(place, region);
  onSessionEnd(() => (asking ??= signInAgain().finally(() => { asking = null; })));
  addEventListener("hashchange", () => {
    /* Whoever is not signed in goes between that page and the open ones. */
    if (!session()) render();
  });
  try {
    await load();
  } catch (error) {
    fill(place, el("main.alone", { id: "main" }, failure(error, () => location.reload())));
    return;
  }
  await render();
}

async function render() {
  const isOpen = find(location.hash)?.page.open ?? false;
  if (!session() && !isOpen) {
    stop();
    fill(place, signInPage(render, speak));
    place.querySelector("#key").focus();
    return;
  }
  const { frame, main, mark } = shell({ changed: speak, leave, enter });
  fill(place, skipLink(main), frame);
  await start(main, mark);
}

async function speak(code) {
  if (!(await mayLeave())) return;
  unguard();
  setLanguage(code);
  await render();
}

async function leave() {
  if (!(await mayLeave())) return;
  unguard();
  try {
    await signOut();
  } catch (error) {
    /* Whoever walks away from this screen must know. */
    await show(t("signout.failed"), (close) => [
      el("p", {}, explain(error)),
      el("div.actions", {}, el("button.button.primary", { type: "button", on: { click: () => close() } }, t("close"))),
    ]);
    return;
  }
  /* From the beginning, so that nothing of what was shown stays in memory. */
  location.hash = "";
  location.reload();
}

function enter() {
  location.hash = HOME;
}

begin();
