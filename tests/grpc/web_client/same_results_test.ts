/** The same calls by all protocols, formats and versions of HTTP: what comes of them is the same. */
import { assertEquals, assertInstanceOf } from "@std/assert";
import { create, type DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, encodeBinaryHeader } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { Random } from "../../../support/random.ts";

const CALLS = 16;

/** What a handler does, and what its client has to see of it. */
interface Plan {
  readonly method: "SayHello" | "ListReplies" | "SumSizes" | "Chat";
  readonly requests: readonly { name: string; payload: Uint8Array; count: number }[];
  readonly replies: readonly { message: string; payload: Uint8Array }[];
  readonly header: readonly (readonly [string, string])[];
  readonly trailer: readonly (readonly [string, string])[];
  readonly error: null | {
    readonly code: Code;
    readonly message: string;
    readonly details: readonly Request[];
    readonly metadata: readonly (readonly [string, string])[];
  };
}

const WORDS = [
  "",
  "a",
  "größer",
  "\u{1f980} crab",
  "100 %",
  'quo"te\\',
  "line\r\nbreak",
  "x".repeat(3000),
];
const VALUES = ["1", "a, b", "ascii !~", encodeBinaryHeader(Uint8Array.of(0, 255, 7))];
const CODES = Object.values(Code).filter((code) => typeof code === "number");

function bytes(random: Random): Uint8Array {
  const size = random.pick([0, 1, 5, 200, 1100, 70_000]);
  return Uint8Array.from({ length: size }, () => random.below(256));
}

function metadata(random: Random, prefix: string): [string, string][] {
  return Array.from({ length: random.below(3) }, (_, i) => {
    const value = random.pick(VALUES);
    return [`x-${prefix}-${i}${value === VALUES[3] ? "-bin" : ""}`, value];
  });
}

function plan(random: Random): Plan {
  const method = random.pick(["SayHello", "ListReplies", "SumSizes", "Chat"] as const);
  const streams = method === "SumSizes" || method === "Chat";
  const repeats = method === "ListReplies" || method === "Chat";
  const error = random.below(3) > 0 ? null : {
    code: random.pick(CODES),
    message: random.pick(WORDS),
    // Plain gRPC has them in a header, which has its limits.
    details: Array.from(
      { length: random.below(3) },
      () => ({ name: random.pick(WORDS), payload: Uint8Array.of(1, 2), count: random.below(9) }),
    ),
    metadata: metadata(random, "error"),
  };
  return {
    method,
    requests: Array.from({ length: streams ? random.below(4) : 1 }, () => request(random)),
    replies: Array.from(
      { length: repeats ? random.below(5) : error === null ? 1 : 0 },
      () => ({ message: random.pick(WORDS), payload: bytes(random) }),
    ),
    header: metadata(random, "header"),
    trailer: metadata(random, "trailer"),
    error,
  };
}

function request(random: Random): Request {
  return { name: random.pick(WORDS), payload: bytes(random), count: random.below(1000) - 500 };
}

const REQUEST: DescMessage = GREETER.messages.find(({ name }) => name === "Request")!;

/** A server that does what plans say, and keeps the requests of the last call. */
class Performer {
  plan!: Plan;
  received: unknown[] = [];

  readonly #announce = (context: grpc.CallContext): void => {
    for (const [name, value] of this.plan.header) context.responseHeader.append(name, value);
    for (const [name, value] of this.plan.trailer) context.responseTrailer.append(name, value);
  };

  #end(): void {
    const { error } = this.plan;
    if (error === null) return;
    throw new ConnectError(
      error.message,
      error.code,
      new Headers(error.metadata as [string, string][]),
      error.details.map((value) => ({ desc: REQUEST, value: { ...value } })),
    );
  }

  async #take(requests: AsyncIterable<unknown> | unknown): Promise<void> {
    const all = typeof requests === "object" && requests !== null &&
        Symbol.asyncIterator in requests
      ? requests as AsyncIterable<unknown>
      : [requests];
    this.received = [];
    for await (const request of all) this.received.push(request);
  }

  readonly #one = async (requests: unknown, context: grpc.CallContext): Promise<object> => {
    this.#announce(context);
    await this.#take(requests);
    this.#end();
    return this.plan.replies[0]!;
  };

  readonly #many = (): (requests: unknown, context: grpc.CallContext) => AsyncGenerator<object> => {
    // deno-lint-ignore no-this-alias
    const self = this;
    return async function* (requests, context) {
      self.#announce(context);
      await self.#take(requests);
      yield* self.plan.replies;
      self.#end();
    };
  };

  get handlers(): grpc.Handlers {
    return {
      SayHello: this.#one,
      SumSizes: this.#one,
      ListReplies: this.#many(),
      Chat: this.#many(),
    };
  }
}

