/**
 * Interceptors of both sides against a model: which sees what in which order, and what becomes of what
 * each changes, throws or answers.
 */
import { assertEquals } from "@std/assert";
import { create, type DescService } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextKey,
  createClient,
  createContextKey,
  type Interceptor,
} from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { Random } from "../../../support/random.ts";
import { webClient } from "../../../support/web_client.ts";

const SERVICE = GREETER.services[0] as DescService;

const KINDS = ["SayHello", "ListReplies", "SumSizes", "Chat"] as const;
type Kind = typeof KINDS[number];

const CLIENTS = ["by hand", "connect's on gRPC", "grpc-web", "connect"] as const;
type ClientKind = typeof CLIENTS[number];

/** Values that interceptors of one side leave for those behind them. */
const SEEN: ContextKey<readonly string[]> = createContextKey<readonly string[]>([]);

const EFFECTS = [
  "request header",
  "value",
  "request message",
  "replaced request header",
  "response message",
  "response header",
  "response trailer",
  "replaced response header",
] as const;
const ENDS = ["throw before", "throw after", "throw within", "throw plainly", "answer"] as const;

/** What one interceptor does. */
interface Part {
  readonly id: string;
  readonly effects: readonly (typeof EFFECTS[number])[];
  readonly end: typeof ENDS[number] | null;
}

// ---- the model -----------------------------------------------------------------------------------

interface Call {
  readonly names: readonly string[];
  readonly header: readonly string[];
  readonly values: readonly string[];
}

interface Outcome {
  readonly messages: readonly string[];
  readonly header: readonly string[];
  readonly trailer: readonly string[];
  /** The responses break off with this. */
  readonly broken?: Code;
}

/** What a call that fails ends with. */
class Failure {
  readonly code: Code;
  constructor(code: Code) {
    this.code = code;
  }
}

function model(
  kind: Kind,
  parts: readonly Part[],
  call: Call,
  end: (call: Call) => Outcome,
): Outcome {
  const [part, ...rest] = parts;
  if (part === undefined) return end(call);
  const { id, effects } = part;
  if (part.end === "throw before") throw new Failure(Code.Aborted);
  if (part.end === "throw plainly") throw new Failure(Code.Unknown);
  if (part.end === "answer") return { messages: [`early ${id}`], header: [id], trailer: [id] };
  const given = { ...call };
  for (const effect of effects) {
    if (effect === "request header") given.header = [...given.header, id];
    if (effect === "replaced request header") given.header = [id];
    if (effect === "value") given.values = [...given.values, id];
    if (effect === "request message") given.names = given.names.map((name) => name + id);
  }
  const outcome: { -readonly [K in keyof Outcome]: Outcome[K] } = model(kind, rest, given, end);
  if (part.end === "throw after") throw new Failure(Code.DataLoss);
  if (part.end === "throw within") {
    if (kind === "SayHello") throw new Failure(Code.OutOfRange);
    outcome.broken = Code.OutOfRange;
  }
  for (const effect of effects) {
    if (effect === "response header") outcome.header = [...outcome.header, id];
    if (effect === "response trailer") outcome.trailer = [...outcome.trailer, id];
    if (effect === "response message") outcome.messages = outcome.messages.map((one) => id + one);
    if (effect === "replaced response header") {
      // A stream's handler has not set its own yet, and does so behind the new ones.
      outcome.header = [...outcome.header, `${id}!`];
    }
  }
  return outcome;
}

function handled(kind: Kind, { names, header, values }: Call): Outcome {
  const tail = `|${header.join(",")}|${values.join(",")}`;
  const one = names[0]!;
  const messages = {
    SayHello: () => [one],
    ListReplies: () => [`${one}0`, `${one}1`],
    SumSizes: () => [names.join("+")],
    Chat: () => names,
  }[kind]();
  return { messages: messages.map((text) => text + tail), header: ["h"], trailer: ["t"] };
}

