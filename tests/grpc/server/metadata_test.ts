/** Whatever handlers set as metadata: the server lives, and each call ends with its own status. */
import { assert, assertEquals } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { GREETER } from "../../../support/greeter.ts";
import { Random } from "../../../support/random.ts";

type Pair = readonly [name: string, value: string];

/** How a handler ends its call. */
const ENDINGS = ["ok", "error", "error with metadata", "exception", "deadline", "code 0"] as const;
type Ending = typeof ENDINGS[number];

const KINDS = ["SayHello", "SumSizes", "ListReplies", "Chat"] as const;

/** What the next call does; one call runs at a time. */
interface Plan {
  readonly ending: Ending;
  readonly sync: boolean;
  readonly early: boolean;
  readonly header: readonly Pair[];
  readonly trailer: readonly Pair[];
  readonly error: readonly Pair[];
  readonly message: string;
}

let plan: Plan;

/** As `Headers` allow it: what they refuse was refused where it was set. */
function set(headers: Headers, pairs: readonly Pair[]): void {
  for (const [name, value] of pairs) {
    try {
      headers.append(name, value);
    } catch (error) {
      assert(error instanceof TypeError);
    }
  }
}

function prepare(context: grpc.CallContext): void {
  set(context.responseHeader, plan.header);
  set(context.responseTrailer, plan.trailer);
  if (plan.early) context.sendHeader();
}

function failure(): unknown {
  const metadata = new Headers();
  switch (plan.ending) {
    case "error with metadata":
      set(metadata, plan.error);
      return new ConnectError(plan.message, Code.NotFound, metadata);
    case "error":
      return new ConnectError(plan.message, Code.NotFound);
    case "code 0":
      return new ConnectError(plan.message, 0 as Code, metadata);
    default:
      return new Error(plan.message);
  }
}

const never = () => new Promise<never>(() => {});

function answer(context: grpc.CallContext): object | Promise<object> {
  prepare(context);
  if (plan.ending === "deadline") return never();
  if (plan.sync) {
    if (plan.ending === "ok") return {};
    throw failure();
  }
  return plan.ending === "ok" ? Promise.resolve({}) : Promise.reject(failure());
}

async function* answers(context: grpc.CallContext): AsyncGenerator<object> {
  prepare(context);
  if (plan.sync) yield {};
  if (plan.ending === "deadline") await never();
  if (plan.ending !== "ok") throw failure();
}

const HANDLERS: grpc.Handlers = {
  SayHello: (_, context) => answer(context),
  SumSizes: (_, context) => answer(context),
  ListReplies: (_, context) => answers(context),
  Chat: (_, context) => answers(context),
};

const EXPECTED: Readonly<Record<Ending, number>> = {
  "ok": 0,
  "error": Code.NotFound,
  "error with metadata": Code.NotFound,
  "exception": Code.Unknown,
  "deadline": Code.DeadlineExceeded,
  "code 0": Code.Unknown,
};

const NAMES = [
  "x-a",
  "x-a-bin",
  "grpc-status",
  "grpc-message",
  "grpc-status-details-bin",
  "grpc-encoding",
  "grpc-anything",
  "content-type",
  "content-length",
  "transfer-encoding",
  "connection",
  "te",
  "trailer",
  "host",
  ":status",
  ":path",
  "X-Upper",
  "x y",
  "",
  "set-cookie",
  "date",
];

function randomText(rng: Random, size: number): string {
  const [from, to] = rng.pick([[0x20, 0x7f], [0, 0x80], [0x80, 0x100], [0, 0x10ffff], [
    0x41,
    0x5b,
  ]]);
  const unit = String.fromCodePoint(...Array.from(
    { length: Math.min(size, 50) },
    () => from! + rng.below(to! - from!),
  ));
  return unit.repeat(Math.ceil(size / Math.max(1, unit.length))).slice(0, size);
}

function randomPairs(rng: Random): Pair[] {
  return Array.from({ length: rng.below(4) }, () => {
    const size = rng.pick([0, 1, 5, 100, 3000, 9000, 30_000, 70_000]);
    const name = rng.below(3) === 0 ? randomText(rng, 1 + rng.below(20)) : rng.pick(NAMES);
    return [name, randomText(rng, size)] as const;
  });
}

function randomPlan(rng: Random): Plan {
  return {
    ending: rng.pick(ENDINGS),
    sync: rng.below(2) === 0,
    early: rng.below(4) === 0,
    header: randomPairs(rng),
    trailer: randomPairs(rng),
    error: randomPairs(rng),
    message: rng.below(4) === 0 ? randomText(rng, rng.pick([10, 5000, 70_000])) : "no such user",
  };
}

/** A request message without octets, as each protocol has it. */
const FRAME = new Uint8Array(5);

const CODES = Object.entries(Code).filter(([, value]) => typeof value === "number");

