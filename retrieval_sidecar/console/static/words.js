/* What the console says, in each language; `words/` has a file for each page, and this is the catalogue of them. */

import { AGENTS } from "./words/agents.js";
import { BASES } from "./words/bases.js";
import { CALLS } from "./words/calls.js";
import { HEALTH } from "./words/health.js";
import { KNOWLEDGE } from "./words/knowledge.js";
import { PROBLEMS } from "./words/problems.js";
import { REFERENCE } from "./words/reference.js";
import { SHELL } from "./words/shell.js";
import { TRIAL } from "./words/trial.js";

/* A further page's words are a file and a line. */
export const WORDS = Object.freeze({
  ...SHELL, ...PROBLEMS, ...AGENTS, ...KNOWLEDGE, ...BASES, ...TRIAL, ...CALLS, ...HEALTH, ...REFERENCE,
});

export const LANGUAGES = Object.freeze({
  en: { name: "English", direction: "ltr" },
  ar: { name: "العربية", direction: "rtl" },
});

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const STORED = "answerline.language";
let current = "en";
let formats = formatsOf("en");

export const language = () => current;

/** The language as the browser writes its numbers and dates, such as en-GB. */
export const locale = () => formats.tag;

/** The language that was chosen here before, else the first of the browser's that there is. */
export function chooseLanguage() {
  const wanted = [stored(), ...navigator.languages.map((each) => each.split("-")[0])];
  use(wanted.find((each) => Object.hasOwn(LANGUAGES, each ?? "")) ?? "en");
}

/** Speak another language from now on; what is shown already stays as it is. */
export function setLanguage(code) {
  use(code);
  try {
    localStorage.setItem(STORED, code);
  } catch {
    /* It holds until the page is left. */
  }
}

/**
 * What the console says for a key.
 * @param {object} values for `{name}` in the text; `count` also decides between the forms of a plural. A text keeps its
 *   own direction within the sentence, a number is written as the language does.
 */
export function t(key, values = {}) {
  let text = WORDS[key]?.[current] ?? WORDS[key]?.en;
  if (text === undefined) throw new Error(`no words for ${key}`);
  if (typeof text !== "string") text = text[formats.plural.select(values.count)] ?? text.other;
  return text.replace(/{(\w+)}/g, (_, name) => shown(values[name]));
}

export const number = (value, options) => (options ? new Intl.NumberFormat(formats.tag, options) : formats.number).format(value);
export const date = (value) => formats.date.format(new Date(value));
export const moment = (value) => formats.moment.format(new Date(value));
export const clock = (value) => formats.clock.format(new Date(value));
export const milliseconds = (value) => t("unit.ms", { value: Math.round(value) });

function use(code) {
  current = code;
  formats = formatsOf(code);
  document.documentElement.lang = code;
  document.documentElement.dir = LANGUAGES[code].direction;
}

function formatsOf(code) {
  /* Of the browser's own variants, such as en-GB, as that says how a day is written. */
  const tag = navigator.languages.find((each) => each.split("-")[0] === code) ?? code;
  return {
    tag,
    plural: new Intl.PluralRules(code),
    number: new Intl.NumberFormat(tag),
    date: new Intl.DateTimeFormat(tag, { dateStyle: "medium" }),
    moment: new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short" }),
    clock: new Intl.DateTimeFormat(tag, { timeStyle: "medium" }),
  };
}

function shown(value) {
  if (typeof value === "number") return formats.number.format(value);
  /* The signs isolate: what runs the other way leaves the order of the sentence as it is. */
  const isOther = LANGUAGES[current].direction === "rtl" || RIGHT_TO_LEFT.test(value);
  return isOther ? `\u2068${value}\u2069` : value;
}

function stored() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}
