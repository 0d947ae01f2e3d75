/**
 * One call by HTTP and JSON: from its request to the end of its response.
 *
 * @module
 */
import type { Registry } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import { abort, Countdown, type Time } from "../../http/engine.ts";
import { HeadersTooLargeError, type ServerStream } from "../../http/mod.ts";
import { expose } from "../web/cors.ts";
import { type CallExchange, EXCHANGE, headersOf } from "../web/exchange.ts";
import { chooseEncoding, type Encoding } from "../wire/compression.ts";
import {
  type CallErrorListener,
  type ServerErrorListener,
  tellHandlerError,
} from "../wire/handler_error.ts";
import { toStatusError } from "../wire/status.ts";
import { parseTimeout } from "../wire/timeout.ts";
import { acceptedCodings, streamForm } from "./accept.ts";
import type { Binding } from "./binding.ts";
import { type BodySettings, readRequest, readRequests } from "./body.ts";
import { requestMetadata, responseFields, trailerFields } from "./metadata.ts";
import { decodeSegment, decodeSegments } from "./percent.ts";
import { readQuery, setPath } from "./query.ts";
import { badRequest, httpStatus, Refusal, statusJson } from "./refusal.ts";
import { ReplyWriter } from "./reply.ts";
import { isMulti, rawVariable } from "./template.ts";

/** Settings of calls by transcoding. */
export interface RestSettings extends BodySettings {
  readonly maxSendSize: number;
  /** Compress responses for clients that accept it. */
  readonly compress: boolean;
  readonly encoding: Encoding | undefined;
  /** Origins whose scripts may call. */
  readonly cors: readonly string[];
  readonly registry: Registry;
  /** See `CallSettings.onError`. */
  readonly onError: CallErrorListener;
}

/** A registered handler, as {@linkcode implementation} gives it. */
export type Run = (request: unknown, context: HandlerContext) => unknown;

/** A call, with its exchange. */
export class RestCall implements CallExchange {
  readonly acceptedEncodings: readonly string[];
  readonly encoding: Encoding | null;
  compressing: boolean;
  readonly stream: ServerStream;
  readonly onError: ServerErrorListener;
  readonly time: Time;
  readonly #settings: RestSettings;
  readonly #binding: Binding;
  /** Segments of the path. */
  readonly #segments: readonly string[];
  readonly #header: Headers;
  readonly #writer: ReplyWriter;
  readonly #controller = new AbortController();
  #deadline: Countdown | null = null;
  #head: Promise<void> | null = null;

