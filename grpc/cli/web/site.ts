/**
 * A page with a form for each method of a server, and the bridge that its calls go over. Both are for
 * browsers of this machine: other pages, and other names for this address, are refused.
 *
 * @module
 */
import type { DescService, Registry } from "@bufbuild/protobuf";
import { type HttpServer, listen, type ServerStream } from "../../../http/mod.ts";
import type { Conn } from "../../client/conn.ts";
import { mount } from "../../server/server.ts";
import { bridge } from "./bridge.ts";
import { formsOf } from "./form.ts";

const SCRIPT = "text/javascript; charset=utf-8";
const FILES: { readonly [path: string]: readonly [file: string, type: string] } = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/style.css": ["style.css", "text/css; charset=utf-8"],
  "/main.js": ["main.js", SCRIPT],
  "/element.js": ["element.js", SCRIPT],
  "/form.js": ["form.js", SCRIPT],
  "/connect.js": ["connect.js", SCRIPT],
};

const HEADERS = {
  "content-security-policy":
    "default-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

/** Bytes of requests that the page may send. */
const MAX_BODY_BYTES = 4 << 20;
/** Milliseconds that calls have to end when the user stops the page. */
const DRAIN_MS = 500;

/** A page: where it is, and the server that it shows. */
interface Site {
  readonly addr: string;
  /** The server that is called, as it is shown. */
  readonly target: string;
  readonly conn: Conn;
  readonly services: readonly DescService[];
  /** Types of `Any` and extensions. */
  readonly registry: Registry;
  /** Metadata of all calls. */
  readonly headers: HeadersInit;
}

/** Starts to serve. */
export async function serveSite(site: Site): Promise<HttpServer> {
  const bodies = new Map<string, Uint8Array>();
  await Promise.all(
    Object.entries(FILES).map(async ([path, [file]]) => {
      // `fetch` reads beside this module, be it a file or a URL.
      const response = await fetch(new URL(`../page/${file}`, import.meta.url));
      bodies.set(path, await response.bytes());
    }),
  );
  const { addr, target, conn, services, registry, headers } = site;
  const methods = new TextEncoder().encode(
    JSON.stringify({ target, methods: formsOf(services) }),
  );
  let own = new Set<string>();
  const registrar = bridge(conn, services, headers, (origin) => own.has(origin));
  const server = listen({
    addr,
    limits: { maxBodyBytes: MAX_BODY_BYTES, drainTimeout: DRAIN_MS },
    registrar: mount({ registrar, registry }),
    handler: async (stream) => {
      if (!own.has(`http://${stream.authority}`)) {
        return await refuse(stream, 421, "Call this page by its address or as localhost");
      }
      const file = Object.hasOwn(FILES, stream.path) ? FILES[stream.path] : undefined;
      if (file !== undefined) return await give(stream, file[1], bodies.get(stream.path)!);
      if (stream.path === "/methods.json") return await give(stream, "application/json", methods);
      await refuse(stream, 404, "There is nothing here");
    },
  });
  const names = ["127.0.0.1", "localhost", "[::1]"].map((host) => `${host}:${server.port}`);
  own = new Set([server.addr, ...names].map((authority) => `http://${authority}`));
  return server;
}

/** Answers with what does not change. */
async function give(stream: ServerStream, type: string, body: Uint8Array): Promise<void> {
  if (stream.method !== "GET" && stream.method !== "HEAD") {
    await stream.respond(405, { ...HEADERS, allow: "GET, HEAD" });
    return stream.closeWrite();
  }
  await stream.respond(200, {
    ...HEADERS,
    "content-type": type,
    "content-length": `${body.length}`,
  });
  stream.closeWrite(stream.method === "HEAD" ? null : body);
}

async function refuse(stream: ServerStream, status: number, why: string): Promise<void> {
  await stream.respond(status, { ...HEADERS, "content-type": "text/plain" });
  stream.closeWrite(`${why}\n`);
}
