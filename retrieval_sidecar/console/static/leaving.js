/* Changes that are not saved: who has some is asked before the page is left. */

import { ask } from "./dialog.js";
import { t } from "./words.js";

let dirty = () => false;

/** @param {function(): boolean} has whether there are such changes now; of the page that is shown. */
export function guard(has) {
  dirty = has;
}

export const unguard = () => guard(() => false);

/** Whether the page may be left: nothing is unsaved, or it may be lost. */
export async function mayLeave() {
  if (!dirty()) return true;
  return ask({ title: t("leave.title"), text: t("leave.text"), yes: t("leave.go"), no: t("leave.stay"), dangerous: true });
}

export const isDirty = () => dirty();

/* Closing the tab, reloading, another site: the browser asks in its own words. */
addEventListener("beforeunload", (event) => {
  if (dirty()) event.preventDefault();
});
