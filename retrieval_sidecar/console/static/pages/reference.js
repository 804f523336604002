/* The API's document, to be read: operations by what they are about, and the schemas that they speak in. */

import { Problem } from "../api.js";
import { el, fill } from "../dom.js";
import { say } from "../live.js";
import { heading, table } from "../parts.js";
import { t } from "../words.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
let known = null;

export async function show({ root, query, signal }) {
  known ??= await load(signal);
  const operations = operationsOf(known);
  const sections = known.tags.map((tag) => section(tag, operations.filter(({ operation }) => operation.tags.includes(tag.name))));
  const count = el("p.hint", {}, t("reference.found", { count: operations.length }));
  const find = el("input.input", { id: "find", type: "search", autocomplete: "off", on: { input: () => narrow(find.value, sections, count) } });
  root.append(
    heading({ title: t("reference.title"), intro: t("reference.intro", { version: known.info.version }) }),
    el("p.reference-source", {}, el("a", { href: "/api/v1/openapi.yaml", target: "_blank", rel: "noopener" }, t("reference.source"))),
    el("div.document", { lang: "en", dir: "ltr" },
      el("div.card", {}, described(known.info.description)),
      el("div.form.reference-find", {}, el("label.label", { htmlFor: "find" }, t("reference.filter")), find, count),
      sections.map((each) => each.element),
      el("section", {}, el("h2", { id: "schemas" }, t("reference.schemas")), schemas(known.components.schemas, query.get("schema"))),
    ),
  );
  const wanted = root.querySelector("details[open].schema");
  if (wanted) setTimeout(() => wanted.scrollIntoView(), 0);
}

async function load(signal) {
  try {
    const response = await fetch("openapi.json", { signal });
    if (!response.ok) throw new Problem(response.status, "internal_error");
    return await response.json();
  } catch (error) {
    if (signal.aborted || error instanceof Problem) throw error;
    throw new Problem(0, "network");
  }
}

function operationsOf(document) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      path,
      method,
      operation: item[method],
      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map(resolved),
    })));
}

function section(tag, operations) {
  const rows = operations.map((each) => ({
    text: `${each.method} ${each.path} ${each.operation.summary} ${each.operation.operationId}`.toLowerCase(),
    element: el("li", {}, operationOf(each)),
  }));
  const list = el("ul.operations", {}, rows.map((row) => row.element));
  return { rows, element: el("section", {}, el("h2", {}, tag.name), el("p.quiet", {}, tag.description), list) };
}

function narrow(text, sections, count) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const { rows, element } of sections) {
    for (const row of rows) row.element.hidden = !words.every((word) => row.text.includes(word));
    const visible = rows.filter((row) => !row.element.hidden).length;
    element.hidden = visible === 0;
    found += visible;
  }
  fill(count, t("reference.found", { count: found }));
  say(count.textContent);
}

function operationOf({ path, method, operation, parameters }) {
  const permission = operation["x-permission"];
  const body = operation.requestBody && resolved(operation.requestBody).content;
  return el("details.operation", {},
    el("summary", {},
      el(`span.method.${method}`, {}, method.toUpperCase()),
      el("code.path", {}, path),
      el("span.operation-summary", {}, operation.summary),
    ),
    el("div.operation-body", {},
      el("p", {}, el("span.tag", {}, permission ? t("reference.permission", { permission }) : t("reference.public"))),
      described(operation.description),
      parameters.length > 0 && [
        el("h3", {}, t("reference.parameters")),
        fields(parameters.map((each) => ({ ...each, type: typeOf(each.schema), where: each.in }))),
      ],
      body && Object.entries(body).map(([kind, { schema }]) => [
        el("h3", {}, t("reference.body", { type: kind })),
        schema.$ref ? el("p", {}, link(schema)) : properties(schema),
      ]),
      el("h3", {}, t("reference.answers")),
      el("dl.answers", {}, Object.entries(operation.responses).map(([status, found]) => {
        const response = resolved(found);
        const schema = Object.values(response.content ?? {})[0]?.schema;
        return el("div", {}, el("dt", {}, status), el("dd", {}, described(response.description), schema?.$ref && link(schema)));
      })),
    ),
  );
}

function schemas(all, wanted) {
  return el("ul.operations", {}, Object.entries(all).map(([name, schema]) =>
    el("li", {}, el("details.operation.schema", { open: name === wanted },
      el("summary", {}, el("code.path", {}, name)),
      el("div.operation-body", {}, described(schema.description), properties(schema)),
    ))));
}

function properties(schema) {
  if (!schema.properties) return el("p", {}, el("code", {}, typeOf(schema)));
  const required = new Set(schema.required ?? []);
  return fields(Object.entries(schema.properties).map(([name, each]) => ({
    name, type: typeOf(each), schema: each, description: each.description ?? each.items?.description, required: required.has(name),
  })));
}

function fields(rows) {
  return table({
    columns: [t("reference.name"), t("reference.type"), t("reference.meaning")],
    rows: rows.map((each) => [
      [el("code", {}, each.name), each.required && [" ", el("span.hint", {}, t("reference.required"))]],
      [refOf(each.schema) ? link(refOf(each.schema), each.type) : el("code", {}, each.type), each.where && el("span.hint", {}, ` ${each.where}`)],
      described(each.description),
    ]),
  });
}

function typeOf(schema) {
  if (schema.$ref) return nameOf(schema);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.type === "array") return `${typeOf(schema.items)}[]`;
  const range = [schema.minimum ?? schema.minLength, schema.maximum ?? schema.maxLength];
  const limits = range.some((each) => each !== undefined) ? ` ${range[0] ?? ""}…${range[1] ?? ""}` : "";
  return (schema.format ?? schema.type ?? "any") + limits;
}

const nameOf = (schema) => schema.$ref.split("/").at(-1);
const refOf = (schema) => (schema.$ref ? schema : schema.items?.$ref ? schema.items : null);
const link = (schema, text) => el("a", { href: `#/reference?schema=${nameOf(schema)}` }, el("code", {}, text ?? nameOf(schema)));

function resolved(found) {
  return found.$ref ? found.$ref.split("/").slice(1).reduce((at, name) => at[name], known) : found;
}

/* Paragraphs, and code between backticks: all of Markdown that the document uses. */
function described(text = "") {
  return text.trim().split(/\n\s*\n/).filter(Boolean).map((paragraph) =>
    el("p.described", {}, paragraph.split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part.replace(/\s+/g, " ")))));
}
