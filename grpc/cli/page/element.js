// Makes elements. Text is only ever text: nothing that comes from outside is read as HTML.

/** @param {string} id */
export const byId = (id) => document.getElementById(id);

/**
 * An element with attributes and children, which are elements or text.
 *
 * @param {string} name
 * @param {Record<string, unknown>} attributes `on…` are listeners; false and null are left out
 * @param {...(Node | string)} children
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** Shows how something went. */
export function tellOutcome(place, ok, text) {
  place.textContent = text;
  place.classList.toggle("bad", !ok);
}

/** Puts an entry on top of a log that keeps `most`. */
export function addToLog(log, most, ...children) {
  log.prepend(element("li", {}, ...children));
  while (log.childElementCount > most) log.lastElementChild.remove();
}

/** Milliseconds as text, three digits and so always as wide. */
export function milliseconds(ms) {
  return `${ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2)} ms`;
}
