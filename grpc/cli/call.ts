/**
 * Calls a method: requests as they are read, responses as they come.
 *
 * @module
 */
import { create, type DescMethod, type Message, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { closestName } from "../../http/engine.ts";
import type { CallOptions } from "../client/call_options.ts";
import type { CallStream } from "../client/call_stream.ts";
import { newService } from "../client/service.ts";
import { type Flags, type Given, UsageError } from "./arguments.ts";
import { headerLines, metadataOf } from "./headers.ts";
import { jsonString } from "./go_text.ts";
import { messageJson } from "./message_json.ts";
import { messageText } from "./message_text.ts";
import type { Operation } from "./operation.ts";
import { protoSource } from "./proto_source.ts";
import { decoded, SEPARATOR, typedRequests } from "./requests.ts";
import { fetchExtensions, isNotFound, type Schema } from "./schema.ts";
import { durationText, Timing } from "./timing.ts";

/** Exit codes of calls that fail are the status's behind this: grpcurl's. */
const STATUS_OFFSET = 64;

/** Flags of calls, besides those of whatever talks to a server. */
export const CALL_FLAGS: Flags = {
  d: { type: "string", value: "DATA", about: "requests; @ reads them from standard input" },
  format: {
    type: "string",
    value: "json|text",
    words: ["json", "text"],
    about: "format of requests and responses (json)",
  },
  "rpc-header": {
    type: "list",
    value: "HEADER",
    about: "'name: value' to send with the call alone",
  },
  "allow-unknown-fields": { type: "boolean", about: "passes over fields that the request has not" },
  "emit-defaults": { type: "boolean", about: "writes fields that are not set, too" },
  "format-error": { type: "boolean", about: "writes an error in the format of -format" },
  v: { type: "boolean", about: "tells of the method, metadata and counts" },
  vv: { type: "boolean", about: "tells of sizes and times, too" },
};

/** The format asked for. */
export function formatOf(given: Given): "json" | "text" {
  const format = given.text("format") ?? "json";
  if (format === "json" || format === "text") return format;
  throw new UsageError(`-format must be json or text: it is ${JSON.stringify(format)}`);
}

/** Calls the method that `symbol` names. */
export async function call(operation: Operation): Promise<number> {
  const method = await methodOf(operation.symbol!, operation.setup.source);
  const { input, output } = method;
  const { source } = operation.setup;
  for (const type of [input, output]) await fetchExtensions(source, type);
  return await new Invocation(operation, method).run();
}

async function methodOf(symbol: string, source: Schema): Promise<DescMethod> {
  const at = symbol.includes("/") ? symbol.lastIndexOf("/") : symbol.lastIndexOf(".");
  const [service, name] = [symbol.slice(0, at).replace(/^[/.]/, ""), symbol.slice(at + 1)];
  if (at <= 0 || service === "" || name === "") {
    throw new Error(
      `given method name ${
        JSON.stringify(symbol)
      } is not in expected format: 'service/method' or 'service.method'`,
    );
  }
  const desc = await source.find(service).catch(async (error) => {
    if (!isNotFound(error)) throw error;
    const names = await source.services().catch(() => []);
    const near = closestName(service, names);
    const hint = near !== null
      ? `: did you mean ${JSON.stringify(near)}?`
      : names.length > 0
      ? `: it has ${names.slice(0, 20).join(", ")}`
      : "";
    throw new Error(`target server does not expose service ${JSON.stringify(service)}${hint}`);
  });
  if (desc.kind !== "service") {
    throw new Error(
      `target server does not expose service ${JSON.stringify(service)}: it is ${desc.toString()}`,
    );
  }
  const method = desc.methods.find((one) => one.name === name);
  if (method !== undefined) return method;
  const names = desc.methods.map((one) => one.name);
  const near = closestName(name, names);
  throw new Error(
    `service ${JSON.stringify(service)} does not include a method named ${JSON.stringify(name)}: ${
      near !== null
        ? `did you mean ${JSON.stringify(near)}?`
        : `it has ${names.join(", ") || "none"}`
    }`,
  );
}

// deno-lint-ignore no-explicit-any
type AnyCall = (...args: any[]) => any;

class Invocation {
  readonly #operation: Operation;
  readonly #method: DescMethod;
  readonly #format: "json" | "text";
  readonly #verbosity: 0 | 1 | 2;
  #sent = 0;
  #received = 0;
  #headers: Headers | null = null;
  #trailers = new Headers();
  /** Output that callbacks have begun. */
  #printed: Promise<void> = Promise.resolve();

  constructor(operation: Operation, method: DescMethod) {
    const { given } = operation;
    this.#operation = operation;
    this.#method = method;
    this.#format = formatOf(given);
    this.#verbosity = given.has("vv") ? 2 : given.has("v") ? 1 : 0;
  }

  async run(): Promise<number> {
    const { given, world, setup } = this.#operation;
    const timing = new Timing();
    const metadata = metadataOf(["H", "rpc-header"], given, world);
    if (this.#verbosity > 0) {
      await this.#print(`\nResolved method descriptor:\n${protoSource(this.#method)}\n`);
      await this.#print(`\nRequest metadata to send:\n${headerLines(metadata)}\n`);
    }
    const connected = await setup.connected();
    const client = newService(connected.conn, this.#method.parent) as Readonly<
      Record<string, AnyCall>
    >;
    const timeLeft = this.#operation.timeLeft();
    // A request that cannot be read ends the call.
    const aborted = new AbortController();
    const options: CallOptions = {
      headers: new Headers(metadata),
      signal: AbortSignal.any([world.interrupted, aborted.signal]),
      ...(timeLeft === Infinity ? {} : { timeout: timeLeft }),
      onHeader: (headers) => this.#onHeaders(headers),
      onTrailer: (trailers) => this.#trailers = trailers,
    };
    const error = await this.#invoke(client[this.#method.name]!, options, aborted);
    if (setup.dialFault(error) !== null || world.interrupted.aborted) throw error;
    await this.#printed;
    if (this.#verbosity > 0) {
      if (this.#headers === null && error !== null) {
        await this.#print("\nResponse headers received:\n(empty)\n");
      }
      await this.#print(`\nResponse trailers received:\n${headerLines([...this.#trailers])}\n`);
      await this.#print(
        `Sent ${counted(this.#sent, "request")} and received ${
          counted(this.#received, "response")
        }\n`,
      );
    }
    if (error !== null) return await this.#fail(error);
    if (this.#verbosity > 1) {
      await this.#print(
        `Timing Data: ${durationText(this.#operation.started.taken)}\n  Dial: ${
          durationText(connected.dialTime ?? 0)
        }\n  InvokeRPC: ${durationText(timing.taken)}\n`,
      );
    }
    return 0;
  }

  /** Makes the call; gives the status it ended with, if that is none of a success. */
  async #invoke(
    call: AnyCall,
    options: CallOptions,
    aborted: AbortController,
  ): Promise<ConnectError | null> {
    const requests = this.#requests();
    const { methodKind } = this.#method;
    // Requests are read before the call begins: one that is wrong is never sent.
    const only = methodKind === "unary" || methodKind === "server_streaming"
      ? await this.#onlyRequest(requests)
      : null;
    try {
      if (methodKind === "unary") {
        await this.#onResponse(await call(only, options));
        return null;
      }
      using stream: CallStream<Message, Message> = only === null
        ? await call(options)
        : await call(only, options);
      const sending = only === null ? this.#send(requests, stream, aborted) : Promise.resolve();
      sending.catch(() => {});
      try {
        for await (const response of stream) await this.#onResponse(response);
      } catch (error) {
        if (aborted.signal.aborted) throw aborted.signal.reason;
        throw error;
      }
      // Input that still waits is not wanted any more.
      aborted.signal.throwIfAborted();
      return null;
    } catch (error) {
      if (error instanceof ConnectError) return error;
      throw error;
    }
  }

  async #send(
    requests: AsyncIterator<Message>,
    stream: CallStream<Message, Message>,
    aborted: AbortController,
  ): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await requests.next();
        if (done) return stream.closeWrite();
        this.#sent++;
        await stream.write(value);
      }
    } catch (error) {
      // The end of the call is told where responses are read.
      if (!(error instanceof ConnectError)) aborted.abort(error);
    }
  }

  #requests(): AsyncGenerator<Message> {
    const { given, world, setup } = this.#operation;
    const data = given.text("d") ?? "";
    const input = data === "@" ? decoded(world.input()) : once(data);
    return typedRequests(input, this.#method.input, setup.source, {
      format: this.#format,
      allowUnknownFields: given.has("allow-unknown-fields"),
    });
  }

  async #onlyRequest(requests: AsyncIterator<Message>): Promise<Message> {
    const first = await requests.next();
    if (first.done) return create(this.#method.input);
    this.#sent++;
    const second = await requests.next();
    if (second.done) return first.value;
    const kind = this.#method.methodKind === "unary" ? "a unary" : "a server-streaming";
    throw new Error(
      `method "${this.#method.parent.typeName}.${this.#method.name}" is ${kind} RPC, but request data contained more than 1 message`,
    );
  }

  #onHeaders(headers: Headers): void {
    this.#headers = headers;
    if (this.#verbosity === 0) return;
    this.#printed = this.#print(`\nResponse headers received:\n${headerLines([...headers])}\n`);
  }

  async #onResponse(response: Message): Promise<void> {
    await this.#printed;
    const { output } = this.#method;
    this.#received++;
    if (this.#verbosity > 1) {
      const { length } = toBinary(output, response);
      await this.#print(`\nEstimated response size: ${length} bytes\n`);
    }
    if (this.#verbosity > 0) await this.#print("\nResponse contents:\n");
    // So that the output may be another call's input.
    const separator = this.#format === "text" && this.#verbosity === 0 && this.#received > 1
      ? SEPARATOR
      : "";
    await this.#print(`${separator}${await this.#formatted(response)}\n`);
  }

  async #formatted(response: Message): Promise<string> {
    const { output } = this.#method;
    const { source } = this.#operation.setup;
    if (this.#format === "text") return messageText(output, response, source.registry);
    const emitDefaults = this.#operation.given.has("emit-defaults");
    await fetchTypesOfAny(response, source);
    return messageJson(output, response, { registry: source.registry, emitDefaults });
  }

  async #fail(error: ConnectError): Promise<number> {
    const { given, world, setup: { source } } = this.#operation;
    const details: string[] = [];
    for (const detail of error.details) {
      if (!("type" in detail)) continue;
      const any = create(AnySchema, {
        typeUrl: `type.googleapis.com/${detail.type}`,
        value: detail.value,
      });
      await fetchTypesOfAny(any, source);
      details.push(
        this.#format === "text"
          ? messageText(AnySchema, any, source.registry)
          : messageJson(AnySchema, any, { registry: source.registry, emitDefaults: false }),
      );
    }
    world.complain(
      given.has("format-error")
        ? statusText(error, details, this.#format)
        : statusLines(error, details),
    );
    return STATUS_OFFSET + error.code;
  }

  #print(text: string): Promise<void> {
    return this.#operation.world.print(text);
  }
}

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Fetches the types of all `Any` in a message, those inside of others too. */
async function fetchTypesOfAny(message: unknown, source: Schema): Promise<void> {
  if (typeof message !== "object" || message === null || message instanceof Uint8Array) return;
  const { $typeName, typeUrl } = message as { $typeName?: unknown; typeUrl?: unknown };
  if ($typeName === "google.protobuf.Any" && typeof typeUrl === "string") {
    const name = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
    if (name === "" || source.registry.getMessage(name) !== undefined) return;
    // One that is not known is shown as its bytes.
    const found = await source.find(name).catch(() => undefined);
    if (found?.kind === "message") await fetchExtensions(source, found).catch(() => {});
    return;
  }
  for (const value of Object.values(message)) await fetchTypesOfAny(value, source);
}

