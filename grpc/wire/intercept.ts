/**
 * The chain of interceptors around a call, the same on servers and on clients: who is asked in which
 * order, and what each may hand on.
 *
 * @module
 */
import {
  create,
  type DescMessage,
  isMessage,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { isUncompressed, uncompressed } from "./compressed_messages.ts";
import type { Codec } from "../codec/mod.ts";
import type { Method } from "./method.ts";

/** Runs a call, or what is left of it behind an interceptor. */
export type Next = Parameters<Interceptor>[0];
/** A call's request in Connect's terms. */
export type AnyRequest = Parameters<Next>[0];
/** A call's response in Connect's terms. */
export type AnyResponse = Awaited<ReturnType<Next>>;

/**
 * Copies a list of interceptors.
 *
 * @param what What they are for: "Cannot `what` as …".
 * @throws {TypeError} If it is no list of functions.
 */
export function interceptorsOf(what: string, given: unknown): readonly Interceptor[] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.some((one) => typeof one !== "function")) {
    throw new TypeError(`Cannot ${what} as interceptors must be a list of functions`);
  }
  return [...given];
}

/**
 * Puts interceptors around the innermost step of a call, the first of them outermost. What they hand
 * to each other is looked at: each fault is a `TypeError` that names the method.
 */
export function intercept(
  method: Method,
  interceptors: readonly Interceptor[],
  innermost: Next,
): Next {
  return interceptors.reduceRight<Next>((inner, interceptor) => {
    const outer: unknown = interceptor(inner);
    if (typeof outer !== "function") {
      throw new TypeError(
        `Cannot intercept ${method.path} as an interceptor must return a function of a request: current value is ${
          shown(outer)
        }`,
      );
    }
    return checked(method, outer as Next);
  }, checked(method, innermost));
}

function checked(method: Method, run: Next): Next {
  return async (request) => {
    const isStream = method.desc.methodKind !== "unary";
    if (!isHandedOn(request, isStream) || !(request.header instanceof Headers)) {
      throw misfit(method, "next must be given a request with header and message", request);
    }
    const response = await run(request);
    if (
      !isHandedOn(response, isStream) || !(response.header instanceof Headers) ||
      !(response.trailer instanceof Headers)
    ) {
      throw misfit(
        method,
        "an interceptor must return a response with header, message and trailer",
        response,
      );
    }
    return response;
  };
}

/** Whether a value is a request or a response with what its kind of method takes. */
function isHandedOn(value: AnyRequest | AnyResponse, isStream: boolean): boolean {
  if (typeof value !== "object" || value === null || value.stream !== isStream) return false;
  const { message } = value;
  return typeof message === "object" && message !== null &&
    (!isStream || Symbol.asyncIterator in message);
}

function misfit(method: Method, rule: string, value: unknown): TypeError {
  return new TypeError(
    `Cannot run ${method.path} as ${rule}${
      method.desc.methodKind === "unary" ? "" : ", messages being an async iterable"
    }: current value is ${shown(value)}`,
  );
}

function shown(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return `an object with ${Object.keys(value).join(", ") || "nothing"}`;
}

/**
 * The whole message that stands for what a user gave: interceptors see every field.
 *
 * @throws {TypeError} If it does not fit its type.
 */
export function wholeMessage(codec: Codec, given: unknown): Message {
  const { desc }: { readonly desc: DescMessage } = codec;
  if (isMessage(given, desc)) return given;
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`Cannot encode ${desc.typeName}: expected an object, got ${shown(given)}`);
  }
  // Protobuf-es passes over names that are no fields.
  codec.encode(given);
  const message = create(desc, given as Record<string, unknown>);
  return isUncompressed(given) ? uncompressed(message) : message;
}

/** A message whose mark Connect would lose as it makes it whole; others as they are. */
export function markedMessage<T extends DescMessage>(
  desc: T,
  given: MessageInitShape<T>,
): MessageInitShape<T> {
  return isUncompressed(given) && !isMessage(given, desc)
    ? uncompressed(create(desc, given) as MessageInitShape<T> & object)
    : given;
}

/** Whole messages of an iterable. */
export async function* wholeMessages(
  codec: Codec,
  given: AsyncIterable<unknown>,
): AsyncGenerator<Message> {
  for await (const message of given) yield wholeMessage(codec, message);
}

/**
 * The only message of an iterable.
 *
 * @throws {TypeError} If there is none, or more than one.
 */
export async function onlyMessage(
  method: Method,
  noun: "request" | "response",
  messages: AsyncIterable<unknown>,
): Promise<unknown> {
  let only: unknown = undefined;
  let count = 0;
  for await (const message of messages) {
    if (++count > 1) break;
    only = message;
  }
  if (count === 1) return only;
  throw new TypeError(
    `Cannot run ${method.path} as interceptors must hand on one ${noun}: they handed on ${
      count === 0 ? "none" : "more"
    }`,
  );
}

/**
 * Requests as interceptors get them. Those of a method that takes one can be read by every call of
 * `next`; a stream is gone once it was read.
 */
export class InterceptedRequests implements AsyncIterable<never> {
  readonly #method: Method;
  readonly #source: AsyncIterable<unknown>;
  /** Calls of the innermost step. */
  #calls = 0;
  /** The call that read the stream. */
  #readBy = 0;
  /** Requests of a method that takes one, as they were read. */
  readonly #kept: Promise<IteratorResult<unknown>>[] = [];
  #iterator: AsyncIterator<unknown> | null = null;

  constructor(method: Method, source: AsyncIterable<unknown>) {
    this.#method = method;
    this.#source = source;
  }

  /** The innermost step is called. */
  called(): void {
    this.#calls++;
  }

  [Symbol.asyncIterator](): AsyncIterator<never> {
    if (!this.#method.clientStreams) return this.#again() as AsyncGenerator<never>;
    const call = Math.max(this.#calls, 1);
    if (this.#readBy !== 0 && this.#readBy !== call) {
      throw new TypeError(
        `Cannot call next twice of ${this.#method.path} as its requests are a stream that was read: keep them, and give next an iterable of them`,
      );
    }
    this.#readBy = call;
    return this.#source[Symbol.asyncIterator]() as AsyncIterator<never>;
  }

  async *#again(): AsyncGenerator<unknown> {
    this.#iterator ??= this.#source[Symbol.asyncIterator]();
    for (let i = 0;; i++) {
      const { done, value } = await (this.#kept[i] ??= this.#iterator.next());
      if (done) return;
      yield value;
    }
  }
}
