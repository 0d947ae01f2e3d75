/**
 * Cross-origin requests of browsers to gRPC-Web and Connect: which origins may, and what their
 * scripts may see.
 * {@link https://fetch.spec.whatwg.org/#http-cors-protocol}
 *
 * @module
 */
import { cors } from "@connectrpc/connect";

/** Seconds a browser may remember the answer to a preflight; Chromium takes no more. */
const MAX_AGE_S = 7200;

/** Checks origins given by users. Throws `TypeError` on what no browser sends. */
export function checkOrigins(origins: readonly string[]): readonly string[] {
  if (!Array.isArray(origins)) {
    throw new TypeError("Cannot use cors as it must be a list of origins");
  }
  for (const origin of origins) {
    if (origin === "*" || URL.canParse(origin) && new URL(origin).origin === origin) continue;
    throw new TypeError(
      `Cannot use cors as each origin must be "*" or scheme://host[:port]: current value is ${
        JSON.stringify(origin)
      }`,
    );
  }
  return origins;
}

function allowed(origins: readonly string[], origin: string | null): origin is string {
  return origin !== null && (origins.includes(origin) || origins.includes("*"));
}

/** The answer to a preflight of a path with these methods, or null if its origin may not call. */
export function preflight(
  origins: readonly string[],
  request: Headers,
  methods: string = cors.allowedMethods.join(", "),
): Record<string, string> | null {
  const origin = request.get("origin");
  if (!allowed(origins, origin)) return null;
  // Metadata are named by the application: what the browser asks for is what it will send.
  const names = request.get("access-control-request-headers") ?? cors.allowedHeaders.join(", ");
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": methods,
    "access-control-allow-headers": names,
    "access-control-max-age": String(MAX_AGE_S),
    "vary": "origin, access-control-request-headers",
  };
}

/** Adds to a response's fields what lets a script see them all. */
export function expose(origins: readonly string[], request: Headers, response: Headers): void {
  response.append("vary", "origin");
  const origin = request.get("origin");
  if (!allowed(origins, origin)) return;
  const names = new Set([...cors.exposedHeaders.map((name) => name.toLowerCase())]);
  for (const [name] of response) names.add(name);
  response.set("access-control-allow-origin", origin);
  response.set("access-control-expose-headers", [...names].join(", "));
}