  constructor(
    stream: ServerStream,
    binding: Binding,
    segments: readonly string[],
    settings: RestSettings,
    onError: ServerErrorListener,
    time: Time,
  ) {
    this.stream = stream;
    this.onError = onError;
    this.time = time;
    this.#settings = settings;
    this.#binding = binding;
    this.#segments = segments;
    this.#header = headersOf(stream);
    this.acceptedEncodings = acceptedCodings(this.#header.get("accept-encoding"));
    this.encoding = settings.compress || stream.compress
      ? chooseEncoding(this.acceptedEncodings, settings.encoding)
      : null;
    this.compressing = this.encoding !== null;
    this.#writer = new ReplyWriter(binding, settings);
  }

  /** How the call ended; set by the call, or by what was refused before it. */
  outcome: 0 | ConnectError | undefined = undefined;

  /** Tells the user of an error that is no status; replaced by the call when it begins. */
  tellError = (error: unknown): void => {
    const { path } = this.#binding.method;
    tellHandlerError(error, path, this.#settings.onError, this.onError, this.stream);
  };

  /** Runs the handler and answers. Rejects if the client is gone. */
  async serve(run: Run): Promise<void> {
    const { stream } = this;
    const end = (): void => abort(this.#controller, stream.signal.reason);
    if (stream.signal.aborted) end();
    else stream.signal.addEventListener("abort", end, { once: true });
    try {
      const context = this.#context();
      const { method } = this.#binding;
      const request = method.clientStreams ? this.#requests() : await this.#request();
      if (method.serverStreams) {
        await this.#answerStream(run(request, context) as AsyncIterable<unknown>, context);
      } else await this.#answer(await run(request, context), context);
    } catch (error) {
      if (stream.aborted) return stream.abort();
      await this.#fail(this.outcome = this.#statusOf(error));
    } finally {
      stream.signal.removeEventListener("abort", end);
      this.#deadline?.stop();
    }
  }

  /** Makes what a handler's context is made of. */
  #context(): HandlerContext {
    const { stream, time } = this;
    const { desc } = this.#binding.method;
    const timeout = this.#header.get("grpc-timeout");
    const ms = timeout === null ? undefined : parseTimeout(timeout.trim());
    if (ms === -1) {
      throw badRequest("grpc-timeout must be 1 to 8 digits and one of H, M, S, m, u, n");
    }
    const due = ms === undefined ? undefined : time.clock.now() + ms;
    if (ms !== undefined) {
      const end = (): void =>
        abort(this.#controller, new ConnectError("the deadline passed", Code.DeadlineExceeded));
      if (ms === 0) end();
      else this.#deadline = new Countdown(time, ms, end);
    }
    const values: ContextValues = createContextValues().set(EXCHANGE, this);
    return {
      service: desc.parent,
      method: desc,
      protocolName: "rest",
      requestMethod: stream.method,
      url: stream.url,
      signal: this.#controller.signal,
      timeoutMs: () => due === undefined ? undefined : due - time.clock.now(),
      requestHeader: requestMetadata(this.#header, this.#settings.requestHeaders, stream),
      responseHeader: new Headers(),
      responseTrailer: new Headers(),
      values,
    };
  }

  // ---- requests --------------------------------------------------------------------------------

  async #request(): Promise<object> {
    const request = await readRequest(this.stream, this.#binding, this.#settings);
    this.#bind(request as never);
    return request;
  }

  async *#requests(): AsyncGenerator<object> {
    for await (const request of readRequests(this.stream, this.#binding, this.#settings)) {
      this.#bind(request as never);
      yield request;
    }
  }

  /** Sets what stands in the query and in the path. */
  #bind(request: Parameters<typeof readQuery>[0]): void {
    const { template, variables, method } = this.#binding;
    const { maxDepth } = this.#settings;
    readQuery(request, this.#binding, this.stream.target, this.#settings);
    const message = reflect(method.desc.input, request);
    for (const variable of variables) {
      const raw = rawVariable(template, variable, this.#segments);
      const text = isMulti(template, variable) ? decodeSegments(raw) : decodeSegment(raw);
      setPath(message, variable.fields, text, maxDepth);
    }
  }

  // ---- responses -------------------------------------------------------------------------------

  /** Sends the head before the first response, if it is known by then. */
  sendHead(status: number, header: Headers): Promise<void> {
    if (this.#head === null && !this.#writer.isRaw) {
      this.#head = this.#respond(status, this.#streamType, header);
      // Handlers need not wait for it.
      this.#head.catch(() => {});
    }
    return this.#head ?? Promise.resolve();
  }

  get #isEvents(): boolean {
    return streamForm(this.#header.get("accept") ?? undefined) === "events";
  }

  get #streamType(): string {
    return this.#isEvents ? "text/event-stream" : "application/x-ndjson";
  }

  async #answer(reply: unknown, context: HandlerContext): Promise<void> {
    const { stream } = this;
    const { type, bytes } = this.#writer.body(reply);
    stream.compress = this.compressing;
    await this.#respond(200, type, context.responseHeader);
    this.#close(bytes, context);
  }

  async #answerStream(replies: AsyncIterable<unknown>, context: HandlerContext): Promise<void> {
    const { stream } = this;
    const isEvents = this.#isEvents;
    for await (const reply of replies) {
      if (this.#writer.isRaw) {
        const { type, bytes } = this.#writer.body(reply);
        this.#head ??= this.#respond(200, type, context.responseHeader);
        await this.#head;
        await stream.write(bytes);
        continue;
      }
      const text = this.#writer.text(reply);
      await this.sendHead(200, context.responseHeader);
      await stream.write(isEvents ? `data: ${text}\n\n` : `{"result":${text}}\n`);
    }
    this.#head ??= this.#respond(
      200,
      this.#writer.isRaw ? "application/octet-stream" : this.#streamType,
      context.responseHeader,
    );
    await this.#head;
    // Browsers would open the stream again if its end was not told of.
    const end = isEvents && !this.#writer.isRaw ? "event: end\ndata: {}\n\n" : null;
    this.#close(end, context);
  }

  #close(body: Uint8Array | string | null, { responseTrailer }: HandlerContext): void {
    const wanted = /(?:^|,)\s*trailers\s*(?:[,;]|$)/i.test(this.#header.get("te") ?? "");
    const trailers = wanted ? trailerFields(responseTrailer) : [];
    if (trailers.length === 0) this.stream.closeWrite(body);
    else this.stream.closeWrite(body, new Headers(trailers.map(([name, value]) => [name, value])));
  }

  async #respond(status: number, type: string, metadata: Headers): Promise<void> {
    const fields = this.#fields(type);
    for (const [name, value] of responseFields(metadata, this.#settings.responseHeaders)) {
      fields.append(name, value);
    }
    if (type === "text/event-stream") fields.set("cache-control", "no-store");
    this.#expose(fields);
    try {
      return await this.stream.respond(status, fields);
    } catch (error) {
      if (!(error instanceof HeadersTooLargeError)) throw error;
      // The call keeps its status: what the handler added is left out.
      this.tellError(error);
      const least = this.#fields(type);
      this.#expose(least);
      await this.stream.respond(status, least);
    }
  }

  #fields(type: string): Headers {
    return new Headers({ "content-type": type });
  }

  #expose(fields: Headers): void {
    const { cors } = this.#settings;
    if (cors.length > 0) expose(cors, this.#header, fields);
  }

  // ---- errors ----------------------------------------------------------------------------------

  #statusOf(error: unknown): ConnectError {
    const status = toStatusError(error);
    if (status !== error) this.tellError(error);
    return status;
  }

  async #fail(error: ConnectError): Promise<void> {
    const { stream } = this;
    const text = JSON.stringify(statusJson(error, this.#settings.registry));
    if (stream.responded) {
      if (stream.finished) return;
      if (this.#writer.isRaw) return stream.abort();
      stream.closeWrite(
        this.#isEvents ? `event: error\ndata: ${text}\n\n` : `{"error":${text}}\n`,
      );
      return;
    }
    const fields = this.#fields("application/json");
    const own = Refusal.statusOf(error) !== undefined;
    const plain = own ? null : this.#settings.responseHeaders;
    for (const [name, value] of error.metadata) {
      if (own || name === "www-authenticate") fields.set(name, value);
      else {for (const field of responseFields(new Headers([[name, value]]), plain!)) {
          fields.append(...field);
        }}
    }
    const status = httpStatus(error);
    if (status === 401 && !fields.has("www-authenticate")) fields.set("www-authenticate", "Bearer");
    this.#expose(fields);
    await stream.respond(status, fields).catch(async (fault) => {
      if (!(fault instanceof HeadersTooLargeError)) throw fault;
      this.tellError(fault);
      await stream.respond(status, { "content-type": "application/json" });
    });
    stream.closeWrite(text);
  }
}
