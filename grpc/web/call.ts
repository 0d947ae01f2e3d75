import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues, type HandlerContext } from "@connectrpc/connect";
import { abort, checkBoolean, Countdown } from "../../http/engine.ts";
import type { Call } from "../wire/call_context.ts";
import { isUncompressed } from "../wire/compressed_messages.ts";
import { FieldList } from "../wire/field_list.ts";
import { type CallErrorListener, tellHandlerError } from "../wire/handler_error.ts";
import { Metadata } from "../wire/metadata.ts";
import type { Method } from "../wire/method.ts";
import { decodeMessage, encodeMessage } from "../wire/percent.ts";
import { addErrorMetadata, codeFault, isCode, toStatusError } from "../wire/status.ts";
import { type CallExchange, EXCHANGE } from "./exchange.ts";

/**
 * Bytes of metadata in a response's head and at its end: what clients of HTTP take, with room for
 * fields that are not the user's.
 */
const MAX_METADATA_SIZE = 60 << 10;

/**
 * A call as its handler sees it, on Connect's context. What the handler sets goes to Connect when it
 * is sent, as far as it can be sent.
 */
export class WebCall implements Call {
  readonly method: Method;
  readonly #context: HandlerContext;
  readonly #onError: CallErrorListener;
  #responseHeader: Metadata | null = null;
  #responseTrailer: Metadata | null = null;
  #headerCommitted = false;
  /** Whether responses are compressed, if the handler has said so. */
  #compress: boolean | undefined = undefined;
  #abort: AbortController | null = null;
  /** A deadline of the server's own: when it passes, and what waits for it. */
  #limit: { readonly end: number; readonly countdown: Countdown } | null = null;

  constructor(method: Method, context: HandlerContext, onError: CallErrorListener) {
    this.method = method;
    this.#context = context;
    this.#onError = onError;
    this.#exchange.tellError = (error) => this.tellError(error);
  }

  get protocolName(): string {
    return this.#context.protocolName;
  }

  get requestMethod(): string {
    return this.#context.requestMethod;
  }

  get requestHeader(): Headers {
    return this.#context.requestHeader;
  }

  get url(): string {
    return this.#context.url;
  }

  get peer(): string {
    return this.#exchange.stream.remoteAddr;
  }

  /** The call's own: what listeners of it throw stays here. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get #controller(): AbortController {
    if (this.#abort === null) {
      const own = this.#abort = new AbortController();
      const { signal } = this.#context;
      if (signal.aborted) own.abort(signal.reason);
      else signal.addEventListener("abort", () => abort(own, signal.reason), { once: true });
    }
    return this.#abort;
  }

  get values(): ContextValues {
    return this.#context.values;
  }

  get requestEncoding(): string {
    const header = this.#context.requestHeader;
    return header.get("grpc-encoding") ?? header.get("connect-content-encoding") ??
      header.get("content-encoding") ?? "identity";
  }

  get acceptedEncodings(): readonly string[] {
    return this.#exchange.acceptedEncodings;
  }

  get responseEncoding(): string {
    return this.#exchange.encoding ?? "identity";
  }

  /** Connect has chosen before the handler is called. */
  set responseEncoding(_encoding: string) {}

  get compress(): boolean {
    return this.#compress ?? this.#exchange.encoding !== null;
  }

  set compress(compress: boolean) {
    checkBoolean(`answer ${this.method.path}`, "compress", compress);
    this.#compress = compress;
  }

  /** The response that is sent next. */
  sending(message: object): void {
    this.#exchange.compressing = this.compress && !isUncompressed(message);
  }

  now(): number {
    return this.#exchange.time.clock.now();
  }