function expected(
  client: ClientKind,
  kind: Kind,
  outer: readonly Part[],
  inner: readonly Part[],
  names: string[],
): Outcome | Code {
  try {
    const outcome = model(kind, outer, { names, header: [], values: [] }, (sent) => {
      const handle = (call: Call) =>
        handled(kind, { ...call, values: [...sent.values, ...call.values] });
      const isWeb = client === "connect" || client === "grpc-web";
      try {
        const answer = model(kind, inner, { ...sent, values: [] }, handle);
        if (isWeb || kind !== "SumSizes" || answer.broken === undefined) return answer;
        // gRPC has sent nothing of a single response that breaks off.
        throw new Failure(answer.broken);
      } catch (error) {
        // Responses to streams begin before the handler there.
        if (!isWeb || kind === "SayHello" || !(error instanceof Failure)) throw error;
        return { messages: [], header: [], trailer: [], broken: error.code };
      }
    });
    return outcome.broken ?? outcome;
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

// ---- what is tested ------------------------------------------------------------------------------

/** The handlers of the greeter: each tells in its messages what reached it. */
const HANDLERS: grpc.Handlers = {
  SayHello: ({ name }: Request, context: grpc.CallContext) => ({ message: name + seen(context) }),
  async *ListReplies({ name }: Request, context: grpc.CallContext) {
    const tail = seen(context);
    yield { message: `${name}0${tail}` };
    yield { message: `${name}1${tail}` };
  },
  async SumSizes(requests: AsyncIterable<Request>, context: grpc.CallContext) {
    const names = (await Array.fromAsync(requests)).map(({ name }) => name);
    return { message: names.join("+") + seen(context) };
  },
  async *Chat(requests: AsyncIterable<Request>, context: grpc.CallContext) {
    const tail = seen(context);
    for await (const { name } of requests) yield { message: name + tail };
  },
};

function seen(
  { requestHeader, values, responseHeader, responseTrailer }: grpc.CallContext,
): string {
  responseHeader.append("x-res", "h");
  responseTrailer.append("x-end", "t");
  const sent = list(requestHeader, "x-values");
  return `|${list(requestHeader, "x-req").join(",")}|${[...sent, ...values.get(SEEN)].join(",")}`;
}

function list(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? "").split(/,\s*/).filter((one) => one !== "");
}

// deno-lint-ignore no-explicit-any
type Any = any;

async function* mapped(messages: AsyncIterable<Any>, change: (message: Any) => Any) {
  for await (const message of messages) yield change(message);
}

function made({ id, effects, end }: Part): Interceptor {
  return (next) => async (request: Any) => {
    if (end === "throw before") throw new ConnectError(id, Code.Aborted);
    if (end === "throw plainly") throw new Error(id);
    if (end === "answer") return answer(id, request);
    let given = request;
    for (const effect of effects) {
      if (effect === "request header") given.header.append("x-req", id);
      if (effect === "replaced request header") {
        const header = new Headers(given.header);
        header.set("x-req", id);
        given = { ...given, header };
      }
      if (effect === "value") {
        given.contextValues.set(SEEN, [...given.contextValues.get(SEEN), id]);
      }
      if (effect === "request message") {
        const change = (message: Any) => ({ ...message, name: message.name + id });
        given = {
          ...given,
          message: given.stream ? mapped(given.message, change) : change(given.message),
        };
      }
    }
    let response: Any = await next(given);
    if (end === "throw after") throw new ConnectError(id, Code.DataLoss);
    if (end === "throw within") return within(id, response);
    for (const effect of effects) {
      if (effect === "response header") response.header.append("x-res", id);
      if (effect === "response trailer") {
        response = whenRead(response, () => response.trailer.append("x-end", id));
      }
      if (effect === "response message") {
        const change = (message: Any) => ({ ...message, message: id + message.message });
        response = {
          ...response,
          message: response.stream ? mapped(response.message, change) : change(response.message),
        };
      }
      if (effect === "replaced response header") {
        const header = new Headers(response.header);
        header.append("x-res", `${id}!`);
        response = { ...response, header };
      }
    }
    return response;
  };
}

/** Does something at the end of a response: only then a client knows the trailers of a stream. */
function whenRead(response: Any, then: () => void): Any {
  if (!response.stream) {
    then();
    return response;
  }
  const messages = response.message;
  async function* read() {
    yield* messages;
    then();
  }
  return { ...response, message: read() };
}

function within(id: string, response: Any): Any {
  const error = new ConnectError(id, Code.OutOfRange);
  if (!response.stream) throw error;
  const messages = response.message;
  async function* failing() {
    for await (const message of messages) {
      yield message;
      break;
    }
    throw error;
  }
  return { ...response, message: failing() };
}

function answer(id: string, { stream, service, method }: Any): Any {
  const message = create(method.output, { message: `early ${id}` });
  async function* one() {
    yield message;
  }
  return {
    stream,
    service,
    method,
    header: new Headers({ "x-res": id }),
    trailer: new Headers({ "x-end": id }),
    message: stream ? one() : message,
  };
}

/** Sends what interceptors of the client left for each other. */
const sendValues: Interceptor = (next) => (request) => {
  for (const value of request.contextValues.get(SEEN)) request.header.append("x-values", value);
  return next(request);
};

async function outcomeOf(run: () => Promise<Outcome>): Promise<Outcome | Code> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ConnectError) return error.code;
    throw error;
  }
}

