/**
 * A proxy as users have them: CONNECT and whole URLs, over TCP or TLS, with or without a password.
 *
 * @module
 */
import type { Leaf } from "./authority.ts";
import { type Duplex, join, Relay } from "./relay.ts";

/** What the proxy is like. */
export interface ForwardProxyOptions {
  /** Speak TLS, with this certificate. */
  readonly leaf?: Leaf;
  /** `user:password` it asks for. */
  readonly credentials?: string;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Sends a text whole. */
export async function sendText(conn: Duplex, text: string): Promise<void> {
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

/** Reads to the empty line. Clients of a proxy send no more than that before it answers. */
export async function readHead(conn: Duplex): Promise<string> {
  const buf = new Uint8Array(16 << 10);
  let text = "";
  while (!text.includes("\r\n\r\n")) {
    const n = await conn.read(buf);
    if (n === null) throw new Error("the client left");
    text += decoder.decode(buf.subarray(0, n), { stream: true });
  }
  return text;
}

/** Dispose of it with `await using`. Every name leads to 127.0.0.1. */
export class ForwardProxy implements AsyncDisposable {
  readonly #relay: Relay<Deno.Conn>;
  readonly #scheme: string;
  /** Heads it was sent, first to last. */
  readonly heads: string[] = [];

  /** Starts listening on 127.0.0.1. */
  constructor(options: ForwardProxyOptions = {}) {
    const address = { hostname: "127.0.0.1", port: 0 };
    const { leaf, credentials } = options;
    this.#scheme = leaf === undefined ? "http" : "https";
    const listener: Deno.Listener = leaf === undefined
      ? Deno.listen(address)
      : Deno.listenTls({ ...address, cert: leaf.cert, key: leaf.key });
    const expected = credentials === undefined ? undefined : `Basic ${btoa(credentials)}`;
    this.#relay = new Relay(listener, async (conn, keep) => {
      const head = await readHead(conn);
      this.heads.push(head);
      if (/^proxy-authorization: (.*)\r$/m.exec(head)?.[1] !== expected) {
        await sendText(
          conn,
          "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm=x\r\n" +
            "connection: close\r\ncontent-length: 6\r\n\r\ndenied",
        );
        return;
      }
      const [, method, authority, path] = /^(\S+) (?:http:\/\/)?([^\s/]+)(\S*) HTTP\/1\.1\r\n/.exec(
        head,
      )!;
      const port = Number(/:(\d+)$/.exec(authority!)?.[1] ?? 80);
      const upstream = keep(await Deno.connect({ hostname: "127.0.0.1", port }));
      if (method === "CONNECT") await sendText(conn, "HTTP/1.1 200 Connection established\r\n\r\n");
      else {
        const rest = head.slice(head.indexOf("\r\n")).replace(/\r\nproxy-authorization: .*/, "")
          .replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
        await sendText(upstream, `${method} ${path || "/"} HTTP/1.1${rest}`);
      }
      await join(conn, upstream);
    });
  }

  /** Its URL, with credentials if given. */
  url(credentials?: string): string {
    const user = credentials === undefined ? "" : `${credentials}@`;
    return `${this.#scheme}://${user}127.0.0.1:${this.#relay.port}`;
  }

  /** Connections it accepted. */
  get accepted(): number {
    return this.#relay.accepted;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#relay[Symbol.asyncDispose]();
  }
}