function codeNamed(name: string): number {
  const plain = name.replaceAll("_", "").toLowerCase();
  return CODES.find(([known]) => known.toLowerCase() === plain)![1] as number;
}

/** Calls a method by gRPC-Web, and gives the status of the answer. */
async function callWeb(url: string, timeout: string | null, text: boolean): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": text ? "application/grpc-web-text" : "application/grpc-web+proto",
      ...(timeout === null ? {} : { "grpc-timeout": `${timeout}m` }),
    },
    body: text ? btoa("\0".repeat(5)) : FRAME,
  });
  assertEquals(response.status, 200);
  assert(response.headers.get("content-type")!.startsWith("application/grpc-web"));
  let bytes = new Uint8Array(await response.arrayBuffer());
  if (text) {
    const runs = new TextDecoder().decode(bytes).match(/[^=]+={0,2}/g) ?? [];
    bytes = Uint8Array.from(runs.map((run) => atob(run)).join(""), (char) => char.charCodeAt(0));
  }
  let status = -1;
  for (let at = 0; at < bytes.length;) {
    assertEquals(status, -1, "trailers come last");
    const length = new DataView(bytes.buffer).getUint32(at + 1);
    if (bytes[at] === 0x80) {
      const lines = new TextDecoder("latin1").decode(bytes.subarray(at + 5, at + 5 + length));
      const found = [...lines.matchAll(/(?:^|\n)grpc-status: ?(\d+)\r\n/g)];
      assertEquals(found.length, 1, lines.slice(0, 300));
      status = Number(found[0]![1]);
      assert(/^[\x20-\x7e\r\n]*$/.test(lines));
    }
    at += 5 + length;
  }
  return status;
}

/** Calls a method by Connect, and gives the code of the answer. */
async function callConnect(url: string, timeout: string | null, unary: boolean): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": unary ? "application/proto" : "application/connect+proto",
      ...(timeout === null ? {} : { "connect-timeout-ms": timeout }),
    },
    body: unary ? new Uint8Array() : FRAME,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (unary) {
    if (response.status === 200) return 0;
    assertEquals(response.headers.get("content-type"), "application/json");
    return codeNamed(JSON.parse(new TextDecoder().decode(bytes)).code);
  }
  assertEquals(response.status, 200);
  for (let at = 0; at < bytes.length;) {
    const length = new DataView(bytes.buffer).getUint32(at + 1);
    if (bytes[at] === 2) {
      assertEquals(at + 5 + length, bytes.length);
      const end = JSON.parse(new TextDecoder().decode(bytes.subarray(at + 5)));
      return end.error === undefined ? 0 : codeNamed(end.error.code);
    }
    at += 5 + length;
  }
  return -1;
}

/** Calls a method by gRPC, and gives the status of the answer. */
async function callGrpc(
  greeter: grpc.DynamicService,
  kind: typeof KINDS[number],
  options: object,
): Promise<number> {
  try {
    if (kind === "SayHello") await greeter.SayHello({}, options);
    else {
      using stream = await greeter[kind](options);
      if (kind === "ListReplies") await stream.write({});
      stream.closeWrite();
      while (await stream.read() !== null);
    }
    return 0;
  } catch (error) {
    assert(error instanceof ConnectError, String(error));
    return error.code;
  }
}

for (const seed of [1, 2, 3, 4, 11]) {
  Deno.test(`any metadata, however a call ends: the server lives and the code is the call's own (seed ${seed})`, async () => {
    const rng = new Random(seed);
    const told: unknown[] = [];
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, HANDLERS);
    const onError = (error: unknown) => {
      told.push(error);
    };
    await using server = http.listen({
      addr: "127.0.0.1:0",
      registrar: grpc.mount({ registrar, onError }),
      onError,
      limits: { drainTimeout: 100 },
    });
    // One connection for all: what costs a connection shows in the calls that follow.
    await using conn = grpc.newClient({ targets: [server.addr] });
    const greeter = grpc.newService(conn, GREETER);
    for (let i = 0; i < 150; i++) {
      plan = randomPlan(rng);
      const kind = rng.pick(KINDS);
      const late = plan.ending === "deadline";
      const protocol = rng.pick(["grpc", "grpc", "web", "text", "connect"]);
      const url = `http://${server.addr}/test.Greeter/${kind}`;
      told.length = 0;
      const status = protocol === "grpc"
        // The server's deadline comes first: the client's is added beside it.
        ? await callGrpc(greeter, kind, late ? { timeout: 10 } : {})
        : protocol === "connect"
        ? await callConnect(url, late ? "10" : null, kind === "SayHello")
        : await callWeb(url, late ? "10" : null, protocol === "text");
      const label = `seed ${seed}, call ${i}: ${protocol} ${kind} ${
        JSON.stringify(plan).slice(0, 200)
      }`;
      assertEquals(status, EXPECTED[plan.ending], label);
      for (const error of told) assert(error instanceof Error, label);
      if (plan.ending === "exception") assert(told.length > 0, label);
    }
  });
}
