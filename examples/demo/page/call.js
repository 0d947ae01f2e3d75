// Methods of the service, called with forms.

import { Chart } from "./chart.js";
import { callStream, callUnary } from "../../../grpc/cli/page/connect.js";
import {
  addToLog,
  byId,
  element,
  milliseconds,
  tellOutcome,
} from "../../../grpc/cli/page/element.js";
import { makeForm } from "../../../grpc/cli/page/form.js";

/** Answers that are shown, messages that are sent at once, calls of one press. */
const [MAX_ANSWERS, MAX_QUEUED, OFTEN] = [100, 50, 50];

const WHY_NOT = "Needs streams in both directions at once, which fetch has not: call it by gRPC.";

export async function showCalls() {
  const response = await fetch("methods.json");
  const methods = await response.json();
  const chart = new Chart();
  const outcome = byId("call-outcome");
  const buttons = { go: byId("go"), often: byId("often"), stop: byId("stop"), add: byId("add") };
  let method, form, queued, running = null, answers = 0;

  byId("method").append(...methods.map(({ name }, i) => element("option", { value: i }, name)));
  byId("method").addEventListener("change", choose);
  choose();

  function choose() {
    running?.abort();
    method = methods[byId("method").value];
    form = makeForm(method.fields);
    queued = [];
    byId("fields").replaceChildren(...form.elements);
    byId("queued").replaceChildren();
    byId("queue").hidden = method.kind !== "client_streaming";
    const many = (side) =>
      method.kind === side || method.kind === "bidi_streaming" ? "stream " : "";
    byId("signature").textContent =
      `rpc ${method.name} (${many("client_streaming")}${method.input}) ` +
      `returns (${many("server_streaming")}${method.output})`;
    tellOutcome(outcome, true, method.kind === "bidi_streaming" ? WHY_NOT : "");
    enable();
  }

  function enable() {
    const callable = method.kind !== "bidi_streaming";
    const had = document.activeElement;
    buttons.go.disabled = running !== null || !callable;
    buttons.often.disabled = running !== null || method.kind !== "unary";
    buttons.stop.disabled = running === null;
    // The button that was pressed gives way to the one that makes sense now.
    if (had instanceof HTMLButtonElement && had.disabled) {
      (running === null ? buttons.go : buttons.stop).focus();
    }
  }

  function answer(message, ms) {
    byId("answers-count").textContent = String(++answers);
    addToLog(
      byId("answers"),
      MAX_ANSWERS,
      element("span", {}, JSON.stringify(message)),
      element("time", {}, milliseconds(ms)),
    );
  }

  buttons.add.addEventListener("click", () => {
    if (queued.length >= MAX_QUEUED) {
      return tellOutcome(outcome, false, "No more fit into one call");
    }
    try {
      const message = form.read();
      queued.push(message);
      byId("queued").append(element("li", {}, JSON.stringify(message)));
      tellOutcome(outcome, true, `${queued.length} to send`);
    } catch (error) {
      tellOutcome(outcome, false, error.message);
    }
  });

  byId("call").addEventListener("submit", (event) => {
    event.preventDefault();
    if (buttons.go.disabled) return;
    run(method.kind === "unary" ? () => callOnce(1) : callLive);
  });
  buttons.often.addEventListener("click", () => {
    if (byId("call").reportValidity()) run(() => callOnce(OFTEN));
  });
  buttons.stop.addEventListener("click", () => running?.abort());

  async function run(call) {
    const mine = running = new AbortController();
    tellOutcome(outcome, true, "Calling …");
    enable();
    try {
      tellOutcome(outcome, true, await call());
    } catch (error) {
      if (mine.signal.aborted) tellOutcome(outcome, true, "Stopped");
      else tellOutcome(outcome, false, error.message);
    } finally {
      if (running === mine) running = null;
      enable();
    }
  }

  async function callOnce(times) {
    const { signal } = running;
    const message = form.read();
    chart.begin(`Latency of ${method.name}`);
    for (let i = 0; i < times; i++) {
      const start = performance.now();
      try {
        const got = await callUnary(method.path, message, signal);
        const ms = performance.now() - start;
        chart.add(ms);
        answer(got, ms);
      } catch (error) {
        if (!signal.aborted) chart.add(performance.now() - start, true);
        throw error;
      }
    }
    return times === 1 ? "Answered" : `Answered ${times} times`;
  }

  async function callLive() {
    const { signal } = running;
    const toMany = method.kind === "server_streaming";
    chart.begin(toMany ? `Time between messages of ${method.name}` : `Latency of ${method.name}`);
    const messages = toMany || queued.length === 0 ? [form.read()] : queued;
    let [count, last] = [0, performance.now()];
    for await (const got of callStream(method.path, messages, signal)) {
      const now = performance.now();
      chart.add(now - last);
      answer(got, now - last);
      last = now;
      count++;
    }
    return toMany ? `Ended after ${count}` : "Answered";
  }
}
