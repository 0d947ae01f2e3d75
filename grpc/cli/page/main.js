// Methods of a server, called with forms.

import { callStream, callUnary } from "./connect.js";
import { byId, element, milliseconds, tellOutcome } from "./element.js";
import { makeForm } from "./form.js";

/** Responses that are shown, and requests that are sent at once. */
const [MAX_RESPONSES, MAX_QUEUED] = [200, 100];

const state = { method: null, form: null, queued: [], running: null };

const { target, methods } = await (await fetch("methods.json")).json();
byId("target").textContent = target;
document.title = `gRPC · ${target}`;
showMethods("");
byId("find").addEventListener("input", ({ target }) => showMethods(target.value.toLowerCase()));
byId("call").addEventListener("submit", (event) => {
  event.preventDefault();
  call();
});
byId("add").addEventListener("click", add);
byId("stop").addEventListener("click", () => state.running?.abort());

/** Lists the methods whose names have a text in them. */
function showMethods(text) {
  const list = byId("methods");
  list.replaceChildren();
  let service = "";
  for (const method of methods) {
    if (!`${method.service}.${method.name}`.toLowerCase().includes(text)) continue;
    if (method.service !== service) {
      service = method.service;
      list.append(element("li", {}, element("h3", {}, service)));
    }
    const button = element("button", {
      type: "button",
      "data-path": method.path,
      "aria-current": method === state.method ? "true" : false,
      onclick: () => choose(method),
    }, method.name);
    list.append(element("li", {}, button));
  }
}

function choose(method) {
  state.running?.abort();
  state.method = method;
  state.form = makeForm(method.fields);
  state.queued = [];
  byId("empty").hidden = true;
  byId("call").hidden = false;
  byId("name").textContent = `${method.service}/${method.name}`;
  const [down, up] = [isDown(method), isUp(method)];
  byId("signature").textContent = `${up ? "stream " : ""}${method.input} → ${
    down ? "stream " : ""
  }${method.output}`;
  byId("fields").replaceChildren(...state.form.elements);
  byId("json").value = "";
  byId("add").hidden = !up;
  byId("responses").replaceChildren();
  tellOutcome(byId("outcome"), true, "");
  showQueue();
  showMethods(byId("find").value.toLowerCase());
}

const isUp = ({ kind }) => kind === "client_streaming" || kind === "bidi_streaming";
const isDown = ({ kind }) => kind === "server_streaming" || kind === "bidi_streaming";

function showQueue() {
  const { length } = state.queued;
  byId("queue").hidden = length === 0;
  byId("queue").textContent = `${length} request${length === 1 ? "" : "s"} to send`;
}

/** The request that was typed in. */
function request() {
  const text = byId("json").value.trim();
  if (text === "") return state.form.read();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The request is no JSON: ${error.message}`);
  }
}

/** Puts the request behind those that are sent with the next call. */
function add() {
  try {
    if (state.queued.length >= MAX_QUEUED) throw new Error(`${MAX_QUEUED} requests are the most`);
    state.queued.push(request());
    showQueue();
  } catch (error) {
    tellOutcome(byId("outcome"), false, error.message);
  }
}

function metadata() {
  const given = {};
  for (const line of byId("metadata").value.split("\n")) {
    const [, name, value] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) given[`x-grpc-${name.toLowerCase()}`] = encodeURIComponent(value);
    else if (line.trim() !== "") throw new Error(`Metadata is written as name: value: ${line}`);
  }
  const seconds = Number(byId("time").value);
  if (seconds > 0) given["connect-timeout-ms"] = String(Math.ceil(seconds * 1000));
  return given;
}

async function call() {
  const { method } = state;
  const outcome = byId("outcome");
  state.running?.abort();
  const running = state.running = new AbortController();
  const started = performance.now();
  let count = 0;
  const show = (message) => {
    count++;
    const at = element("small", { class: "at" }, milliseconds(performance.now() - started));
    const body = element("pre", {}, JSON.stringify(message, null, 2));
    const list = byId("responses");
    list.append(element("li", {}, at, body));
    while (list.childElementCount > MAX_RESPONSES) list.firstElementChild.remove();
    tellOutcome(outcome, true, `${count} response${count === 1 ? "" : "s"} …`);
  };
  byId("responses").replaceChildren();
  byId("stop").hidden = false;
  try {
    const given = metadata();
    const requests = isUp(method) && state.queued.length > 0 ? state.queued : [request()];
    tellOutcome(outcome, true, "Called …");
    if (method.kind === "unary") {
      show(await callUnary(method.path, requests[0], running.signal, given));
    } else {
      for await (const message of callStream(method.path, requests, running.signal, given)) {
        show(message);
      }
    }
    const time = milliseconds(performance.now() - started);
    tellOutcome(outcome, true, `OK: ${count} response${count === 1 ? "" : "s"} in ${time}`);
    state.queued = [];
    showQueue();
  } catch (error) {
    tellOutcome(outcome, false, running.signal.aborted ? "Stopped" : error.message);
  } finally {
    if (state.running === running) byId("stop").hidden = true;
  }
}
