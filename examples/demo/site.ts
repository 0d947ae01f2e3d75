// The demo's one port: the page, its socket, and the service.

import { type grpc, http } from "@sluice/sluice";
import { COMMAND_LIMITS } from "./command.ts";
import { formsOf } from "../../grpc/cli/web/form.ts";
import { type Backend, runSession } from "./session.ts";

/** Pages served at once. */
const MAX_SESSIONS = 32;

const SCRIPT = "text/javascript; charset=utf-8";
/** Parts of the page that the command of gRPC has, too. */
const SHARED = "../../../grpc/cli/page";
const FILES: { readonly [path: string]: readonly [file: string, type: string] } = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/style.css": ["style.css", "text/css; charset=utf-8"],
  "/icon.svg": ["icon.svg", "image/svg+xml"],
  "/main.js": ["main.js", SCRIPT],
  "/live.js": ["live.js", SCRIPT],
  "/grpc/cli/page/element.js": [`${SHARED}/element.js`, SCRIPT],
  "/keys.js": ["keys.js", SCRIPT],
  "/lock.js": ["lock.js", SCRIPT],
  "/call.js": ["call.js", SCRIPT],
  "/grpc/cli/page/form.js": [`${SHARED}/form.js`, SCRIPT],
  "/grpc/cli/page/connect.js": [`${SHARED}/connect.js`, SCRIPT],
  "/chart.js": ["chart.js", SCRIPT],
};

const HEADERS = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

/** Starts to serve. */
export async function serveSite(
  addr: string,
  registrar: grpc.Registrar,
  backend: Backend,
): Promise<http.HttpServer> {
  const bodies = new Map<string, Uint8Array>();
  await Promise.all(
    Object.entries(FILES).map(async ([path, [file]]) => {
      // `fetch` reads beside this module, be it a file or a URL.
      const response = await fetch(new URL(`page/${file}`, import.meta.url));
      bodies.set(path, await response.bytes());
    }),
  );
  const forms = new TextEncoder().encode(JSON.stringify(formsOf(registrar.services)));
  let sessions = 0;

  /** Answers with what does not change. */
  async function give(stream: http.ServerStream, type: string, body: Uint8Array): Promise<void> {
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

  async function refuse(stream: http.ServerStream, status: number, why: string): Promise<void> {
    await stream.respond(status, { ...HEADERS, "content-type": "text/plain" });
    stream.closeWrite(`${why}\n`);
  }

  async function live(stream: http.ServerStream): Promise<void> {
    // Browsers open sockets for any page, and say for which.
    const { origin } = stream.header;
    if (origin !== undefined && origin !== `${stream.scheme}://${stream.authority}`) {
      return await refuse(stream, 403, "This socket is for this page only");
    }
    if (sessions >= MAX_SESSIONS) return await refuse(stream, 503, "Too many pages are open");
    const socket = await stream.upgradeWebSocket({
      maxMessageBytes: COMMAND_LIMITS.messageBytes,
    });
    sessions++;
    try {
      await runSession(socket, backend);
    } finally {
      sessions--;
    }
  }

  return http.listen({
    addr,
    registrar,
    limits: { maxBodyBytes: 1 << 20, drainTimeout: 1_000 },
    handler: async (stream) => {
      if (!isOwnName(stream.authority)) {
        return await refuse(stream, 421, "Call this page by its address or as localhost");
      }
      const file = Object.hasOwn(FILES, stream.path) ? FILES[stream.path] : undefined;
      if (file !== undefined) return await give(stream, file[1], bodies.get(stream.path)!);
      if (stream.path === "/methods.json") return await give(stream, "application/json", forms);
      if (stream.path === "/live") return await live(stream);
      await refuse(stream, 404, "There is nothing here");
    },
  });
}

/** Whether a host is an address or localhost: other names may be lent to this address by anybody. */
function isOwnName(authority: string): boolean {
  const host = authority.replace(/:\d+$/, "");
  return host === "localhost" || /^\d+\.\d+\.\d+\.\d+$/.test(host) || host.startsWith("[");
}
