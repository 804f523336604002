/* How well calls are answered: the figures, two small charts, and what was asked in vain. */

import { explain, get } from "../api.js";
import { bars, lines } from "../charts.js";
import { el, fill, own } from "../dom.js";
import { heading, notice, table } from "../parts.js";
import { remember } from "../router.js";
import { locale, milliseconds, moment, number, t } from "../words.js";
import { allAgents } from "./trial.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const WINDOWS = { day: 1, week: 7, month: 30, quarter: 90 };
const percent = (rate) => (rate === undefined ? t("health.none") : number(rate, { style: "percent", maximumFractionDigits: 1 }));
const time = (value) => (value === undefined ? t("health.none") : milliseconds(value));

export async function show({ root, query, signal }) {
  const agents = await allAgents(signal);
  const span = el("select.input.small", { id: "health-window" }, Object.keys(WINDOWS).map((each) =>
    el("option", { value: each, selected: each === (query.get("window") ?? "week") }, t(`health.${each}`))));
  const agent = el("select.input.small", { id: "health-agent" }, el("option", { value: "" }, t("health.everybody")),
    agents.map((each) => el("option", { value: each.id, selected: each.id === query.get("agent") }, each.name)));
  const figures = el("div.health");
  let asked = 0;
  const load = async () => {
    const mine = (asked += 1);
    const now = Date.now();
    const wanted = {
      from: new Date(now - WINDOWS[span.value] * DAY_MS).toISOString(), to: new Date(now).toISOString(), agent_id: agent.value,
    };
    const found = await get("/statistics", wanted, signal);
    if (mine === asked) fill(figures, shown(found));
  };
  const changed = async () => {
    remember({ window: span.value, ...(agent.value ? { agent: agent.value } : {}) });
    figures.setAttribute("aria-busy", "true");
    try {
      await load();
    } catch (problem) {
      if (problem.name !== "AbortError") fill(figures, notice("bad", explain(problem)));
    } finally {
      figures.removeAttribute("aria-busy");
    }
  };
  for (const each of [span, agent]) each.addEventListener("change", changed);
  await load();
  root.append(
    heading({ title: t("health.title"), intro: t("health.intro") }),
    el("div.health-filters", {}, choice(t("health.window"), span), choice(t("health.agent"), agent)),
    figures,
  );
}

const choice = (name, select) => el("div", {}, el("label.label", { htmlFor: select.id }, name), select);

function shown(found) {
  const { totals } = found;
  const of = (part) => t("health.of", { part, all: totals.search_count });
  return [
    el("dl.tiles", {},
      tile(t("health.answered"), percent(totals.answer_rate), of(totals.answered_count)),
      tile(t("health.noMatch"), percent(totals.no_match_rate), of(totals.no_match_count)),
      tile(t("health.p50"), time(totals.p50_ms)),
      tile(t("health.p95"), time(totals.p95_ms)),
      tile(t("health.calls"), number(totals.call_count)),
      tile(t("health.searches"), number(totals.search_count)),
      tile(t("health.empty"), number(totals.restricted_empty_count)),
      tile(t("health.degraded"), number(totals.degraded_count)),
    ),
    totals.search_count ? charts(found) : el("p.empty", {}, t("health.quiet")),
    el("section", { "aria-labelledby": "unanswered" },
      el("h2", { id: "unanswered" }, t("health.unanswered")),
      el("p.intro", {}, t("health.unansweredIntro")),
      unanswered(found.unanswered),
    ),
  ];
}

const tile = (name, value, more) =>
  el("div.card.tile", {}, el("dt", {}, name), el("dd", {}, el("span.tile-value", {}, value), more && el("span.hint", {}, more)));

function charts({ series, interval, time_zone: timeZone, totals }) {
  const short = new Intl.DateTimeFormat(locale(), interval === "hour" ? { timeZone, hour: "2-digit", minute: "2-digit" } : { timeZone, day: "numeric", month: "short" });
  const long = new Intl.DateTimeFormat(locale(), { timeZone, dateStyle: "medium", ...(interval === "hour" ? { timeStyle: "short" } : {}) });
  const at = (point) => long.format(new Date(point.starts_at));
  const names = series.map((point) => short.format(new Date(point.starts_at)));
  const ends = { from: at(series[0]), to: at(series.at(-1)) };
  const most = series.reduce((best, point) => (point.search_count > best.search_count ? point : best));
  const slow = series.filter((point) => point.p95_ms !== undefined).map((point) => point.p95_ms);
  return el("section.charts", {},
    bars({
      names, caption: t("health.answersChart"), label: (value) => number(value), legend: [t("health.answered"), t("health.noMatch"), t("health.empty")],
      parts: [
        { values: series.map((point) => point.answered_count) },
        { values: series.map((point) => point.no_match_count) },
        { values: series.map((point) => point.search_count - point.answered_count - point.no_match_count) },
      ],
      text: t("health.answersAlt", {
        ...ends, searches: totals.search_count, answered: totals.answered_count, noMatch: totals.no_match_count,
        most: most.search_count, at: at(most),
      }),
    }),
    lines({
      names, caption: t("health.timesChart"), label: milliseconds, legend: [t("health.p50"), t("health.p95")],
      series: [{ values: series.map((point) => point.p50_ms ?? null) }, { values: series.map((point) => point.p95_ms ?? null) }],
      text: t("health.timesAlt", { ...ends, least: milliseconds(Math.min(...slow)), most: milliseconds(Math.max(...slow)) }),
    }),
    el("details.figures", {}, el("summary", {}, t("health.table")),
      el("p.hint", {}, t("health.zone", { zone: timeZone })),
      table({
        label: t("health.table"), figures: [1, 2, 3, 4, 5, 6],
        columns: [t("health.begins"), t("health.calls"), t("health.searches"), t("health.answered"), t("health.noMatch"), t("health.p50"), t("health.p95")],
        rows: series.map((point) => [
          at(point), number(point.call_count), number(point.search_count), number(point.answered_count), number(point.no_match_count),
          time(point.p50_ms), time(point.p95_ms),
        ]),
      })),
  );
}

function unanswered(questions) {
  if (questions.length === 0) return el("p.empty", {}, t("health.allAnswered"));
  return table({
    label: t("health.unanswered"), figures: [1],
    columns: [t("health.question"), t("health.times"), t("health.last")],
    rows: questions.map((each) => [own(each.question), number(each.count), moment(each.last_at)]),
  });
}