  remainingMs(): number | undefined {
    const asked = this.#context.timeoutMs() ?? Infinity;
    const left = (this.#limit?.end ?? Infinity) - this.now();
    const ms = Math.min(asked, left);
    return ms === Infinity ? undefined : Math.max(0, Math.ceil(ms));
  }

  limit(ms: number): void {
    if (this.signal.aborted || ms >= (this.remainingMs() ?? Infinity)) return;
    const { time } = this.#exchange;
    const controller = this.#controller;
    const end = (): void =>
      abort(controller, new ConnectError("the deadline passed", Code.DeadlineExceeded));
    this.#limit?.countdown.stop();
    if (ms === 0) return end();
    this.#limit = { end: this.now() + ms, countdown: new Countdown(time, ms, end) };
  }

  /** The call is over. */
  ended(): void {
    this.#limit?.countdown.stop();
    this.#exchange.outcome ??= 0;
  }

  get responseHeader(): Headers {
    return this.#responseHeader ??= new Metadata();
  }

  get responseTrailer(): Headers {
    return this.#responseTrailer ??= new Metadata();
  }

  /** Where the head of a single response shows how the call went, it cannot go ahead of that. */
  sendHeader(): void {
    if (this.protocolName === "connect" && this.method.desc.methodKind === "unary") return;
    if (this.protocolName === "rest" && !this.method.serverStreams) return;
    this.commitHeader();
    this.#exchange.sendHead(200, this.#context.responseHeader);
  }

  /** Takes over the header fields the handler has set: they are sent from now on. */
  commitHeader(): void {
    if (this.#headerCommitted) return;
    this.#headerCommitted = true;
    this.#commit(this.#responseHeader, this.#context.responseHeader);
  }

  /** Takes over header and trailer fields: the response ends. */
  commit(): void {
    this.commitHeader();
    this.#commit(this.#responseTrailer, this.#context.responseTrailer);
  }

  #commit(metadata: Metadata | null, target: Headers): void {
    if (metadata === null) return;
    const list = new FieldList([], MAX_METADATA_SIZE);
    list.offerAll(metadata);
    for (let i = 0; i < list.fields.length; i += 2) {
      target.append(list.fields[i]!, list.fields[i + 1]!);
    }
    this.#tellFaults(list);
  }

  #tellFaults({ faults }: FieldList): void {
    for (const error of faults) this.tellError(error);
  }

  /** Tells the user of an error that is no status. */
  tellError(error: unknown): void {
    const { onError, stream } = this.#exchange;
    tellHandlerError(error, this.method.path, this.#onError, onError, stream);
  }

  /** The error the call ends with, as Connect can send it. */
  failure(error: unknown): ConnectError {
    return this.#exchange.outcome = this.#failure(error);
  }

  #failure(error: unknown): ConnectError {
    this.commit();
    const signal = this.#abort?.signal ?? this.#context.signal;
    if (signal.aborted) {
      const { reason } = signal;
      return reason instanceof ConnectError
        ? reason
        : new ConnectError("the client is gone", Code.Canceled, undefined, undefined, reason);
    }
    const status = toStatusError(error);
    if (status !== error) this.tellError(error);
    return this.#sendable(status);
  }

  #sendable(error: ConnectError): ConnectError {
    const list = new FieldList([], MAX_METADATA_SIZE);
    const valid = isCode(error.code);
    if (!valid) list.refuse(codeFault(error.code));
    addErrorMetadata(list, error);
    const metadata = new Headers();
    for (let i = 0; i < list.fields.length; i += 2) {
      metadata.append(list.fields[i]!, list.fields[i + 1]!);
    }
    const sent = new ConnectError(
      this.protocolName === "grpc-web"
        ? decodeMessage(encodeMessage(error.rawMessage))
        : error.rawMessage.toWellFormed(),
      valid ? error.code : Code.Unknown,
      metadata,
      undefined,
      error,
    );
    sent.details = error.details.filter((detail) => {
      try {
        if ("desc" in detail) toBinary(detail.desc, create(detail.desc, detail.value));
        return "desc" in detail ||
          (typeof detail.type === "string" && detail.value instanceof Uint8Array);
      } catch {
        return false;
      }
    });
    if (sent.details.length < error.details.length) {
      list.refuse(
        new TypeError("Cannot send the details of a ConnectError as they do not fit their types"),
      );
    }
    this.#tellFaults(list);
    return sent;
  }

  get #exchange(): CallExchange {
    return this.#context.values.get(EXCHANGE)!;
  }
}
