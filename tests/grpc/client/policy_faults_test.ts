/**
 * Retry and hedging while servers come, go, hang and fail, against a model: what servers saw of a call
 * tells how it has to end.
 */
import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { listenAt } from "../../../grpc/server/server.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { Random } from "../../../support/random.ts";

const DEADLINE_MS = 3000;
const MAX_ATTEMPTS = 4;

/** What a server does with an attempt, in the end. */
type Fate = "ok" | "failed" | "pushed back" | "refused" | "fatal" | "hangs";

const FATES: readonly Fate[] = [
  ...["ok", "ok", "ok", "failed", "failed", "failed"] as const,
  ...["pushed back", "refused", "fatal", "hangs"] as const,
];

/** An attempt as a server saw it. */
interface Seen {
  readonly fate: Fate;
  readonly at: number;
  endedAt: number;
  /** `ended`: as its fate says; `cancelled`: nobody waited any more, or the server was gone. */
  state: "runs" | "ended" | "cancelled";
}

const KINDS = {
  "no policy": "SayHello",
  "no policy, stream": "SumSizes",
  retry: "ListReplies",
  hedging: "Chat",
} as const;
type Kind = keyof typeof KINDS;

const CONFIG: grpc.ServiceConfig = {
  methodConfig: [{
    name: [{ service: "test.Greeter", method: KINDS.retry }],
    retryPolicy: {
      maxAttempts: MAX_ATTEMPTS,
      initialBackoff: "0.02s",
      maxBackoff: "0.1s",
      backoffMultiplier: 2,
      retryableStatusCodes: ["UNAVAILABLE"],
    },
  }, {
    name: [{ service: "test.Greeter", method: KINDS.hedging }],
    hedgingPolicy: {
      maxAttempts: MAX_ATTEMPTS,
      hedgingDelay: "0.1s",
      nonFatalStatusCodes: ["UNAVAILABLE"],
    },
  }],
};

/** One run: servers, a client, and what becomes of calls. */
class World {
  readonly clock = new FakeClock();
  readonly #random: Random;
  readonly #seen = new Map<string, Seen[]>();
  readonly #servers: grpc.GrpcServer[] = [];
  readonly #conn: grpc.Conn;
  readonly #closing: Promise<void>[] = [];
  /** Servers closed so far: each may cost a call attempts that no server saw. */
  #closed = 0;
  #calls = 0;
  readonly outcomes: Record<string, number> = {};