/** Names of codes as grpc-go writes them. */
function codeText(code: Code): string {
  return code === Code.Canceled ? "Canceled" : Code[code] ?? `Code(${code})`;
}

function statusLines(error: ConnectError, details: readonly string[]): string {
  const lines = ["ERROR:", `  Code: ${codeText(error.code)}`, `  Message: ${error.rawMessage}`];
  if (details.length > 0) lines.push("  Details:");
  details.forEach((detail, i) => {
    const prefix = `  ${i + 1})`;
    const [first, ...rest] = detail.split("\n");
    lines.push(
      `${prefix}\t${first}`,
      ...rest.map((line) => `${" ".repeat(prefix.length)}\t${line}`),
    );
  });
  return lines.join("\n");
}

/** `google.rpc.Status` as text. */
function statusText(
  { code, rawMessage }: ConnectError,
  details: readonly string[],
  format: "json" | "text",
): string {
  if (format === "text") {
    const inner = details.map((detail) => `details: <\n${indented(detail)}\n>`);
    return [`code: ${code}`, `message: ${JSON.stringify(rawMessage)}`, ...inner].join("\n");
  }
  const fields = [`  "code": ${code}`, `  "message": ${jsonString(rawMessage)}`];
  if (details.length > 0) {
    fields.push(`  "details": [\n${details.map(indented).map(indented).join(",\n")}\n  ]`);
  }
  return `{\n${fields.join(",\n")}\n}`;
}

function indented(text: string): string {
  return text.split("\n").map((line) => `  ${line}`).join("\n");
}
