/* What is told to those who do not see the page: one polite region, for things that happen without a change of focus. */

import { el } from "./dom.js";

export const region = el("div.visually-hidden", { role: "status", "aria-live": "polite", id: "live" });

/** Say something; the same again is said again. */
export function say(text) {
  region.textContent = "";
  /* In a later turn, so that the change is seen as one. */
  setTimeout(() => { region.textContent = text; }, 50);
}
