import { Template } from "../../http/engine.ts";
import { ACCEPT_ENCODING } from "../wire/compression.ts";
import { GRPC_CONTENT_TYPE } from "../wire/content_type.ts";
import { appendMetadata } from "../wire/metadata.ts";
import type { Method } from "../wire/method.ts";
import { formatTimeout } from "../wire/timeout.ts";

/** Templates kept for one method: timeouts are few in most programs. */
const MAX_TEMPLATES_PER_METHOD = 64;

/** The request headers of calls to one authority; those without metadata are encoded once. */
export class RequestHeader {
  readonly #authority: string;
  readonly #scheme: string;
  readonly #userAgent: string;
  readonly #plain = new Map<Method, Map<number, Template>>();
  readonly #gzip = new Map<Method, Map<number, Template>>();

  constructor(scheme: "http" | "https", authority: string, userAgent: string) {
    this.#scheme = scheme;
    this.#authority = authority;
    this.#userAgent = userAgent;
  }

  /**
   * The header of one attempt: `timeout` milliseconds for the server, or 0 for no limit; `gzip` if it may
   * send compressed messages; how many attempts there were before, by a policy. Throws `TypeError` if the user's metadata cannot be sent.
   */
  of(
    method: Method,
    timeout: number,
    gzip: boolean,
    previous: number,
    metadata: HeadersInit | undefined,
  ): Template | string[] {
    if (metadata !== undefined || previous > 0) {
      const fields = this.#fields(method, timeout, gzip);
      // "It will not be present on the first RPC, will be 1 for the second RPC, and so on."
      if (previous > 0) fields.push("grpc-previous-rpc-attempts", String(previous));
      if (metadata !== undefined) appendMetadata(fields, metadata);
      return fields;
    }
    const templates = gzip ? this.#gzip : this.#plain;
    let byTimeout = templates.get(method);
    if (byTimeout === undefined) templates.set(method, byTimeout = new Map());
    let template = byTimeout.get(timeout);
    if (template === undefined) {
      template = new Template(this.#fields(method, timeout, gzip));
      if (byTimeout.size < MAX_TEMPLATES_PER_METHOD) byTimeout.set(timeout, template);
    }
    return template;
  }

  /** "Request-Headers → Call-Definition *Custom-Metadata"; `grpc-timeout` right after the pseudo-fields. */
  #fields(method: Method, timeout: number, gzip: boolean): string[] {
    const fields = [
      ":method",
      "POST",
      ":scheme",
      this.#scheme,
      ":path",
      method.path,
      ":authority",
      this.#authority,
    ];
    if (timeout > 0) fields.push("grpc-timeout", formatTimeout(timeout));
    fields.push(
      "te",
      "trailers",
      "content-type",
      GRPC_CONTENT_TYPE,
      "user-agent",
      this.#userAgent,
      "grpc-accept-encoding",
      ACCEPT_ENCODING,
    );
    if (gzip) fields.push("grpc-encoding", "gzip");
    return fields;
  }
}
