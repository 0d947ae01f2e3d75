/**
 * A page that shows a server at work: what it is asked, how fast it answers, who is connected.
 *
 * @module
 */
import { checkOptions, optionNames, shownValue } from "../message/options.ts";
import type { Handler } from "../server/handler.ts";
import type { HttpServer } from "../server/options.ts";
import { viewOf } from "../server/server.ts";
import type { ServerView } from "../server/server_view.ts";
import type { ServerStream } from "../server/stream.ts";
import { BUCKETS, CallCounts, MAX_NAMES } from "./call_counts.ts";
import { PAGE, SCRIPT, STYLE } from "./texts.ts";

/** Connections that are shown, and streams of each. */
const MAX_CLIENTS = 100;
const MAX_STREAMS = 50;

/** Settings of {@linkcode debugPage}. */
export interface DebugPageOptions {
  /** Path of the page, with a slash at both ends. @default {"/"} */
  readonly path?: string;
  /**
   * Names the page is called by, besides addresses and localhost. Others are refused: anybody may
   * have a name point here.
   * @default none
   */
  readonly hosts?: readonly string[];
}

const NAMES = optionNames<DebugPageOptions>({ path: true, hosts: true });
const WHAT = "make a debug page";

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "vary": "origin, sec-fetch-site",
};

/**
 * Makes a handler that serves a live page of a server: calls by method with rate, errors and latency,
 * connections with windows and streams. Calls are counted from now on; a server without such a page
 * counts none.
 *
 * The page has no login. Mount it where nobody but you comes: on a port of loopback, or behind a check
 * of your own. It refuses to be read by pages of other origins.
 *
 * @throws {TypeError} If the server is none of this module's own engine, or an option is wrong.
 *
 * @example
 * ```ts
 * import { debugPage, get, listen } from "@sluice/sluice/http";
 *
 * await using server = listen({ addr: "127.0.0.1:0", handler: () => new Response("hello") });
 * await using admin = listen({ addr: "127.0.0.1:0", handler: debugPage(server) });
 * const page = await get(`http://${admin.addr}/`, { connection: "close" });
 * page.status; // 200
 * ```
 */
export function debugPage(
  server: Pick<HttpServer, "addr" | "close">,
  options: DebugPageOptions = {},
): Handler {
  checkOptions(WHAT, NAMES, options);
  const { path = "/", hosts = [] } = options;
  if (typeof path !== "string" || !/^\/(?:[\w.~-]+\/)*$/.test(path)) {
    throw new TypeError(
      `Cannot ${WHAT} as path must begin and end with a slash: current value is ${
        shownValue(path)
      }`,
    );
  }
  if (!Array.isArray(hosts) || hosts.some((host) => typeof host !== "string")) {
    throw new TypeError(`Cannot ${WHAT} as hosts must be a list of names`);
  }
  const names = new Set(hosts.map((host: string) => host.toLowerCase()));
  const view = viewOf(server);
  if (view === null) {
    throw new TypeError(
      `Cannot ${WHAT} as its server must be one of http.listen or grpc.listen with engine "own"`,
    );
  }
  const counts = view.recorder(() => new CallCounts(view.now));
  const since = view.now();
  const files: { readonly [path: string]: () => readonly [type: string, body: string] } = {
    [path]: () => ["text/html; charset=utf-8", PAGE],
    [`${path}style.css`]: () => ["text/css; charset=utf-8", STYLE],
    [`${path}main.js`]: () => ["text/javascript; charset=utf-8", SCRIPT],
    [`${path}data.json`]: () => ["application/json", JSON.stringify(stateOf(view, counts, since))],
  };
  return (stream: ServerStream): void => {
    const refusal = refusalOf(stream, names);
    if (refusal !== null) return answer(stream, refusal[0], "text/plain", `${refusal[1]}\n`);
    if (`${stream.path}/` === path) {
      stream.respond(308, { ...HEADERS, location: path });
      return stream.closeWrite();
    }
    if (!Object.hasOwn(files, stream.path)) {
      return answer(stream, 404, "text/plain", "There is nothing here\n");
    }
    const [type, body] = files[stream.path]!();
    answer(stream, 200, type, body);
  };
}

function answer(stream: ServerStream, status: number, type: string, body: string): void {
  const allow = status === 405 ? { allow: "GET, HEAD" } : {};
  stream.respond(status, { ...HEADERS, ...allow, "content-type": type });
  stream.closeWrite(body);
}

/** Why a request is not answered; null if it is. */
function refusalOf(
  stream: ServerStream,
  names: ReadonlySet<string>,
): readonly [status: number, why: string] | null {
  if (!isOwnName(stream.authority, names)) {
    return [421, "Call this page by its address or as localhost, or name its host in hosts"];
  }
  const { origin, "sec-fetch-site": site } = stream.header;
  const own = `${stream.scheme}://${stream.authority}`;
  // Browsers say whose page asks; a page of another origin has no business here.
  if (
    (origin !== undefined && origin !== own) ||
    (site !== undefined && site !== "same-origin" && site !== "none")
  ) return [403, "This page is not for pages of other origins"];
  if (stream.method !== "GET" && stream.method !== "HEAD") return [405, "GET or HEAD"];
  return null;
}

/** Whether a host is an address, localhost, or one of the names: others anybody may lend it. */
function isOwnName(authority: string, names: ReadonlySet<string>): boolean {
  const host = authority.replace(/:\d+$/, "");
  return host === "localhost" || /^\d+\.\d+\.\d+\.\d+$/.test(host) || host.startsWith("[") ||
    names.has(host);
}

/** All that the page shows. */
function stateOf(view: ServerView, counts: CallCounts, since: number): object {
  return {
    addr: view.addr,
    ms: view.now() - since,
    connections: view.connections,
    handlers: view.handlers,
    buckets: BUCKETS,
    limits: { names: MAX_NAMES, clients: MAX_CLIENTS, streams: MAX_STREAMS },
    calls: counts.list(),
    clients: view.clients(MAX_CLIENTS, MAX_STREAMS),
  };
}
