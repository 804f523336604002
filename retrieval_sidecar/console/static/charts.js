/* Small charts: drawings for the eye, each with its text for everybody else. */

import { el, svg } from "./dom.js";

const HEIGHT = 190, LEFT = 58, TOP = 8, BOTTOM = 24;
const INNER = HEIGHT - TOP - BOTTOM;
/* About as wide as it is shown, so that its letters are as large as others; and how many names of intervals fit. */
const [WIDTH, NAMES] = matchMedia("(max-width: 40rem)").matches ? [320, 3] : [880, 7];

/**
 * Bars, the parts of each on top of one another.
 * @param {string[]} names of the intervals.
 * @param {Array<{values: number[]}>} parts from the bottom up; styled `.series-1`, `.series-2`…
 */
export function bars({ names, parts, text, caption, label, legend }) {
  const totals = names.map((_, at) => parts.reduce((sum, part) => sum + part.values[at], 0));
  const top = ceiling(Math.max(...totals, 1));
  const step = (WIDTH - LEFT) / names.length;
  const wide = Math.max(1, Math.min(step * 0.72, 48));
  const columns = names.map((_, at) => {
    let from = TOP + INNER;
    return parts.map((part, place) => {
      const height = (part.values[at] / top) * INNER;
      from -= height;
      return height > 0 && svg(`rect.series-${place + 1}`, { x: LEFT + step * at + (step - wide) / 2, y: from, width: wide, height });
    });
  });
  return figure({ text, caption, legend }, [grid(top, label), columns, ticks(names)]);
}

/**
 * Lines through what there are values for; a gap where there is none.
 * @param {Array<{values: Array<number|null>}>} lines
 */
export function lines({ names, series, text, caption, label, legend }) {
  const top = ceiling(Math.max(...series.flatMap((each) => each.values.filter((value) => value !== null)), 1));
  const step = (WIDTH - LEFT) / names.length;
  const x = (at) => LEFT + step * (at + 0.5);
  const y = (value) => TOP + INNER - (value / top) * INNER;
  const drawn = series.map(({ values }, place) => [
    svg(`path.line.series-${place + 1}`, { d: path(values, x, y) }),
    values.map((value, at) => value !== null && svg(`circle.series-${place + 1}`, { cx: x(at), cy: y(value), r: names.length > 40 ? 1.5 : 3 })),
  ]);
  return figure({ text, caption, legend }, [grid(top, label), drawn, ticks(names)]);
}

function path(values, x, y) {
  let pen = "M";
  return values.map((value, at) => {
    if (value === null) {
      pen = "M";
      return "";
    }
    const part = `${pen}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
    return part;
  }).join("");
}

function figure({ text, caption, legend }, drawing) {
  return el("figure.chart", {},
    el("figcaption", {}, el("span.chart-title", {}, caption),
      el("span.chart-legend", { "aria-hidden": "true" }, legend.map((name, at) => el("span", {}, el(`span.chart-key.series-${at + 1}`), name)))),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": text }, drawing),
  );
}

/* Three lines to read a height by. */
function grid(top, label) {
  return [0, 0.5, 1].map((part) => {
    const y = TOP + INNER - part * INNER;
    return [
      svg("line.grid", { x1: LEFT, x2: WIDTH, y1: y, y2: y }),
      svg("text.axis", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, label(top * part)),
    ];
  });
}

/* A few of the names, as many as there is room for. */
function ticks(names) {
  const step = (WIDTH - LEFT) / names.length;
  const every = Math.ceil(names.length / NAMES);
  return names.map((name, at) => at % every === 0 && svg("text.axis", {
    x: LEFT + step * (at + 0.5), y: HEIGHT - 5, "text-anchor": at === 0 && step < 60 ? "start" : "middle",
  }, name));
}

/** The next number that is easily read: 1, 2, 4, 10, 20, 40, 100… */
export function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 10].map((each) => each * power).find((each) => each >= value);
}
