/* What happened on a call, drawn on a time axis: each search as high as it took long, and who spoke when. */

import { el, fill, svg } from "./dom.js";
import { milliseconds, number, t } from "./words.js";

const HEIGHT = { top: 14, latency: 132, lane: 26, axis: 30 };
const MARGIN = { start: 74, end: 22 };
const BAR = 9;

/** Minutes and seconds of a call. */
export function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const two = { minimumIntegerDigits: 2 };
  return `${number(Math.floor(seconds / 60))}:${number(seconds % 60, two)}`;
}

/**
 * What is told of a call as one list, in the order of time. A search is told by the sidecar, and by the worker as the
 * caller felt it; where both did, it is one entry.
 */
export function entriesOf({ events, searches }) {
  const felt = new Map(events.filter(({ type, data }) => type === "kb.search" && data.searchId).map((each) => [each.data.searchId, each]));
  const own = new Set(searches.map(({ id }) => id));
  const all = [
    ...searches.map((search) => ({ kind: "search", at: Date.parse(search.at), search, felt: felt.get(search.id)?.data })),
    ...events.filter(({ type, data }) => !(type === "kb.search" && own.has(data.searchId)))
      .map(({ type, at, data }) => ({ kind: type === "kb.search" ? "search" : type.replace("kb.", ""), at: Date.parse(at), data, felt: type === "kb.search" ? data : undefined })),
  ];
  return all.sort((one, other) => one.at - other.at);
}

/** How long a search took, in its parts; as the caller felt it, where that is known. */
export function partsOf({ search, felt }) {
  const embed = search?.embed_ms ?? 0;
  const looked = search?.search_ms ?? 0;
  const total = Math.max(felt?.ms ?? 0, search?.total_ms ?? 0, embed + looked);
  return { embed, search: looked, rest: total - embed - looked, total };
}

export const outcomeOf = ({ search, felt }) => (felt && felt.outcome !== "ok" ? felt.outcome : search?.status ?? felt?.outcome);

/** The drawing, as wide as there is room, drawn anew when that changes. */
export function timeline(call, entries, signal) {
  const searches = entries.filter(({ kind }) => kind === "search");
  const holder = el("div.timeline", { dir: "ltr" });
  const slowest = Math.max(0, ...searches.map((each) => partsOf(each).total));
  const label = searches.length ? t("call.picture", { slowest: milliseconds(slowest) }) : t("call.noSearch");
  const draw = () => fill(holder, picture(call, entries, holder.clientWidth || 720, slowest, label));
  const watch = new ResizeObserver(draw);
  watch.observe(holder);
  signal.addEventListener("abort", () => watch.disconnect());
  return holder;
}

function picture(call, entries, width, slowest, label) {
  const times = entries.map(({ at }) => at);
  const began = Math.min(Date.parse(call.started_at), ...times);
  const ended = Math.max(call.ended_at ? Date.parse(call.ended_at) : began, ...times, began + 1000);
  const room = Math.max(120, width - MARGIN.start - MARGIN.end);
  const x = (at) => MARGIN.start + ((at - began) / (ended - began)) * room;
  const base = HEIGHT.top + HEIGHT.latency;
  const ceiling = niceCeiling(slowest);
  const y = (ms) => base - (ms / ceiling) * HEIGHT.latency;
  const lanes = { caller: base + HEIGHT.lane * 0.75, agent: base + HEIGHT.lane * 1.75 };
  const foot = base + HEIGHT.lane * 2.5;
  const height = foot + HEIGHT.axis;
  return svg("svg.timeline-picture", { role: "img", "aria-label": label, viewBox: `0 0 ${width} ${height}`, width, height },
    grid(width, ceiling, y),
    lane(t("call.says.caller"), lanes.caller, width),
    lane(t("call.says.agent"), lanes.agent, width),
    axis(ended - began, x, began, foot, width, room),
    entries.map((entry) => mark(entry, x(entry.at), y, lanes, base)),
  );
}

function grid(width, ceiling, y) {
  return [0, ceiling / 2, ceiling].map((ms) => svg("g", {},
    svg("line.grid", { x1: MARGIN.start, x2: width - MARGIN.end, y1: y(ms), y2: y(ms) }),
    svg("text.tick", { x: MARGIN.start - 10, y: y(ms) + 4, "text-anchor": "end" }, milliseconds(ms))));
}

function lane(name, y, width) {
  return svg("g", {},
    svg("line.grid.faint", { x1: MARGIN.start, x2: width - MARGIN.end, y1: y, y2: y }),
    svg("text.tick", { x: MARGIN.start - 10, y: y + 4, "text-anchor": "end" }, name));
}

function axis(length, x, began, y, width, room) {
  const step = niceStep(length / Math.max(2, Math.floor(room / 90)));
  const ticks = Array.from({ length: Math.floor(length / step) + 1 }, (_, at) => at * step);
  return svg("g", {},
    svg("line.axis", { x1: MARGIN.start, x2: width - MARGIN.end, y1: y, y2: y }),
    ticks.map((at) => [
      svg("line.axis", { x1: x(began + at), x2: x(began + at), y1: y, y2: y + 5 }),
      svg("text.tick", { x: x(began + at), y: y + 20, "text-anchor": "middle" }, duration(at)),
    ]));
}

function mark(entry, x, y, lanes, base) {
  if (entry.kind === "search") return bar(entry, x, y, base);
  if (entry.kind === "turn") {
    const at = lanes[entry.data.role] ?? lanes.agent;
    return svg(`circle.turn-${entry.data.role === "caller" ? "caller" : "agent"}`, { cx: x, cy: at, r: 4.5 });
  }
  if (entry.kind === "inline") return null;
  /* An error or a hand-off: over the whole height, because it says something of all that follows. */
  return svg(`g.moment.${entry.kind === "error" ? "error" : "other"}`, {},
    svg("line", { x1: x, x2: x, y1: HEIGHT.top, y2: lanes.agent + 8 }),
    svg("path", { d: `M${x - 5} ${HEIGHT.top - 4}h10l-5 8z` }));
}

function bar(entry, x, y, base) {
  const parts = partsOf(entry);
  let from = 0;
  const pieces = ["embed", "search", "rest"].map((name) => {
    const to = from + parts[name];
    const piece = svg(`rect.part-${name}`, { x: x - BAR / 2, y: y(to), width: BAR, height: Math.max(0, y(from) - y(to)) });
    from = to;
    return piece;
  });
  const isAnswered = outcomeOf(entry) === "ok";
  return svg("g", {}, pieces, svg(isAnswered ? "circle.found" : "circle.not-found", { cx: x, cy: Math.min(y(parts.total), base) - 8, r: 4 }));
}

/** The least of 1, 2 or 5 times a power of ten that is no less. */
function niceCeiling(value) {
  if (value <= 0) return 100;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= value);
}

function niceStep(ms) {
  const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
  return (seconds.find((each) => each * 1000 >= ms) ?? Math.ceil(ms / 3_600_000) * 3600) * 1000;
}
