/* Builds elements. A string is always text: nothing here, and nothing else in the console, reads markup. */

const SVG = "http://www.w3.org/2000/svg";
/* Set as properties, because that is what changes them after the first time too. */
const PROPERTIES = new Set(["checked", "disabled", "hidden", "value", "indeterminate", "open", "selected", "required", "htmlFor"]);

/**
 * An element.
 * @param {string} name of the element, with classes after dots: "p.quiet".
 * @param {object} attributes null and false leave one out; `on` holds listeners by their events.
 * @param {...(Node|string|number|null|false|Array)} children
 */
export function el(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElement(tag), classes, attributes, children);
}

/** The same of a drawing. */
export function svg(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElementNS(SVG, tag), classes, attributes, children);
}

/** Text of somebody's own, in whichever direction its script runs. */
export function own(text, name = "bdi") {
  return el(name, { dir: "auto" }, text);
}

/** Put these in place of what is in an element. */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
  return parent;
}

function filled(element, classes, attributes, children) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (PROPERTIES.has(name)) {
      element[name] = value;
    } else if (value !== null && value !== undefined && value !== false) {
      if (name === "style" || /^on/i.test(name)) throw new TypeError(`not an attribute to set: ${name}`);
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false);
}