  constructor(seed: number) {
    this.#random = new Random(seed);
    for (let i = 0; i < 3 + seed % 3; i++) this.#listen();
    this.#conn = newClientAt(this.clock.time, {
      targets: this.#targets,
      serviceConfig: CONFIG,
      backoff: { initial: 5, max: 40 },
    });
  }

  get #targets(): string[] {
    return this.#servers.map(({ addr }) => addr);
  }

  #listen(): void {
    const registrar = new grpc.Registrar();
    const serve = (request: Request, context: grpc.CallContext) => this.#serve(request, context);
    registrar.register(GREETER, {
      SayHello: serve,
      async *ListReplies(request: Request, context: grpc.CallContext) {
        yield await serve(request, context);
      },
      async SumSizes(requests: AsyncIterable<Request>, context: grpc.CallContext) {
        return await serve(await joined(requests), context);
      },
      async *Chat(requests: AsyncIterable<Request>, context: grpc.CallContext) {
        yield await serve(await joined(requests), context);
      },
    });
    const server = listenAt(this.clock.time, { addr: "memory:", registrar, drainTimeout: 20 });
    this.#servers.push(server);
  }

  async #serve({ name }: Request, { signal }: grpc.CallContext): Promise<object> {
    const fate = this.#random.pick(FATES);
    const seen: Seen = { fate, at: this.clock.now(), endedAt: Infinity, state: "runs" };
    const all = this.#seen.get(name);
    if (all === undefined) this.#seen.set(name, [seen]);
    else all.push(seen);
    signal.addEventListener("abort", () => {
      if (seen.state === "runs") seen.state = "cancelled";
    });
    const ms = fate === "hangs" ? 1e9 : this.#random.below(300);
    await this.clock.sleep(ms, signal);
    seen.state = "ended";
    seen.endedAt = this.clock.now();
    if (fate === "ok") return { message: name };
    if (fate === "fatal") throw new ConnectError("a test", Code.NotFound);
    const pushback = { "pushed back": `${this.#random.below(200)}`, refused: "-1" }[fate as string];
    throw new ConnectError(
      "a test",
      Code.Unavailable,
      pushback === undefined ? undefined : { "grpc-retry-pushback-ms": pushback },
    );
  }

  /** A server comes or goes; the first always stays. */
  harm(): void {
    const random = this.#random;
    if (random.below(2) === 0 && this.#servers.length < 5) this.#listen();
    else if (this.#servers.length > 1) {
      const [server] = this.#servers.splice(1 + random.below(this.#servers.length - 1), 1);
      // Known before it goes, or found out.
      if (random.below(2) === 0) this.#conn.setTargets(this.#targets);
      this.#closed++;
      this.#closing.push(server!.close());
    }
    this.#conn.setTargets(this.#targets);
  }

  /** One call of a random kind. Its end is held against what servers saw. */
  async call(): Promise<void> {
    const kind = this.#random.pick(Object.keys(KINDS) as Kind[]);
    const name = `${kind} ${this.#calls++}`;
    const [began, closed] = [this.clock.now(), this.#closed];
    let outcome: string | Code;
    try {
      outcome = await this.#reply(kind, name);
    } catch (error) {
      assertInstanceOf(error, ConnectError, name);
      outcome = error.code;
      // Who sends it again himself relies on that.
      if ((error.cause as { requestSent?: string } | undefined)?.requestSent === "no") {
        assertEquals(this.#seen.get(name), undefined, `${name}: ${error.message}`);
      }
    }
    const took = this.clock.now() - began;
    assert(took <= DEADLINE_MS + 100, `${name} took ${took} ms`);
    this.#judge(kind, name, outcome, took, this.#closed - closed);
    const shown = typeof outcome === "number" ? Code[outcome] : "ok";
    this.outcomes[`${kind}: ${shown}`] = (this.outcomes[`${kind}: ${shown}`] ?? 0) + 1;
  }

  async #reply(kind: Kind, name: string): Promise<string> {
    const options = { timeout: DEADLINE_MS, waitForReady: this.#random.below(2) === 0 };
    const greeter = grpc.newService(this.#conn, GREETER);
    const method = KINDS[kind];
    if (method === "SayHello") return (await greeter.SayHello({ name }, options)).message;
    const stream = await greeter[method]!(options);
    if (method === "ListReplies") await stream.write({ name });
    else for (const letter of name) await stream.write({ name: letter });
    stream.closeWrite();
    const reply = await stream.read();
    assertEquals(await stream.read(), null);
    return reply.message;
  }

  /** Whether the outcome is what policies make of what servers did. */
  #judge(kind: Kind, name: string, outcome: string | Code, took: number, closed: number): void {
    const seen = this.#seen.get(name) ?? [];
    const story = `${name}: ${outcome} after ${took} ms; ${
      seen.map(({ fate, state }) => `${fate} ${state}`).join(", ")
    }; ${closed} closed`;
    const ended = seen.filter(({ state }) => state === "ended").map(({ fate }) => fate);
    // Never more often than the policy says; never twice without one.
    const most = kind.startsWith("no policy") ? 1 : MAX_ATTEMPTS;
    assert(seen.length <= most, story);
    // An answer that ends a call, or asks for no more attempts, is followed by none.
    const last = Math.min(
      ...seen.filter(({ fate }) => /ok|fatal|refused/.test(fate)).map(({ endedAt }) => endedAt),
    );
    assert(seen.every(({ at }) => at <= last), story);
    if (outcome === name) assert(ended.includes("ok"), story);
    else if (outcome === Code.NotFound) assert(ended.includes("fatal"), story);
    else if (outcome === Code.DeadlineExceeded) assert(took >= DEADLINE_MS - 20, story);
    else {
      assertEquals(outcome, Code.Unavailable, story);
      // Nothing that would have saved it is thrown away.
      assert(!ended.includes("ok"), story);
      assert(seen.every(({ state }) => state !== "runs"), story);
      // A server that goes may take an attempt with it that it never saw.
      const left = ended.includes("refused") ? 0 : most - seen.length;
      assert(left <= closed, `attempts are left: ${story}`);
    }
    if (outcome !== name) assert(!ended.includes("ok") || ended.includes("fatal"), story);
  }

  /** Handlers that still run for calls that are over. */
  get running(): string[] {
    return [...this.#seen].filter(([, seen]) => seen.some(({ state }) => state === "runs"))
      .map(([name]) => name);
  }

  shareOfOk(kind: string): number {
    const all = Object.entries(this.outcomes).filter(([name]) => name.startsWith(kind));
    const total = all.reduce((sum, [, count]) => sum + count, 0);
    return all.reduce((sum, [name, count]) => name.endsWith("ok") ? sum + count : sum, 0) / total;
  }

  get random(): Random {
    return this.#random;
  }

  async close(): Promise<void> {
    await this.clock.until(this.#conn.close());
    const servers = this.#servers.map((server) => server.close());
    await this.clock.until(Promise.all([...this.#closing, ...servers]));
  }
}

async function joined(requests: AsyncIterable<Request>): Promise<Request> {
  let text = "";
  for await (const { name } of requests) text += name;
  return { name: text, payload: new Uint8Array(), count: 0 };
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  Deno.test(`servers come, go, hang and fail: policies save what they should, nothing runs twice without (seed ${seed})`, async () => {
    const world = new World(seed);
    await world.clock.advance(10);
    const calls: Promise<void>[] = [];
    for (let round = 0; round < 40; round++) {
      if (round % 4 === 0) world.harm();
      for (let i = 0; i < 8; i++) calls.push(world.call());
      await world.clock.advance(world.random.below(150));
    }
    await world.clock.until(Promise.all(calls));
    // All that lost, and all whose time was over, were told.
    await world.clock.advance(50);
    assertEquals(world.running, []);
    // What policies are for.
    const without = world.shareOfOk("no policy");
    assert(world.shareOfOk("retry") > without, JSON.stringify(world.outcomes));
    assert(world.shareOfOk("hedging") > without, JSON.stringify(world.outcomes));
    await world.close();
  });
}
