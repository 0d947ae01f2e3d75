// The contenders for the lock.

import { byId, element, tellOutcome } from "../../../grpc/cli/page/element.js";

const STATES = { idle: "does not want it", waiting: "waits", holding: "holds it" };
const ACTIONS = { idle: "Take", waiting: "Give up", holding: "Release" };

/** @param {import("./live.js").Live} live */
export function showLock(live) {
  const place = byId("contenders");
  const outcome = byId("lock-outcome");

  async function ask(command) {
    try {
      const { text } = await live.ask(command);
      tellOutcome(outcome, !text.includes("refused"), text);
    } catch (error) {
      tellOutcome(outcome, false, error.message);
    }
  }

  function makeCard(name, contender) {
    const state = element("span", { class: "state", role: "status" });
    const token = element("b", {}, "–");
    const main = element("button", {
      type: "button",
      onclick: () => {
        ask({ do: item.dataset.state === "idle" ? "take" : "release", contender });
      },
    });
    const write = element("button", {
      type: "button",
      "aria-label": `${name}: write with the token`,
      onclick: () => ask({ do: "write", contender }),
    }, "Write");
    const item = element(
      "li",
      {},
      element("div", { class: "who" }, element("h3", {}, name), state),
      element("p", { class: "token" }, "fencing token ", token),
      element("div", { class: "row" }, main, write),
    );
    const show = (standing, revision) => {
      item.dataset.state = standing;
      state.textContent = STATES[standing];
      token.textContent = revision === "" ? "–" : revision;
      main.textContent = ACTIONS[standing];
      main.setAttribute("aria-label", `${name}: ${ACTIONS[standing].toLowerCase()}`);
      write.disabled = revision === "";
    };
    show("idle", "");
    return { item, show };
  }

  let cards = [];
  live.addEventListener("hello", ({ detail }) => {
    cards = detail.contenders.map(makeCard);
    place.replaceChildren(...cards.map(({ item }) => item));
  });
  live.addEventListener("lock", ({ detail }) => {
    cards[detail.contender]?.show(detail.state, detail.token);
    if (detail.fault !== "") tellOutcome(outcome, false, detail.fault);
  });
}
