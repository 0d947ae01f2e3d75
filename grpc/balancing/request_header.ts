import { Template } from "../../http/engine.ts";
import { ACCEPT_ENCODING, type Encoding } from "../wire/compression.ts";
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
  /** By method, encoding and timeout. */
  readonly #templates = new Map<Method, Map<number | string, Template>>();

  constructor(scheme: "http" | "https", authority: string, userAgent: string) {
    this.#scheme = scheme;
    this.#authority = authority;
    this.#userAgent = userAgent;
  }

  /**
   * The header of one attempt: `timeout` milliseconds for the server, or 0 for no limit; `encoding` if it
   * may send compressed messages; how many attempts there were before, by a policy. Throws `TypeError` if the user's metadata cannot be sent.
   */
  of(
    method: Method,
    timeout: number,
    encoding: Encoding | null,
    previous: number,
    metadata: HeadersInit | undefined,
  ): Template | string[] {
    if (metadata !== undefined || previous > 0) {
      const fields = this.#fields(method, timeout, encoding);
      // "It will not be present on the first RPC, will be 1 for the second RPC, and so on."
      if (previous > 0) fields.push("grpc-previous-rpc-attempts", String(previous));
      if (metadata !== undefined) appendMetadata(fields, metadata);
      return fields;
    }
    let templates = this.#templates.get(method);
    if (templates === undefined) this.#templates.set(method, templates = new Map());
    const key = encoding === null ? timeout : encoding + timeout;
    let template = templates.get(key);
    if (template === undefined) {
      template = new Template(this.#fields(method, timeout, encoding));
      if (templates.size < MAX_TEMPLATES_PER_METHOD) templates.set(key, template);
    }
    return template;
  }

  /** "Request-Headers → Call-Definition *Custom-Metadata"; `grpc-timeout` right after the pseudo-fields. */
  #fields(method: Method, timeout: number, encoding: Encoding | null): string[] {
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
    if (encoding !== null) fields.push("grpc-encoding", encoding);
    return fields;
  }
}