async function byHand(conn: grpc.Conn, kind: Kind, names: string[]): Promise<Outcome> {
  const greeter = grpc.newService(conn, GREETER);
  if (kind === "SayHello") {
    let header = new Headers();
    let trailer = new Headers();
    const { message } = await greeter.SayHello({ name: names[0] }, {
      timeout: 20_000,
      onHeader: (headers: Headers) => header = headers,
      onTrailer: (headers: Headers) => trailer = headers,
    });
    return { messages: [message], header: list(header, "x-res"), trailer: list(trailer, "x-end") };
  }
  using stream = kind === "ListReplies"
    ? await greeter.ListReplies({ name: names[0] }, { timeout: 20_000 })
    : await greeter[kind]!({ timeout: 20_000 });
  if (kind !== "ListReplies") {
    // A call that is answered before its requests are read does not take them.
    for (const name of names) stream.write({ name }).catch(() => {});
    stream.closeWrite();
  }
  const messages: string[] = [];
  for await (const { message } of stream) messages.push(message);
  const header = list(await stream.header, "x-res");
  return { messages, header, trailer: list(stream.trailer, "x-end") };
}

async function byConnect(client: Any, kind: Kind, names: string[]): Promise<Outcome> {
  let header = new Headers();
  let trailer = new Headers();
  const options = {
    timeoutMs: 20_000,
    onHeader: (headers: Headers) => header = headers,
    onTrailer: (headers: Headers) => trailer = headers,
  };
  async function* requests() {
    for (const name of names) yield { name };
  }
  const messages: string[] = [];
  if (kind === "SayHello") {
    messages.push((await client.sayHello({ name: names[0] }, options)).message);
  } else if (kind === "SumSizes") {
    messages.push((await client.sumSizes(requests(), options)).message);
  } else {
    const responses = kind === "Chat"
      ? client.chat(requests(), options)
      : client.listReplies({ name: names[0] }, options);
    for await (const { message } of responses) messages.push(message);
  }
  return { messages, header: list(header, "x-res"), trailer: list(trailer, "x-end") };
}

function randomParts(random: Random, level: string, most: number): Part[] {
  return Array.from({ length: random.below(most + 1) }, (_, i) => ({
    id: `${level}${i}`,
    effects: Array.from({ length: random.below(4) }, () => EFFECTS[random.below(EFFECTS.length)]!),
    end: random.below(14) === 0 ? ENDS[random.below(ENDS.length)]! : null,
  }));
}

function sorted(outcome: Outcome | Code): unknown {
  if (typeof outcome === "number") return Code[outcome];
  // Handlers that are generators set their own when they are first read.
  return { ...outcome, header: outcome.header.toSorted(), trailer: outcome.trailer.toSorted() };
}

/** Each round makes servers and clients with interceptors at random, and calls every method. */
const ROUNDS = 40;

for (const client of CLIENTS) {
  Deno.test(`interceptors of both sides do what a model of them does: clients ${client}`, async () => {
    const ends = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const random = new Random(1000 * CLIENTS.indexOf(client) + round);
      const [outer, listening, registered, served] = ["c", "l", "r", "s"].map((level) =>
        randomParts(random, level, 2)
      ) as [Part[], Part[], Part[], Part[]];
      await using side = serve(client, listening, registered, served, random);
      for (const kind of KINDS) {
        const names = kind === "SumSizes" || kind === "Chat"
          ? Array.from({ length: 1 + random.below(4) }, (_, i) => `n${i}`)
          : ["n"];
        const wanted = expected(
          client,
          kind,
          outer,
          [...listening, ...registered, ...served],
          names,
        );
        const got = await outcomeOf(() => side.call(outer, kind, names));
        ends.add(typeof wanted === "number" ? Code[wanted]! : "OK");
        const what = JSON.stringify({ round, kind, outer, listening, registered, served }, null, 1);
        assertEquals(sorted(got), sorted(wanted), what);
      }
    }
    // The rounds show what they are for.
    assertEquals(ends.has("OK") && ends.size > 1, true, [...ends].join());
  });
}

interface Side extends AsyncDisposable {
  call(parts: readonly Part[], kind: Kind, names: string[]): Promise<Outcome>;
}

function serve(
  client: ClientKind,
  listening: readonly Part[],
  registered: readonly Part[],
  served: readonly Part[],
  random: Random,
): Side {
  const registrar = new grpc.Registrar({ interceptors: registered.map(made) });
  registrar.register(GREETER, HANDLERS, { interceptors: served.map(made) });
  const settings = { registrar, interceptors: listening.map(made), onError: null };
  const isGrpc = client === "by hand" || client === "connect's on gRPC";
  const server = isGrpc && random.below(2) === 0
    ? grpc.listen({ addr: "127.0.0.1:0", drainTimeout: 500, ...settings })
    : http.listen({
      addr: "127.0.0.1:0",
      limits: { drainTimeout: 500 },
      registrar: grpc.mount(settings),
      handler() {},
    });
  return {
    async call(parts, kind, names) {
      const interceptors = [...parts.map(made), sendValues];
      if (client === "grpc-web" || client === "connect") {
        return await byConnect(webClient(SERVICE, client, server.addr, interceptors), kind, names);
      }
      await using conn = grpc.newClient({ targets: [server.addr], interceptors });
      return client === "by hand"
        ? await byHand(conn, kind, names)
        : await byConnect(createClient(SERVICE, conn), kind, names);
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}
