/**
 * Answers of a store to requests that are no calls of gRPC.
 *
 * @module
 */
import type { Handler, HeadersInput } from "../../../http/mod.ts";
import type { Node } from "../node.ts";
import type { Service } from "../services/table.ts";
import { Gateway } from "./gateway.ts";
import { pageOf } from "./pages.ts";

/** Options of {@linkcode gatewayHandler}. */
interface HandlerOptions {
  readonly node: Node;
  readonly services: readonly Service[];
  /** Origins whose pages may ask; `*` for all. */
  readonly cors: readonly string[];
}

/** Bytes of a request beside those that are limited: names, and what frames them. */
const OVERHEAD_BYTES = 512 * 1024;

const TEXT = { "content-type": "text/plain; charset=utf-8" };

/** Makes the handler. */
export function gatewayHandler({ node, services, cors }: HandlerOptions): Handler {
  // Base64 takes 4 bytes for 3.
  const maxBytes = Math.ceil(node.limits.maxRequestBytes * 4 / 3) + OVERHEAD_BYTES;
  const gateway = new Gateway(services, maxBytes);
  return (stream) => {
    const { origin } = stream.header;
    const headers = origin === undefined ? {} : corsHeaders(origin, cors);
    const end = (status: number, type: HeadersInput, body: string): void => {
      stream.respond(status, { ...headers, ...type });
      stream.closeWrite(body);
    };
    // A page of another site could ask without its user's knowledge, and write what it cannot read.
    if (headers === null) return end(403, TEXT, `Origin ${origin} is not allowed\n`);
    if (stream.method === "OPTIONS") return end(200, {}, "");
    if (stream.path.startsWith("/v3/")) return gateway.answer(stream, headers);
    const page = pageOf(node, stream.path, new URLSearchParams(stream.target.split("?", 2)[1]));
    if (page === undefined) return end(404, TEXT, "404 page not found\n");
    if (stream.method !== "GET") return end(405, { ...TEXT, allow: "GET" }, "Method Not Allowed\n");
    return end(page.status, { "content-type": page.type }, page.body);
  };
}

/** The fields by which pages of an origin may read answers; null if they may not ask. */
function corsHeaders(origin: string, cors: readonly string[]): Record<string, string> | null {
  const allowed = cors.includes("*") ? "*" : cors.find((one) => one === origin);
  if (allowed === undefined) return null;
  return {
    "access-control-allow-origin": allowed,
    "access-control-allow-methods": "POST, GET, OPTIONS, PUT, DELETE",
    "access-control-allow-headers": "accept, content-type, authorization",
    vary: "origin",
  };
}
