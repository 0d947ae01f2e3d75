import { JSON_TEXT, PROJECT, TYPE } from "./project.js";

/** Milliseconds a compilation may take: then its worker is ended. */
const TIME_LIMIT = 3000;
/** Milliseconds after the last key until the text is compiled. */
const PAUSE = 150;
/** Errors that are shown at their place. */
const MAX_MARKS = 200;

const $ = (id) => document.getElementById(id);
const text = $("text");

/** Makes an element: text is never read as markup. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

let files = PROJECT.map(([name, content]) => ({ name, content }));
let shown = 0;
let diagnostics = [];
/** The file whose descriptor is shown. */
let described;
/** Which side of the message was edited last: the other is made of it. */
let edited = "json";

// --- The compiler: a worker that is ended when it takes too long.

let worker;
let running;
let waiting;
let count = 0;

function start() {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => {
    if (!running || data.id !== running.id) return;
    clearTimeout(running.timer);
    const { accept } = running;
    running = undefined;
    accept(data);
    next();
  };
  worker.onerror = () => stopped("The compiler failed. Change the text to try again.");
}

/** Asks the worker; of questions that wait, the last one counts. */
function ask(question, accept) {
  waiting = { question, accept };
  if (!running) next();
}

function next() {
  if (!waiting) return;
  const { question, accept } = waiting;
  waiting = undefined;
  const id = ++count;
  const timer = setTimeout(
    () => stopped(`Stopped: it took longer than ${TIME_LIMIT / 1000} seconds.`),
    TIME_LIMIT,
  );
  running = { id, timer, accept };
  worker.postMessage({ ...question, id });
}

function stopped(why) {
  clearTimeout(running?.timer);
  running = undefined;
  worker.terminate();
  start();
  status("bad", why);
  next();
}

function status(state, words) {
  $("status").dataset.state = state;
  $("status").textContent = words;
}

let pause;
function compileSoon() {
  clearTimeout(pause);
  pause = setTimeout(compile, PAUSE);
}

function compile() {
  status("working", "Compiling …");
  const names = new Set(files.map(({ name }) => name));
  if (names.size < files.length) return status("bad", "Two files have one name.");
  ask(
    {
      files: files.map(({ name, content }) => [name, content]),
      shown: files[shown].name,
      type: $("type").value || TYPE,
      [edited]: $(edited).value,
    },
    show,
  );
}

// --- Results

function show(result) {
  diagnostics = result.diagnostics;
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  if (errors > 0) status("bad", errors === 1 ? "1 error" : `${errors} errors`);
  else status("good", `${files.length} files in ${result.ms} ms`);
  showDiagnostics();
  showMarks();
  showTabs();
  if (result.tree) {
    $("tree").replaceChildren(nodeOf(result.tree, 0));
    $("types").textContent = result.types;
    described = result.tree.name;
  } else if (described !== files[shown].name) {
    const why = "Nothing to show before the errors are mended.";
    $("tree").replaceChildren(make("span", { className: "kind" }, why));
    $("types").textContent = why;
  }
  // While a file has errors, its last good descriptor stays, dimmed.
  for (const id of ["tree", "types"]) $(id).dataset.stale = String(!result.tree);
  showTypes(result.messages, result.type);
  showMessage(result);
}

function nodeOf({ kind, name, detail, children }, depth) {
  const label = [
    make("span", { className: "kind" }, `${kind} `),
    make("b", {}, name),
    make("span", { className: "detail" }, detail ? ` ${detail}` : ""),
  ];
  if (children.length === 0) return make("div", { className: "leaf" }, ...label);
  return make(
    "details",
    { open: depth < 3 },
    make("summary", {}, ...label),
    ...children.map((child) => nodeOf(child, depth + 1)),
  );
}

function showTypes(messages, type) {
  const list = $("type");
  const known = [...list.options].map(({ value }) => value);
  if (known.join() !== messages.join()) {
    list.replaceChildren(...messages.map((name) => make("option", { value: name }, name)));
  }
  if (messages.includes(type)) list.value = type;
}

function showMessage({ json, hex, fault }) {
  $("outcome").dataset.state = fault ? "bad" : "good";
  $("outcome").textContent = fault ??
    (edited === "json" ? "JSON to bytes" : "Bytes to JSON");
  if (json !== undefined && edited === "hex") $("json").value = json;
  if (hex !== undefined && edited === "json") $("hex").value = hex;
}

function showDiagnostics() {
  $("diagnostics").replaceChildren(...diagnostics.map((one) => {
    const place = one.line > 0 ? `${one.file}:${one.line}:${one.column}` : one.file;
    const button = make(
      "button",
      { type: "button", className: one.severity },
      `${place}: ${one.severity === "warning" ? "warning: " : ""}${one.message}`,
    );
    button.onclick = () => goTo(one);
    return make("li", {}, button);
  }));
}

