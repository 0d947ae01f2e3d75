// The keys, what happens to them, and the form that puts them.

import {
  addToLog,
  byId,
  element,
  milliseconds,
  tellOutcome,
} from "../../../grpc/cli/page/element.js";

/** Keys and events that are shown. */
const [MAX_KEYS, MAX_EVENTS] = [200, 50];

const WORDS = { put: "put", delete: "deleted", expire: "expired" };

/** @param {import("./live.js").Live} live */
export function showKeys(live) {
  const form = byId("put");
  const list = byId("key-list");
  const outcome = byId("keys-outcome");
  /** Rows by key, and by lease those that hang on it. */
  const rows = new Map();

  async function ask(command) {
    const start = performance.now();
    try {
      const { text } = await live.ask(command);
      tellOutcome(outcome, true, `${text} · ${milliseconds(performance.now() - start)}`);
    } catch (error) {
      tellOutcome(outcome, false, error.message);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { key, value, ttl } = Object.fromEntries(new FormData(form));
    ask({ do: "put", key, value, ttl: ttl === "" ? null : Number(ttl) });
  });

  function show({ key, value, revision, version, lease }) {
    let row = rows.get(key);
    if (row === undefined) {
      if (rows.size >= MAX_KEYS) return;
      row = makeRow(key);
      rows.set(key, row);
      const after = [...rows.keys()].sort();
      const next = after[after.indexOf(key) + 1];
      list.insertBefore(row.item, next === undefined ? null : rows.get(next).item);
    }
    if (row.lease !== lease) {
      row.lease = lease;
      row.renew.hidden = row.progress.hidden = lease === "0";
      row.left.textContent = "";
    }
    row.value.textContent = value;
    row.facts.textContent = `revision ${revision} · version ${version}`;
  }

  function makeRow(key) {
    const row = {
      lease: "0",
      value: element("span", { class: "value" }),
      facts: element("span"),
      left: element("span", { class: "left" }),
      progress: element("progress", { max: 1, "aria-label": `Time left of ${key}`, hidden: true }),
      renew: element("button", {
        class: "small",
        type: "button",
        hidden: true,
        "aria-label": `Renew ${key}`,
        onclick: () => ask({ do: "renew", lease: row.lease }),
      }, "Renew"),
    };
    const remove = element("button", {
      class: "small",
      type: "button",
      "aria-label": `Delete ${key}`,
      onclick: () => ask({ do: "delete", key }),
    }, "Delete");
    row.item = element(
      "li",
      {},
      element("div", { class: "pair" }, element("span", { class: "name" }, key), row.value),
      element("div", { class: "meta" }, row.left, row.facts),
      element("div", { class: "actions" }, row.renew, remove),
      row.progress,
    );
    row.item.dataset.key = key;
    return row;
  }

  function remove(key) {
    const row = rows.get(key);
    if (row === undefined) return;
    rows.delete(key);
    // Who worked with the keyboard stays where they were.
    if (row.item.contains(document.activeElement)) {
      const near = row.item.nextElementSibling ?? row.item.previousElementSibling;
      (near?.querySelector(".actions button:not([hidden])") ?? form.elements.key).focus();
    }
    row.item.remove();
  }

  function showCount() {
    byId("no-keys").hidden = rows.size > 0;
    byId("no-events").hidden = byId("events").childElementCount > 0;
  }

  live.addEventListener("keys", ({ detail }) => {
    for (const key of [...rows.keys()]) remove(key);
    for (const key of detail.keys) show(key);
    if (detail.more) tellOutcome(outcome, true, `There are more keys than are shown here`);
    showCount();
  });

  live.addEventListener("events", ({ detail }) => {
    for (const event of detail.events) {
      if (event.is === "put") show(event);
      else remove(event.key);
      const text = event.is === "put" && event.value !== ""
        ? `${event.key} = ${event.value}`
        : event.key;
      addToLog(
        byId("events"),
        MAX_EVENTS,
        element(
          "span",
          { class: "what" },
          element("span", { class: `tag ${event.is}` }, WORDS[event.is]),
          element("span", {}, text),
        ),
        element("span", { class: "revision" }, `at ${event.revision}`),
      );
    }
    showCount();
  });

  live.addEventListener("lease", ({ detail: { lease, left, ttl } }) => {
    for (const row of rows.values()) {
      if (row.lease !== lease) continue;
      row.left.textContent = `${left} s left · `;
      row.progress.max = Math.max(ttl, 1);
      row.progress.value = left;
    }
  });
}
