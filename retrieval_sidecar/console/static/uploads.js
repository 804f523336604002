/* Files on their way to a knowledge base: dropped or chosen, one after the other, each telling how far it is. */

import { Problem, address, changing, explain } from "./api.js";
import { el, fill } from "./dom.js";
import { icon } from "./icons.js";
import { say } from "./live.js";
import { t } from "./words.js";

/**
 * Where files are dropped or chosen.
 * @param {string} path of the base.
 * @param {function(object)} added given each source that a file has become.
 */
export function uploads(path, added, signal) {
  const files = el("input.visually-hidden", { type: "file", multiple: true, id: "files", "aria-describedby": "files-hint" });
  const under = el("ul.uploads");
  const zone = el("div.drop", {},
    el("p", {}, t("base.drop")),
    /* The label is what is seen; the input has the keyboard. */
    files, el("label.button.primary", { htmlFor: "files" }, t("base.choose")),
    el("p.hint", { id: "files-hint" }, t("base.kinds")),
  );
  let last = Promise.resolve();
  const take = (list) => {
    for (const file of list) {
      const row = new Upload(file, under);
      last = last.then(() => !signal.aborted && row.send(path, added, signal));
    }
  };
  files.addEventListener("change", () => {
    take([...files.files]);
    files.value = "";
  });
  const over = (is) => zone.classList.toggle("is-over", is);
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  zone.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(true);
  });
  zone.addEventListener("dragleave", (event) => !zone.contains(event.relatedTarget) && over(false));
  zone.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(false);
    take([...event.dataTransfer.files]);
  });
  /* A file that misses is not opened in place of the page. */
  for (const kind of ["dragover", "drop"]) {
    addEventListener(kind, (event) => hasFiles(event) && event.preventDefault(), { signal });
  }
  return el("div", {}, zone, under);
}

class Upload {
  constructor(file, under) {
    this.file = file;
    this.bar = el("progress", { max: 1, value: 0, "aria-label": t("base.uploading", { name: file.name }) });
    this.element = el("li.upload", {}, el("bdi", { dir: "auto" }, file.name), this.bar);
    under.append(this.element);
  }

  async send(path, added, signal) {
    const isImport = /\.(jsonl|ndjson)$/i.test(this.file.name);
    try {
      const source = await sent(address(`${path}/sources/${isImport ? "jsonl" : "file"}`), this.file, (part) => { this.bar.value = part; }, signal);
      this.element.remove();
      say(t("base.uploaded", { name: source.name }));
      added(source);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      const dismiss = el("button.button.plain", { type: "button", on: { click: () => this.element.remove() } }, t("base.dismiss"));
      fill(this.element, el("div.notice.bad", { role: "alert" }, icon("warning"), el("div", {},
        el("p", {}, t("base.uploadFailed", { name: this.file.name })), el("p", { dir: "auto" }, explain(problem)), dismiss)));
    }
  }
}

/* XMLHttpRequest, because fetch does not say how much of a body has gone. */
function sent(to, file, advanced, signal) {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    form.append("file", file, file.name);
    const request = new XMLHttpRequest();
    request.open("POST", to);
    for (const [name, value] of Object.entries(changing())) request.setRequestHeader(name, value);
    request.responseType = "text";
    request.upload.addEventListener("progress", (event) => event.lengthComputable && advanced(event.loaded / event.total));
    request.addEventListener("load", () => {
      const body = parsed(request.responseText);
      if (request.status === 201) resolve(body);
      else reject(new Problem(request.status, body?.code ?? "internal_error", body?.detail, body?.errors));
    });
    request.addEventListener("error", () => reject(new Problem(0, "network")));
    request.addEventListener("abort", () => reject(new DOMException("left", "AbortError")));
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
