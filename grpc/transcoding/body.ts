/**
 * Bodies of requests: one message of JSON, lines of them, or bytes that are none.
 *
 * @module
 */
import {
  create,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { Code, ConnectError } from "@connectrpc/connect";
import { BodyBuffer, ready } from "../../http/engine.ts";
import type { ServerStream } from "../../http/mod.ts";
import { wholeBody, withCallErrors } from "../web/request_body.ts";
import { decompress } from "../wire/compression.ts";
import type { Binding } from "./binding.ts";
import { LongIntegers, parseBoundedJson } from "./json.ts";
import type { TranscodingSettings } from "./options.ts";
import { badRequest, Refusal } from "./refusal.ts";

/** How bodies are read. */
export interface BodySettings extends TranscodingSettings {
  /** Bytes a message may have, in JSON. */
  readonly maxReceiveSize: number;
  /** Types that may come in an `Any`. */
  readonly registry: Registry;
}

const JSON_TYPE = /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i;
const LINES_TYPE = /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-seq)\s*(?:;|$)/i;

/** Characters of a fault of JSON that its error shows. */
const MAX_FAULT = 300;

const decoder = new TextDecoder("utf-8", { fatal: true });
const NEWLINE = 0x0a;

/** A message whose bytes are the body itself. */
export function isHttpBody(desc: DescMessage | undefined): boolean {
  return desc?.typeName === "google.api.HttpBody";
}

/** The message that a body holds, if it is not JSON. */
function rawTarget({ body, method }: Binding): DescMessage | null {
  const desc = body.kind === "message"
    ? method.desc.input
    : body.kind === "field" && body.field.fieldKind === "message"
    ? body.field.message
    : undefined;
  return desc !== undefined && isHttpBody(desc) ? desc : null;
}

/** Requests of a call that takes one, made of the body alone. */
export async function readRequest(
  stream: ServerStream,
  binding: Binding,
  settings: BodySettings,
): Promise<Message> {
  const { input } = binding.method.desc;
  const raw = rawTarget(binding);
  const bytes = await readWhole(stream, settings.maxReceiveSize);
  if (raw !== null) return withRaw(binding, raw, stream, bytes);
  if (binding.body.kind === "none") {
    const text = bytes.length === 0 ? "" : textOf(bytes).trim();
    if (text !== "" && text !== "{}") throw badRequest("this request takes no body");
    return create(input);
  }
  if (bytes.length === 0) return create(input);
  checkType(stream, JSON_TYPE, "application/json");
  return messageOf(binding, textOf(bytes), settings);
}

/** Requests of a call that takes many: a line of JSON each, or pieces of bytes as they come. */
export async function* readRequests(
  stream: ServerStream,
  binding: Binding,
  settings: BodySettings,
): AsyncGenerator<Message> {
  if (binding.body.kind === "none") return yield await readRequest(stream, binding, settings);
  const raw = rawTarget(binding);
  if (codingOf(stream) !== "identity") {
    throw new Refusal("a stream of requests must not be compressed", Code.Unimplemented, 415);
  }
  if (raw !== null) {
    for await (const piece of withCallErrors(stream)) {
      // A kept message must not change with the buffer it came in.
      yield withRaw(binding, raw, stream, piece.slice());
    }
    return;
  }
  if (!stream.hasBody) return;
  if (!LINES_TYPE.test(stream.header["content-type"] ?? "")) {
    checkType(stream, JSON_TYPE, "application/x-ndjson");
  }
  for await (const line of lines(withCallErrors(stream), settings.maxReceiveSize)) {
    const text = textOf(line);
    if (text.trim() === "") continue;
    const turn = ready();
    if (turn !== undefined) await turn;
    yield messageOf(binding, text, settings);
  }
}

/** Lines of a body. Throws RESOURCE_EXHAUSTED when one is longer than `limit` bytes. */
async function* lines(
  source: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  const line = new BodyBuffer();
  for await (const piece of source) {
    for (let at = 0; at < piece.length;) {
      const found = piece.indexOf(NEWLINE, at);
      const end = found < 0 ? piece.length : found;
      if (line.length + end - at > limit) throw tooLarge(limit);
      line.push(piece, at, end);
      at = end + 1;
      if (found >= 0) yield line.takeAll();
    }
  }
  if (line.length > 0) yield line.takeAll();
}

async function readWhole(stream: ServerStream, limit: number): Promise<Uint8Array> {
  const coding = codingOf(stream);
  if (coding !== "identity" && coding !== "gzip" && coding !== "deflate") {
    throw new Refusal(
      "content-encoding must be gzip or deflate, or none",
      Code.Unimplemented,
      415,
      { "accept-encoding": "gzip, deflate" },
    );
  }
  try {
    for await (const bytes of wholeBody(withCallErrors(stream), limit)) {
      if (coding === "identity" || bytes.length === 0) return bytes;
      return decompress(coding, bytes, limit);
    }
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    if (error.code === Code.ResourceExhausted) throw tooLarge(limit);
    if (error.code === Code.Internal) throw badRequest(`the body must be ${coding}`);
    throw error;
  }
  return new Uint8Array();
}

function codingOf(stream: ServerStream): string {
  return (stream.header["content-encoding"] ?? "identity").trim().toLowerCase() || "identity";
}

function tooLarge(limit: number): Refusal {
  return new Refusal(
    `a request must have <= ${limit} bytes (maxReceiveSize)`,
    Code.ResourceExhausted,
    413,
  );
}

/** Refuses types that a page of another site could send without asking. */
function checkType(stream: ServerStream, type: RegExp, wanted: string): void {
  const given = stream.header["content-type"];
  if (given !== undefined && type.test(given)) return;
  throw new Refusal(
    `content-type must be ${wanted}: current value is ${
      given === undefined ? "none" : JSON.stringify(given.slice(0, 100))
    }`,
    Code.InvalidArgument,
    415,
  );
}

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw badRequest("the body must be UTF-8");
  }
}

function messageOf({ body, method }: Binding, text: string, settings: BodySettings): Message {
  const long = new LongIntegers();
  const json = parseBoundedJson(text, settings.maxDepth, long);
  const whole: JsonValue = body.kind === "field"
    ? { [body.field.jsonName]: json } as JsonObject
    : json;
  long.restore(method.desc.input, whole);
  const { ignoreUnknownFields, registry } = settings;
  try {
    return fromJson(method.desc.input, whole, { ignoreUnknownFields, registry });
  } catch (error) {
    throw badRequest((error as Error).message.slice(0, MAX_FAULT));
  }
}

function withRaw(
  { body, method }: Binding,
  desc: DescMessage,
  stream: ServerStream,
  data: Uint8Array,
): Message {
  const contentType = stream.header["content-type"] ?? "";
  const held = create(desc, { contentType, data } as Record<string, unknown>);
  if (body.kind !== "field") return held;
  const request = create(method.desc.input);
  reflect(method.desc.input, request).set(body.field, reflect(desc, held));
  return request;
}
