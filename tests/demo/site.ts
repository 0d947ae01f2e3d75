/** The demo's page on a store of its own, in the process of the test. */
import { http, kv } from "@sluice/sluice";
import { listen, type Store } from "@sluice/sluice/kv/server";
import { loadDemo, registerDemo } from "../../examples/demo/service.ts";
import { serveSite } from "../../examples/demo/site.ts";

/** A page that is served. */
export interface Site {
  /** `host:port` */
  readonly addr: string;
  readonly url: string;
  readonly store: Store;
  /** The keys pages see. */
  readonly keys: kv.Namespace;
  readonly http: http.Client;
}

/** Serves the page as long as `visit` runs. */
export async function withSite(visit: (site: Site) => Promise<void>): Promise<void> {
  await using store = listen();
  await using client = kv.newClient({ endpoints: [store.addr], timeout: 10 });
  await using server = await serveSite("127.0.0.1:0", registerDemo(loadDemo()), {
    client,
    about: { name: "Store", version: "0" },
  });
  await using browser = http.newClient();
  await visit({
    addr: server.addr,
    url: `http://${server.addr}/`,
    store,
    keys: client.namespace("sluice-demo/keys/"),
    http: browser,
  });
}

// deno-lint-ignore no-explicit-any
export type Message = any;

/** The socket of a page, without a page. */
export class LiveSocket implements AsyncDisposable {
  readonly heard: Message[] = [];
  /** Resolves to the code the socket was closed with. */
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  #changed = Promise.withResolvers<void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      this.#socket.onclose = ({ code }) => {
        resolve(code);
        this.#tell();
      };
    });
    this.#socket.onmessage = ({ data }) => {
      this.heard.push(JSON.parse(data));
      this.#tell();
    };
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Opens a socket, and waits until it has been told the keys. */
  static async open(addr: string): Promise<LiveSocket> {
    const socket = new LiveSocket(new WebSocket(`ws://${addr}/live`));
    await socket.until(({ is }) => is === "keys");
    return socket;
  }

  /** Waits for a message that came, or comes. */
  async until(is: (message: Message) => boolean): Promise<Message> {
    while (true) {
      const found = this.heard.find(is);
      if (found !== undefined) return found;
      if (this.#socket.readyState === WebSocket.CLOSED) throw new Error("the socket is closed");
      await this.#changed.promise;
    }
  }

  /** Sends a message, an object as JSON. */
  send(message: unknown): void {
    this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Sends a command, and waits for its answer. */
  async ask(command: Message): Promise<Message> {
    this.send(command);
    return await this.until(({ is, id }) => is === "answer" && id === command.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.closed;
  }
}
