/**
 * The page's files, as they are sent: they come with the module, wherever that was loaded from.
 *
 * @module
 */

/** HTML of the page. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Server</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="style.css">
    <script type="module" src="main.js"></script>
  </head>
  <body>
    <a class="skip" href="#calls">Skip to the calls</a>
    <header>
      <h1 id="addr">Server</h1>
      <p id="status" role="status" data-state="opening">connecting …</p>
      <button id="pause" type="button" aria-pressed="false">Pause</button>
    </header>
    <dl id="totals">
      <div><dt>Calls a second</dt><dd id="rate">–</dd></div>
      <div><dt>Errors, last minute</dt><dd id="errors">–</dd></div>
      <div><dt>Running</dt><dd id="running">–</dd></div>
      <div><dt>Connections</dt><dd id="connections">–</dd></div>
    </dl>
    <main>
      <section aria-labelledby="calls-title">
        <h2 id="calls-title">Calls</h2>
        <p class="quiet">Counted since this page was mounted. Latency in milliseconds, to the end of a call.</p>
        <table id="calls">
          <thead>
            <tr>
              <th scope="col">Method</th>
              <th scope="col" class="number">Calls</th>
              <th scope="col" class="number">a second</th>
              <th scope="col" class="number">Running</th>
              <th scope="col" class="number">Errors</th>
              <th scope="col" class="number">p50</th>
              <th scope="col" class="number">p99</th>
              <th scope="col">Latency</th>
              <th scope="col">Last minute</th>
            </tr>
          </thead>
          <tbody></tbody>
        </table>
        <p id="no-calls" class="quiet">No calls yet.</p>
      </section>
      <section aria-labelledby="clients-title">
        <h2 id="clients-title">Connections</h2>
        <p id="more-clients" class="quiet" hidden></p>
        <ul id="clients"></ul>
      </section>
    </main>
  </body>
</html>
`;

/** Its style. */
export const STYLE = `:root {
  color-scheme: light dark;
  --page: #f6f7f9;
  --card: #ffffff;
  --text: #16202b;
  --quiet: #566372;
  --line: #dce2e8;
  --accent: #1d5fa8;
  --good: #1a7f4b;
  --bad: #b3261e;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10151b;
    --card: #182029;
    --text: #e7edf3;
    --quiet: #9dabba;
    --line: #2b3743;
    --accent: #7db8f5;
    --good: #5fd39a;
    --bad: #ff9488;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto;
  padding: 1.25rem clamp(0.75rem, 3vw, 2.5rem) 2rem;
  max-width: 84rem;
  background: var(--page);
  color: var(--text);
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}
h1, h2, p, dl, dd, ul { margin: 0; padding: 0; }
h1 { font-size: 1.35rem; }
h2 { font-size: 1.05rem; }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.quiet { color: var(--quiet); font-size: 0.85rem; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; align-items: center; }
#status { flex: 1; color: var(--quiet); }
#status::before { content: "●"; margin-right: 0.4em; color: var(--quiet); }
#status[data-state="open"]::before { color: var(--good); }
#status[data-state="failed"], #status[data-state="failed"]::before { color: var(--bad); }
button {
  min-height: 2.5rem;
  padding: 0 1rem;
  border: 1px solid var(--quiet);
  border-radius: 8px;
  background: var(--card);
  color: inherit;
  font: inherit;
  cursor: pointer;
}
button[aria-pressed="true"] { border-color: var(--accent); color: var(--accent); }
#totals { display: grid; grid-template-columns: repeat(4, 1fr); gap: 0.75rem; margin: 1rem 0; }
#totals div, section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
#totals div { padding: 0.6rem 1rem; }
#totals dt { color: var(--quiet); font-size: 0.85rem; }
#totals dd { font-size: 1.5rem; line-height: 1.3; }
section { padding: 1rem; margin-bottom: 1rem; }
table { width: 100%; border-collapse: collapse; margin-top: 0.5rem; }
th { color: var(--quiet); font-size: 0.8rem; font-weight: 500; text-align: left; }
th, td { padding: 0.35rem 0.5rem; border-bottom: 1px solid var(--line); vertical-align: middle; }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { color: var(--text); font-size: 0.95rem; }
.number { text-align: right; }
.bad { color: var(--bad); }
svg { display: block; width: 9rem; height: 1.9rem; }
rect { fill: var(--accent); }
rect.failed { fill: var(--bad); }
rect.none { fill: var(--line); }
#clients { list-style: none; margin-top: 0.5rem; }
#clients li { border-bottom: 1px solid var(--line); }
#clients li:last-child { border-bottom: 0; }
summary { display: flex; flex-wrap: wrap; gap: 0.1rem 1.25rem; padding: 0.5rem 0.25rem; cursor: pointer; }
summary::before { content: "▸"; color: var(--quiet); }
details[open] > summary::before { content: "▾"; }
summary.plain { cursor: default; }
.peer { font-weight: 500; min-width: 11rem; }
details table { margin: 0 0 0.5rem 1rem; width: calc(100% - 1rem); }
@media (max-width: 52rem) {
  #totals { grid-template-columns: repeat(2, 1fr); }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody tr { display: grid; grid-template-columns: repeat(3, 1fr); padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  tbody tr:last-child { border-bottom: 0; }
  tbody th { grid-column: 1 / -1; }
  th, td { border: 0; text-align: left; padding: 0.15rem 0.25rem; }
  td[data-label]::before { content: attr(data-label); display: block; color: var(--quiet); font-size: 0.75rem; }
  .number { text-align: left; }
  td.wide { grid-column: 1 / -1; }
  svg { width: 100%; }
  details table { margin-left: 0; width: 100%; }
}
`;