/** Clients of every kind. */
function* clients(): Generator<Partial<grpc.ClientOptions>> {
  yield { protocol: "grpc" };
  for (const httpVersion of ["1.1", "2"] as const) {
    for (const compress of [false, true]) {
      const common = { httpVersion, compress };
      for (const format of ["binary", "text", "json"] as const) {
        yield { protocol: "grpc-web", format, ...common };
        if (format !== "text") yield { protocol: "connect", format, ...common };
      }
    }
  }
}

interface Outcome {
  messages: unknown[];
  code: Code | null;
  message: string;
  details: unknown[];
  metadata: Headers;
}

async function perform(service: grpc.DynamicService, plan: Plan): Promise<Outcome> {
  const { method, requests } = plan;
  const metadata = new Headers();
  const outcome: Outcome = { messages: [], code: null, message: "", details: [], metadata };
  const add = (headers: Headers) => headers.forEach((value, name) => metadata.append(name, value));
  const options: grpc.CallOptions = { timeout: 60_000, onHeader: add, onTrailer: add };
  try {
    if (method === "SayHello") {
      outcome.messages.push(await service.SayHello(requests[0], options));
    } else {
      const stream = await service[method](options);
      for (const request of requests) await stream.write(request);
      stream.closeWrite();
      for await (const message of stream) outcome.messages.push(message);
    }
  } catch (error) {
    assertInstanceOf(error, ConnectError, String(error));
    outcome.code = error.code;
    outcome.message = error.rawMessage;
    outcome.details = error.findDetails(REQUEST);
    outcome.metadata = error.metadata;
  }
  return outcome;
}

/** Messages as an assertion may print them. */
function short(messages: readonly unknown[]): unknown[] {
  return (messages as readonly Request[]).map(({ payload, ...rest }) => ({
    ...rest,
    payload: `${payload.length}: ${payload.reduce((sum, byte) => (sum * 31 + byte) % 65_521, 7)}`,
  }));
}

function check(plan: Plan, outcome: Outcome, received: unknown[], what: string): void {
  const reply = GREETER.messages.find(({ name }) => name === "Reply")!;
  const { error } = plan;
  const made = (type: DescMessage, messages: readonly object[]): unknown[] =>
    short(messages.map((one) => create(type, { ...one })));
  assertEquals(outcome.code, error?.code ?? null, `${what}: ${outcome.message}`);
  assertEquals(outcome.message, error?.message ?? "", what);
  assertEquals(short(received), made(REQUEST, plan.requests), what);
  assertEquals(short(outcome.messages), made(reply, plan.replies), what);
  assertEquals(short(outcome.details), made(REQUEST, error?.details ?? []), what);
  for (const [name, value] of [...plan.header, ...plan.trailer, ...(error?.metadata ?? [])]) {
    // Padding is for each server to send or not.
    const seen = outcome.metadata.get(name)?.replace(/=+$/, "");
    assertEquals(seen, value.replace(/=+$/, ""), `${what}: ${name}`);
  }
}

Deno.test("what comes of a call is the same by every protocol, format and version of HTTP", async () => {
  const performer = new Performer();
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, performer.handlers);
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, compress: true }),
  });
  let seed = 1;
  for (const options of clients()) {
    await using conn = grpc.newClient({ targets: [`127.0.0.1:${server.port}`], ...options });
    const service = grpc.newService(conn, GREETER);
    const random = new Random(seed++ % 4);
    for (let i = 0; i < CALLS; i++) {
      const next = performer.plan = plan(random);
      const outcome = await perform(service, next);
      check(
        next,
        outcome,
        performer.received,
        `${JSON.stringify(options)} call ${i} ${next.method}`,
      );
    }
  }
});