/** Index in a text of a line and column: columns count bytes, and tabs go on to multiples of 8. */
function indexOf(content, line, column) {
  let index = 0;
  for (let at = 1; at < line; at++) {
    const end = content.indexOf("\n", index);
    if (end < 0) return content.length;
    index = end + 1;
  }
  const encoder = new TextEncoder();
  let reached = 0;
  while (reached < column - 1 && index < content.length && content[index] !== "\n") {
    const character = String.fromCodePoint(content.codePointAt(index));
    reached += character === "\t" ? 8 - reached % 8 : encoder.encode(character).length;
    index += character.length;
  }
  return index;
}

function showMarks() {
  const { name, content } = files[shown];
  const places = diagnostics.filter(({ file, line }) => file === name && line > 0)
    .slice(0, MAX_MARKS)
    .map((one) => ({ start: indexOf(content, one.line, one.column), ...one }))
    .sort((a, b) => a.start - b.start);
  const pieces = [];
  let at = 0;
  for (const { start, severity } of places) {
    if (start < at) continue;
    const length = /^([\w.]+|"[^"\n]*"?|[^\n])/.exec(content.slice(start))?.[0].length ?? 0;
    pieces.push(content.slice(at, start));
    const marked = content.slice(start, start + length) || " ";
    pieces.push(make("mark", { className: severity }, marked));
    at = start + length;
  }
  pieces.push(content.slice(at), "\n");
  $("marks").replaceChildren(...pieces);
  const lines = content.split("\n").length;
  $("lines").textContent = Array.from({ length: lines }, (_, i) => i + 1).join("\n");
  scroll();
}

function scroll() {
  for (const id of ["marks", "lines"]) $(id).scrollTop = text.scrollTop;
  $("marks").scrollLeft = text.scrollLeft;
}

function goTo({ file, line, column }) {
  const index = files.findIndex(({ name }) => name === file);
  if (index < 0) return;
  open(index);
  const at = line > 0 ? indexOf(files[index].content, line, column) : 0;
  text.focus();
  text.setSelectionRange(at, at);
  text.scrollTop = (line - 5) * parseFloat(getComputedStyle(text).lineHeight);
}

// --- Files

function showTabs() {
  const focused = document.activeElement?.closest("#files") !== null;
  $("files").replaceChildren(...files.map(({ name }, i) => {
    const isBad = diagnostics.some((one) => one.file === name && one.severity === "error");
    const tab = make("button", {
      type: "button",
      role: "tab",
      tabIndex: i === shown ? 0 : -1,
      "aria-selected": String(i === shown),
      "aria-controls": "editor",
      "data-fault": String(isBad),
      title: name,
    }, name.replace(/^.*\//, "") || "(no name)");
    tab.onclick = () => open(i);
    return tab;
  }));
  if (focused) $("files").children[shown]?.focus();
  $("remove").disabled = files.length < 2;
}

function open(index) {
  shown = index;
  text.value = files[shown].content;
  $("name").value = files[shown].name;
  showTabs();
  showMarks();
  compile();
}

/** Arrow keys go from tab to tab. */
function withArrows(list, choose) {
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const at = tabs.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    const index = (at + step + tabs.length) % tabs.length;
    tabs[index].focus();
    choose(index);
  });
}

text.oninput = () => {
  files[shown].content = text.value;
  showMarks();
  compileSoon();
};
text.onscroll = scroll;
$("name").oninput = () => {
  files[shown].name = $("name").value.trim();
  showTabs();
  compileSoon();
};
$("add").onclick = () => {
  let number = files.length;
  while (files.some(({ name }) => name === `new${number}.proto`)) number++;
  files.push({ name: `new${number}.proto`, content: 'syntax = "proto3";\n' });
  open(files.length - 1);
  text.focus();
};
$("remove").onclick = () => {
  files.splice(shown, 1);
  open(Math.max(0, shown - 1));
};
$("reset").onclick = () => {
  files = PROJECT.map(([name, content]) => ({ name, content }));
  edited = "json";
  $("json").value = JSON_TEXT;
  $("type").replaceChildren();
  open(0);
};
withArrows($("files"), open);

// --- Views

function view(index) {
  [...$("views").children].forEach((tab, i) => {
    tab.setAttribute("aria-selected", String(i === index));
    tab.tabIndex = i === index ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = i !== index;
  });
}
[...$("views").children].forEach((tab, i) => tab.onclick = () => view(i));
withArrows($("views"), view);

for (const side of ["json", "hex"]) {
  $(side).oninput = () => {
    edited = side;
    compileSoon();
  };
}
$("type").onchange = compile;

start();
$("reset").click();
