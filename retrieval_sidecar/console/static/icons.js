/* Drawings of one line, in the colour of the text that they stand beside; to the eye alone. */

import { svg } from "./dom.js";

const PATHS = {
  agents: "M4 13v-1a8 8 0 0 1 16 0v1M4 13h2.5v6H5a1 1 0 0 1-1-1zM20 13h-2.5v6H19a1 1 0 0 0 1-1zM17.5 19c0 1.7-1.6 2.5-4 2.5",
  bases: "M5 4.5h4v15H5zM9 4.5h4v15H9zM13.4 5.6l3.9-1 3.4 14.3-3.9 1z",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5 20 20",
  calls: "M6.6 3.8 9 4l1.2 4-2 1.6a12 12 0 0 0 6.2 6.2l1.6-2 4 1.2.2 2.4c0 1.5-1.2 2.7-2.7 2.6C10 19.500 4.500 14 4 6.500 3.900 5 5.100 3.800 6.600 3.800z",
  health: "M3 12.500h4l2.500-6.500 4.500 12.500 2.600-6H21",
  reference: "M9 4.500c-2 0-3 .8-3 2.700v2.300c0 1.500-.6 2.500-2 2.500 1.400 0 2 1 2 2.500v2.300c0 1.900 1 2.700 3 2.700M15 4.500c2 0 3 .8 3 2.700v2.300c0 1.500.6 2.500 2 2.500-1.400 0-2 1-2 2.500v2.300c0 1.900-1 2.700-3 2.700",
  menu: "M4 7h16M4 12h16M4 17h16",
  chevron: "M9 5.500 15.500 12 9 18.500",
  out: "M14 4.500H6a1 1 0 0 0-1 1v13a1 1 0 0 0 1 1h8M11 12h9M16.500 8.500 20 12l-3.500 3.500",
  folder: "M3.500 6.500a1 1 0 0 1 1-1h5l2 2.500h8a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-15a1 1 0 0 1-1-1z",
  warning: "M12 4 21 19.500H3zM12 10v4.500M12 17.200v.1",
  check: "M4.500 12.500 10 18 19.500 6.500",
};

/** @param {string} name one of the above; "chevron" points along the line and turns with the direction of the text. */
export function icon(name) {
  const path = svg("path", { d: PATHS[name] });
  return svg(`svg.icon.icon-${name}`, { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, path);
}
