import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Buffer } from "node:buffer";
import type { ClientExchange, IncomingHead } from "../../http/engine.ts";
import { ACCEPT_ENCODING, decompress, isKnownEncoding } from "../wire/compression.ts";
import { code } from "../wire/code.ts";
import { codeFromHttpStatus, lastField } from "../wire/status.ts";
import { MAX_END_SIZE, WebAttempt } from "./attempt.ts";
import { parseJson, readConnectError } from "./connect_error.ts";
import { connectTimeout } from "./connect_timeout.ts";
import { userFields } from "./protocol_fields.ts";

/** Encodings as `accept-encoding` has them: "identity" goes without saying. */
const ACCEPTED = ACCEPT_ENCODING.replace("identity,", "");

/** Bytes of path and query up to which a call is made by GET: what servers and proxies take. */
const MAX_GET_PATH = 7000;

/** Put before the names of trailers, which stand in the head. */
const TRAILER = "trailer-";

/**
 * An attempt by Connect of a call with one request and one response: plain HTTP, of which an error
 * shows in the status.
 * {@link https://connectrpc.com/docs/protocol#unary-rpcs-get}
 */
export class ConnectUnaryAttempt extends WebAttempt {
  protected override readonly names = ["Connect", "application/proto"] as const;
  /** Whether the request is compressed. */
  #compressed = false;
  /** The request as a query, if the call is made by GET. */
  #query: string | null = null;

  get #codec(): string {
    return this.host.format === "json" ? "json" : "proto";
  }

  override get method(): string {
    return this.#query === null ? "POST" : "GET";
  }

  override get path(): string {
    return this.#query === null ? super.path : super.path + this.#query;
  }

  protected override protocolFields(timeout: number): string[] {
    const fields = ["accept-encoding", ACCEPTED];
    if (timeout > 0) fields.push("connect-timeout-ms", connectTimeout(timeout));
    if (this.#query !== null) return fields;
    fields.push("content-type", `application/${this.#codec}`, "connect-protocol-version", "1");
    const { encoding } = this.call;
    if (this.#compressed && encoding !== null) fields.push("content-encoding", encoding);
    return fields;
  }

  protected override frame(bytes: Uint8Array, compressed: boolean): Uint8Array {
    this.#compressed = compressed;
    const { desc } = this.call.method;
    if (this.host.httpGet && desc.idempotency === NO_SIDE_EFFECTS) {
      const query = this.#queryOf(bytes);
      if (super.path.length + query.length <= MAX_GET_PATH) {
        this.#query = query;
        return new Uint8Array(0);
      }
    }
    return bytes.slice();
  }

  #queryOf(bytes: Uint8Array): string {
    const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64url");
    const compression = this.#compressed ? `&compression=${this.call.encoding}` : "";
    return `?connect=v1&base64=1${compression}&encoding=${this.#codec}&message=${message}`;
  }

  protected override async receive(head: IncomingHead, exchange: ClientExchange): Promise<void> {
    const { header, trailers } = parted(head.fields);
    const type = lastField(head.fields, "content-type") ?? "";
    if (head.status !== 200) return await this.#fail(head, exchange, type);
    const codec = /^application\/([^;\s]+)\s*(?:;.*)?$/i.exec(type)?.[1]?.toLowerCase();
    if (codec !== this.#codec) {
      const isOther = codec === "proto" || codec === "json";
      await this.refuse(head, exchange, isOther ? code.INTERNAL : undefined);
    }
    this.header = header;
    const { maxReceiveSize, events } = this.call;
    const body = this.#plain(
      head,
      await this.whole(exchange, head, maxReceiveSize),
      maxReceiveSize,
    );
    if (this.over) return;
    events.onHeader(header);
    if (this.over) return;
    this.deliver(body);
    this.finish(null, trailers, header);
  }

  /** Fails with the error in the body, else with what the status says. */
  async #fail(head: IncomingHead, exchange: ClientExchange, type: string): Promise<void> {
    if (!/^application\/json\s*(?:;.*)?$/i.test(type)) return await this.refuse(head, exchange);
    const body = this.#plain(head, await this.whole(exchange, head, MAX_END_SIZE), MAX_END_SIZE);
    const { header, trailers } = parted(head.fields);
    // All that the head says comes with the status: no response has begun.
    const fields = [...header, ...trailers];
    const json = parseJson(body);
    const error = readConnectError(json, codeFromHttpStatus(head.status), fields);
    if (error === null) {
      throw this.fault(
        `the server sent HTTP status ${head.status} with an error that is not Connect's`,
        codeFromHttpStatus(head.status),
      );
    }
    this.finish(error, fields, []);
  }

  #plain({ fields }: IncomingHead, body: Uint8Array, limit: number): Uint8Array {
    const encoding = (lastField(fields, "content-encoding") ?? "identity").toLowerCase();
    if (encoding === "identity") return body;
    if (!isKnownEncoding(encoding)) {
      throw this.fault(`response has content-encoding ${JSON.stringify(encoding)}`);
    }
    return body.length === 0 ? body : decompress(encoding, body, limit);
  }
}

const NO_SIDE_EFFECTS = MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

/** Header and trailers, which stand in one list. */
function parted(fields: readonly string[]): { header: string[]; trailers: string[] } {
  const header: string[] = [];
  const trailers: string[] = [];
  const own = userFields(fields);
  for (let i = 0; i < own.length; i += 2) {
    const name = own[i]!;
    if (name === TRAILER) continue;
    if (name.startsWith(TRAILER)) trailers.push(name.slice(TRAILER.length), own[i + 1]!);
    else header.push(name, own[i + 1]!);
  }
  return { header, trailers };
}