/** Its script. */
export const SCRIPT = `const INTERVAL_MS = 1000;
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const rows = new Map();
const items = new Map();
let paused = false;
let timer = 0;

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  const { label, ...others } = properties;
  Object.assign(made, others);
  if (label !== undefined) made.dataset.label = label;
  made.append(...children);
  return made;
}

function text(node, value) {
  const shown = String(value);
  if (node.textContent !== shown) node.textContent = shown;
}

const sum = (numbers) => numbers.reduce((total, n) => total + n, 0);
const rateOf = (last) => sum(last.slice(-11, -1)) / 10;
const short = (n) => n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2).replace(/\\.?0+$/, "");

function bytes(n) {
  if (Math.abs(n) < 1024) return n + " B";
  return Math.abs(n) < 1 << 20 ? (n / 1024).toFixed(1) + " KiB" : (n / 1048576).toFixed(1) + " MiB";
}

/** The bound below which a share of the durations lies. */
function quantile(durations, bounds, share) {
  const total = sum(durations);
  if (total === 0) return "–";
  let seen = 0;
  for (let i = 0; i < durations.length; i++) {
    seen += durations[i];
    if (seen >= total * share) return i < bounds.length ? "≤ " + bounds[i] : "> " + bounds.at(-1);
  }
  return "–";
}

/** A bar for each value; of each the failed part in another colour. */
function bars(values, failed, titles, label) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 " + values.length * 4 + " 30");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const most = Math.max(1, ...values);
  values.forEach((value, i) => {
    const bar = (height, kind) => {
      const rect = document.createElementNS(SVG, "rect");
      rect.setAttribute("x", i * 4);
      rect.setAttribute("width", 3);
      rect.setAttribute("height", height);
      rect.setAttribute("y", 30 - height);
      if (kind !== "") rect.setAttribute("class", kind);
      const title = document.createElementNS(SVG, "title");
      title.textContent = titles[i];
      rect.append(title);
      svg.append(rect);
    };
    bar(value === 0 ? 1 : Math.max(2, value / most * 30), value === 0 ? "none" : "");
    if (failed[i] > 0) bar(Math.max(2, failed[i] / most * 30), "failed");
  });
  return svg;
}

function callRow(name) {
  const cells = {};
  const cell = (key, label, kind) => cells[key] = element("td", { className: kind, label });
  const row = element(
    "tr",
    {},
    element("th", { scope: "row" }, name),
    cell("calls", "Calls", "number"),
    cell("rate", "a second", "number"),
    cell("running", "Running", "number"),
    cell("failed", "Errors", "number"),
    cell("p50", "p50", "number"),
    cell("p99", "p99", "number"),
    cell("latency", "Latency", "wide"),
    cell("last", "Last minute", "wide"),
  );
  row.dataset.method = name;
  return { row, cells };
}

function showCalls(calls, bounds) {
  const body = byId("calls").tBodies[0];
  byId("no-calls").hidden = calls.length > 0;
  byId("calls").hidden = calls.length === 0;
  calls.forEach((one, at) => {
    let made = rows.get(one.name);
    if (made === undefined) rows.set(one.name, made = callRow(one.name));
    if (body.rows[at] !== made.row) body.insertBefore(made.row, body.rows[at] ?? null);
    const { cells } = made;
    text(cells.calls, one.calls);
    text(cells.rate, short(rateOf(one.last)));
    text(cells.running, one.running);
    text(cells.failed, one.failed);
    cells.failed.classList.toggle("bad", one.failed > 0);
    text(cells.p50, quantile(one.durations, bounds, 0.5));
    text(cells.p99, quantile(one.durations, bounds, 0.99));
    const ranges = one.durations.map((n, i) =>
      n + (i < bounds.length ? " in ≤ " + bounds[i] : " in > " + bounds.at(-1)) + " ms"
    );
    cells.latency.replaceChildren(
      bars(one.durations, [], ranges, "Latency of " + one.name + ": " + ranges.join(", ")),
    );
    const seconds = one.last.map((n, i) =>
      n + " calls, " + one.lastFailed[i] + " errors, " + (one.last.length - 1 - i) + " s ago"
    );
    const label = sum(one.last) + " calls and " + sum(one.lastFailed) + " errors in the last minute";
    cells.last.replaceChildren(bars(one.last, one.lastFailed, seconds, label));
  });
}

function streamTable(streams, open) {
  const head = ["Stream", "State", "May send", "May receive", "Unsent", "Unread"];
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...head.map((name, i) =>
      element("th", { scope: "col", className: i > 1 ? "number" : "" }, name)))),
    element("tbody", {}, ...streams.map((stream) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, String(stream.id)),
        element("td", { label: head[1] }, stream.state),
        ...["sendWindow", "receiveWindow", "unsent", "unread"].map((name, i) =>
          element("td", { className: "number", label: head[i + 2] }, bytes(stream[name]))),
      ))),
  );
  const rest = open - streams.length;
  return rest > 0 ? [table, element("p", { className: "quiet" }, rest + " more streams")] : [table];
}

function clientItem(peer) {
  const summary = element("summary", {}, element("span", { className: "peer" }, peer));
  const facts = element("span");
  summary.append(facts);
  const inside = element("div");
  const details = element("details", {}, summary, inside);
  const item = element("li", {}, details);
  item.dataset.peer = peer;
  return { item, details, facts, inside };
}

function showClients(clients, connections) {
  const list = byId("clients");
  const seen = new Set();
  clients.forEach(({ peer, tls, carries }, at) => {
    seen.add(peer);
    let made = items.get(peer);
    if (made === undefined) items.set(peer, made = clientItem(peer));
    if (list.children[at] !== made.item) list.insertBefore(made.item, list.children[at] ?? null);
    const { facts, inside, details } = made;
    const secure = tls ? ", TLS" : "";
    if (carries.version === "HTTP/2") {
      text(facts, "HTTP/2" + secure + " · " + carries.open + " streams · may send " +
        bytes(carries.sendWindow) + " · may receive " + bytes(carries.receiveWindow) +
        " · unread " + bytes(carries.unread));
      if (details.open) inside.replaceChildren(...streamTable(carries.streams, carries.open));
    } else {
      text(facts, "HTTP/1.1" + secure + " · " + carries.requests + " requests · " + carries.state);
      if (details.open) inside.replaceChildren(element("p", { className: "quiet" }, "One request at a time."));
    }
  });
  for (const [peer, { item }] of items) {
    if (seen.has(peer)) continue;
    item.remove();
    items.delete(peer);
  }
  const more = byId("more-clients");
  more.hidden = connections <= clients.length;
  if (!more.hidden) text(more, clients.length + " of " + connections + " are shown.");
}

function show(state) {
  text(byId("addr"), state.addr);
  document.title = state.addr;
  text(byId("rate"), short(sum(state.calls.map(({ last }) => rateOf(last)))));
  const errors = sum(state.calls.map(({ lastFailed }) => sum(lastFailed)));
  text(byId("errors"), errors);
  byId("errors").classList.toggle("bad", errors > 0);
  text(byId("running"), state.handlers);
  text(byId("connections"), state.connections);
  showCalls(state.calls, state.buckets);
  showClients(state.clients, state.connections);
}

function tell(state, words) {
  byId("status").dataset.state = state;
  text(byId("status"), words);
}

let last = null;

async function look() {
  try {
    const response = await fetch("data.json");
    if (!response.ok) throw new Error("the server answered " + response.status);
    last = await response.json();
    show(last);
    tell("open", "live");
  } catch (error) {
    tell("failed", "not reached: " + error.message);
  }
}

async function run() {
  window.clearTimeout(timer);
  if (paused) return tell("paused", "paused");
  if (!document.hidden) await look();
  window.clearTimeout(timer);
  if (!paused) timer = window.setTimeout(run, INTERVAL_MS);
  else tell("paused", "paused");
}

byId("pause").addEventListener("click", () => {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  text(byId("pause"), paused ? "Go on" : "Pause");
  run();
});
document.addEventListener("visibilitychange", run);
// What is opened is filled at once, also while the page is paused.
byId("clients").addEventListener("toggle", () => {
  if (last !== null) showClients(last.clients, last.connections);
}, { capture: true });
run();
`;
