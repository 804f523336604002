/* Questions that must be answered first; the browser's own dialog keeps the focus in it and gives it back. */

import { el, own } from "./dom.js";

let number = 0;

/**
 * Show something until it is closed.
 * @param {string} title
 * @param {function(function(any)): Node[]} content given how to close it with an answer.
 * @returns {Promise<any>} the answer; undefined where it was closed without one.
 */
export function show(title, content, { closable = true } = {}) {
  return new Promise((resolve) => {
    const id = `dialog-${(number += 1)}`;
    let answer;
    const close = (given) => {
      answer = given;
      dialog.close();
    };
    const dialog = el("dialog.dialog", { "aria-labelledby": id }, el("h2", { id }, title), content(close));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    if (!closable) dialog.addEventListener("cancel", (event) => event.preventDefault());
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Ask whether to do something that cannot be seen at a glance. The safe answer has the focus.
 * @returns {Promise<boolean>}
 */
export async function ask({ title, text, yes, no, dangerous = false }) {
  const answer = await show(title, (close) => [
    el("p", {}, own(text, "span")),
    el("div.actions", {},
      el("button.button", { type: "button", autofocus: true, on: { click: () => close(false) } }, no),
      el(dangerous ? "button.button.dangerous" : "button.button.primary", { type: "button", on: { click: () => close(true) } }, yes),
    ),
  ]);
  return answer === true;
}
