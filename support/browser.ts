/**
 * Chromium without a window, driven by the DevTools protocol: pages as people use them, with keys,
 * and what is drawn.
 *
 * @module
 */
import type { Need } from "./peers.ts";
import { Process, which } from "./process.ts";

/** The browser's program: `CHROMIUM`, or one on PATH. */
const CHROMIUM_PATH = Deno.env.get("CHROMIUM") ?? await which("chromium") ??
  await which("chromium-browser") ?? await which("google-chrome");

/** For `peerTest`. */
export const CHROMIUM: Need = ["chromium", CHROMIUM_PATH, "install chromium, or set CHROMIUM"];

/** Milliseconds a page may take to become what is waited for. */
const WAIT_TIMEOUT_MS = 30_000;

// deno-lint-ignore no-explicit-any
type Json = any;

/** A browser with a profile of its own, gone with it. */
export class Browser implements AsyncDisposable {
  readonly #process: Process;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #calls = new Map<number, { resolve(value: Json): void; reject(error: Error): void }>();
  readonly #pages = new Map<string, (method: string, params: Json) => void>();
  #next = 1;

  private constructor(process: Process, profile: string, socket: WebSocket) {
    this.#process = process;
    this.#profile = profile;
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    socket.onclose = () => {
      for (const { reject } of this.#calls.values()) reject(new Error("The browser is gone"));
      this.#calls.clear();
    };
  }

  /** Starts one. */
  static async start(): Promise<Browser> {
    const profile = await Deno.makeTempDir({ prefix: "chromium-" });
    const process = new Process({
      command: CHROMIUM_PATH!,
      args: [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-extensions",
        "--disable-background-networking",
        "--no-first-run",
        "--disable-breakpad",
        "--disable-crash-reporter",
        "--remote-debugging-port=0",
        `--user-data-dir=${profile}`,
        "about:blank",
      ],
      // All it writes goes with the profile.
      env: { XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile },
    });
    try {
      const [, url] = await process.waitFor(/DevTools listening on (ws:\S+)/, 60_000);
      const socket = new WebSocket(url!);
      await new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = () => reject(new Error(process.describe("refused the connection")));
      });
      return new Browser(process, profile, socket);
    } catch (error) {
      await process.stop();
      await Deno.remove(profile, { recursive: true });
      throw error;
    }
  }

  /** Opens a page, and waits until it is loaded. */
  async open(url: string): Promise<Page> {
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.call("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, async () => {
      await this.call("Target.closeTarget", { targetId });
      this.#pages.delete(sessionId);
    });
    this.#pages.set(sessionId, (method, params) => page.heard(method, params));
    await page.call("Runtime.enable");
    await page.call("Log.enable");
    await page.call("Page.enable");
    await page.goto(url);
    return page;
  }

  /** A call of the protocol. */
  call(method: string, params: Json = {}, sessionId?: string): Promise<Json> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  }

  #receive(message: Json): void {
    if (message.id === undefined) {
      return this.#pages.get(message.sessionId)?.(message.method, message.params);
    }
    const call = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    if (message.error === undefined) call?.resolve(message.result);
    else call?.reject(new Error(`Chromium: ${message.error.message}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.addEventListener("close", resolve));
    this.call("Browser.close").catch(() => {});
    await Promise.race([closed, this.#process.finished(10_000).catch(() => {})]);
    this.#socket.close();
    await this.#process.stop();
    // Its helpers may still write for a moment.
    for (let attempt = 0; attempt < 50; attempt++) {
      try {
        await Deno.remove(this.#profile, { recursive: true });
        return;
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}

/** How a page is shown. */
export interface View {
  /** Width and height in CSS pixels. */
  readonly size: readonly [width: number, height: number];
  /** @default {"light"} */
  readonly scheme?: "light" | "dark";
  /** Device pixels of a CSS pixel. @default {1} */
  readonly scale?: number;
  readonly reducedMotion?: boolean;
}

const KEYS: { readonly [name: string]: { code: number; text?: string } } = {
  Tab: { code: 9 },
  Enter: { code: 13, text: "\r" },
  Space: { code: 32, text: " " },
  ArrowDown: { code: 40 },
  ArrowUp: { code: 38 },
};

/** A page of a browser. */
export class Page implements AsyncDisposable {
  /** What went wrong on the page: exceptions, errors of the console, refusals by its policy. */
  readonly complaints: string[] = [];
  readonly #browser: Browser;
  readonly #session: string;
  readonly #close: () => Promise<void>;
  #loaded: (() => void) | null = null;

  /** See {@linkcode Browser.open}. */
  constructor(browser: Browser, session: string, close: () => Promise<void>) {
    this.#browser = browser;
    this.#session = session;
    this.#close = close;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }

  /** A call of the protocol. */
  call(method: string, params: Json = {}): Promise<Json> {
    return this.#browser.call(method, params, this.#session);
  }

  /** Called with events of the protocol. */
  heard(method: string, params: Json): void {
    if (method === "Page.loadEventFired") this.#loaded?.();
    if (method === "Runtime.exceptionThrown") {
      const { text, exception } = params.exceptionDetails;
      this.complaints.push(`${text} ${exception?.description ?? ""}`);
    }
    if (method === "Runtime.consoleAPICalled" && params.type === "error") {
      this.complaints.push(JSON.stringify(params.args));
    }
    if (method === "Log.entryAdded" && params.entry.level === "error") {
      this.complaints.push(params.entry.text);
    }
  }

  /** Loads a page. */
  async goto(url: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => this.#loaded = resolve);
    const { errorText } = await this.call("Page.navigate", { url });
    if (errorText !== undefined) throw new Error(`Cannot load ${url}: ${errorText}`);
    await loaded;
  }

  /** The value of an expression on the page; promises are awaited. */
  async evaluate<T = Json>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails === undefined) return result.value;
    const { text, exception } = exceptionDetails;
    throw new Error(`${text} ${exception?.description ?? ""} in ${expression}`);
  }

  /** Waits until an expression is true, and gives its value. */
  until<T = Json>(expression: string): Promise<T> {
    const what = JSON.stringify(`not so in ${WAIT_TIMEOUT_MS} ms: ${expression}`);
    return this.evaluate<T>(`new Promise((resolve, reject) => {
      const end = performance.now() + ${WAIT_TIMEOUT_MS};
      const look = () => {
        const value = (() => ${expression})();
        if (value) resolve(value);
        else if (performance.now() > end) reject(new Error(${what}));
        else setTimeout(look, 10);
      };
      look();
    })`);
  }

  /** Presses a key and lets it go. */
  async press(name: string, modifiers = 0): Promise<void> {
    const { code, text } = KEYS[name]!;
    const key = name === "Space" ? " " : name;
    const common = { key, code: name, windowsVirtualKeyCode: code, modifiers };
    await this.call("Input.dispatchKeyEvent", { type: "keyDown", text, ...common });
    await this.call("Input.dispatchKeyEvent", { type: "keyUp", ...common });
  }

  /** Types text where the focus is, over what stands there. */
  async type(text: string): Promise<void> {
    await this.evaluate("document.activeElement.select?.()");
    await this.call("Input.insertText", { text });
  }

  /** Clicks in the middle of what a selector names. */
  async click(selector: string): Promise<void> {
    const [x, y] = await this.evaluate<[number, number]>(`(() => {
      const found = document.querySelector(${JSON.stringify(selector)});
      found.scrollIntoView({ block: "center", behavior: "instant" });
      const { x, y, width, height } = found.getBoundingClientRect();
      return [x + width / 2, y + height / 2];
    })()`);
    const common = { x, y, button: "left", clickCount: 1 };
    await this.call("Input.dispatchMouseEvent", { type: "mousePressed", ...common });
    await this.call("Input.dispatchMouseEvent", { type: "mouseReleased", ...common });
  }

  /** Changes how the page is shown. */
  async view({ size: [width, height], scheme, scale, reducedMotion }: View): Promise<void> {
    await this.call("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: scale ?? 1,
      mobile: width < 600,
    });
    await this.call("Emulation.setEmulatedMedia", {
      features: [
        { name: "prefers-color-scheme", value: scheme ?? "light" },
        { name: "prefers-reduced-motion", value: reducedMotion ? "reduce" : "no-preference" },
      ],
    });
  }

  /** The whole page as PNG. */
  async screenshot(): Promise<Uint8Array<ArrayBuffer>> {
    const { data } = await this.call("Page.captureScreenshot", {
      format: "png",
      captureBeyondViewport: true,
    });
    return Uint8Array.fromBase64(data);
  }
}

/** The least contrast of text on the page with what lies behind it, and where that is. */
export const CONTRAST = `(() => {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b]
    .map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (one) => {
    const color = rgba(getComputedStyle(one).backgroundColor);
    return color[3] > 0 || one.parentElement === null ? color : behind(one.parentElement);
  };
  let least = [99, ""];
  for (const one of document.querySelectorAll("body *")) {
    const text = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
    if (!text || one.disabled || !one.checkVisibility() || one.closest("svg, noscript")) continue;
    const [a, b] = [light(rgba(getComputedStyle(one).color)), light(behind(one))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < least[0]) least = [contrast, one.outerHTML.slice(0, 80)];
  }
  return least;
})()`;
