/**
 * A response that was read whole.
 *
 * @module
 */
import { type FlatHeaders, type HeaderObject, headerObject } from "../message/headers.ts";
import { excerpt, type Inspect } from "../message/inspect.ts";

const utf8 = new TextDecoder();
const encoder = new TextEncoder();

/** Makes a response of what came. */
let httpResponse: (
  status: number,
  version: "HTTP/1.1" | "HTTP/2",
  url: string,
  redirects: number,
  fields: FlatHeaders,
  trailers: FlatHeaders,
  body: string | Uint8Array,
) => HttpResponse;
export { httpResponse };

/** Response of `get`, `post` and their kin, read whole. */
export class HttpResponse {
  /** Status code. */
  readonly status: number;
  /** `HTTP/1.1` or `HTTP/2`. */
  readonly version: "HTTP/1.1" | "HTTP/2";
  /** URL that answered, after redirects, without user information. */
  readonly url: string;
  /** Redirects followed. */
  readonly redirects: number;
  readonly #fields: FlatHeaders;
  readonly #trailers: FlatHeaders;
  #header: HeaderObject | undefined;
  #body: string | null;
  #bytes: Uint8Array | null;

  private constructor(
    status: number,
    version: "HTTP/1.1" | "HTTP/2",
    url: string,
    redirects: number,
    fields: FlatHeaders,
    trailers: FlatHeaders,
    body: string | Uint8Array,
  ) {
    this.status = status;
    this.version = version;
    this.url = url;
    this.redirects = redirects;
    this.#fields = fields;
    this.#trailers = trailers;
    this.#body = typeof body === "string" ? body : null;
    this.#bytes = typeof body === "string" ? null : body;
  }

  static {
    httpResponse = (status, version, url, redirects, fields, trailers, body) =>
      new HttpResponse(status, version, url, redirects, fields, trailers, body);
  }

  /** Whether the status is 200..299. */
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** Header fields; keys in lower case, repeated ones joined, `set-cookie` an array. */
  get header(): HeaderObject {
    return this.#header ??= headerObject(this.#fields);
  }

  /** Trailer fields. */
  get trailers(): HeaderObject {
    return headerObject(this.#trailers);
  }

  /** The body as text, in the charset its content-type names (UTF-8 if none that is known). */
  get body(): string {
    return this.#body ??= decoderFor(this.header["content-type"]).decode(this.#bytes!);
  }

  /** The body's bytes. */
  get bytes(): Uint8Array {
    return this.#bytes ??= encoder.encode(this.#body!);
  }

  /**
   * The body as JSON.
   *
   * @throws {SyntaxError} If it is not JSON; the message says what came instead.
   */
  json<T = unknown>(): T {
    return parseJson(this.body, this.status, this.url, this.header["content-type"]) as T;
  }

  /** Text for `console.log`. */
  [Symbol.for("Deno.customInspect")](inspect: Inspect, options: unknown): string {
    const { status, version, url, redirects, header } = this;
    return `HttpResponse ${
      inspect(
        { status, version, url, redirects, header: { ...header }, body: excerpt(this.body) },
        options,
      )
    }`;
  }
}

/** Characters of a body that is not JSON that its error shows. */
const MAX_SHOWN = 60;

/**
 * Reads a response's body as JSON.
 *
 * @throws {SyntaxError} If it is not JSON.
 */
export function parseJson(
  text: string,
  status: number,
  url: string,
  type: string | undefined,
): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
    // A query may hold secrets, which have no place in logs.
    throw new SyntaxError(
      `Cannot read body as JSON: ${
        cause instanceof Error ? cause.message : cause
      }: response ${status} of ${url.split("?")[0]} is ${type ?? "of no content-type"}, ${
        JSON.stringify(shown)
      }`,
      { cause },
    );
  }
}

/** The decoder for a content-type's charset. */
export function decoderFor(type: string | undefined): TextDecoder {
  const charset = type === undefined ? null : /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type);
  if (charset === null || /^utf-?8$/i.test(charset[1]!)) return utf8;
  try {
    return new TextDecoder(charset[1]);
  } catch {
    return utf8;
  }
}
