// Latency, drawn as it happens: a bar a call, the newest on the right.

import { byId, milliseconds } from "../../../grpc/cli/page/element.js";

/** Calls that are drawn. */
const MAX_BARS = 60;
const [WIDTH, HEIGHT] = [600, 120];
const SVG = "http://www.w3.org/2000/svg";

export class Chart {
  #times = [];
  #what = "";
  #frame = null;

  /** Begins anew: times of `what` are not mixed with those of something else. */
  begin(what) {
    if (this.#what === what) return;
    this.#what = what;
    this.#times = [];
    byId("chart-title").textContent = what;
    this.#draw();
  }

  add(ms, failed = false) {
    this.#times.push({ ms, failed });
    if (this.#times.length > MAX_BARS) this.#times.shift();
    this.#frame ??= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#frame = null;
    const sorted = this.#times.map(({ ms }) => ms).sort((a, b) => a - b);
    const part = (share) => sorted[Math.ceil(share * sorted.length) - 1];
    const show = (id, ms) => byId(id).textContent = ms === undefined ? "–" : milliseconds(ms);
    show("last", this.#times.at(-1)?.ms);
    show("median", part(0.5));
    show("high", part(0.95));
    show("most", part(1));
    const top = Math.max(sorted.at(-1) ?? 0, 0.01);
    const step = WIDTH / MAX_BARS;
    const first = MAX_BARS - this.#times.length;
    byId("chart").replaceChildren(...this.#times.map(({ ms, failed }, i) => {
      const height = Math.max(2, ms / top * (HEIGHT - 4));
      const bar = document.createElementNS(SVG, "rect");
      if (failed) bar.classList.add("failed");
      const place = { x: (first + i) * step + 1, y: HEIGHT - height, width: step - 2, height };
      for (const [name, value] of Object.entries(place)) bar.setAttribute(name, value.toFixed(2));
      return bar;
    }));
    byId("chart").setAttribute(
      "aria-label",
      sorted.length === 0
        ? "No calls yet"
        : `${this.#what} of the last ${sorted.length}: median ${milliseconds(part(0.5))}`,
    );
  }
}
