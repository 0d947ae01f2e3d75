/** The interceptors that come with the library, on every protocol. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import {
  Code,
  ConnectError,
  type ContextKey,
  createClient,
  createContextKey,
  type Interceptor,
} from "@connectrpc/connect";
import type { DescFile, DescService } from "@bufbuild/protobuf";
import { grpc, http, protoc } from "@sluice/sluice";
import { printed } from "../../../support/console.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { webClient } from "../../../support/web_client.ts";
import { codeOf, withGreeter } from "../../../support/with_greeter.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const PROTOCOLS = ["grpc", "grpc-web", "connect"] as const;

/** Serves a file with interceptors, and calls `run` with a client of each protocol. */
async function onEveryProtocol(
  handlers: grpc.Handlers,
  interceptors: readonly Interceptor[],
  run: (client: Any, protocol: string) => Promise<void>,
  { file = GREETER, onError = null }: {
    file?: DescFile;
    onError?: ((error: unknown) => void) | null;
  } = {},
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(file, handlers);
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, interceptors, onError }),
    handler() {},
    limits: { drainTimeout: 200 },
  });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const service = file.services[0] as DescService;
  for (const protocol of PROTOCOLS) {
    await run(
      protocol === "grpc" ? createClient(service, conn) : webClient(service, protocol, server.addr),
      protocol,
    );
  }
}

/** Records that come one by one. */
class Records {
  readonly #waiting: ((record: grpc.CallRecord) => void)[] = [];
  readonly all: grpc.CallRecord[] = [];
  #taken = 0;

  readonly log = (record: grpc.CallRecord): void => {
    this.all.push(record);
    this.#waiting.shift()?.(record);
  };

  /** The next record, which may have come. */
  next(): Promise<grpc.CallRecord> {
    const at = this.#taken++;
    if (at < this.all.length) return Promise.resolve(this.all[at]!);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

Deno.test("callLog() tells of each call of a server once, however it ends", async () => {
  const records = new Records();
  const limited: Interceptor = (next) => (request) => {
    if (request.header.has("x-limit")) request.contextValues.get(grpc.CALL)!.limitTimeout(30);
    return next(request);
  };
  await onEveryProtocol(
    {
      SayHello({ name }: Request, { signal }: grpc.CallContext): unknown {
        if (name === "not there") throw new ConnectError("no", Code.NotFound);
        if (name === "broken") throw new Error("secret");
        if (name === "slow") {
          return new Promise((resolve) => signal.addEventListener("abort", resolve));
        }
        return {};
      },
      async *ListReplies({ name }: Request) {
        for (let i = 0; i < 2; i++) yield { message: String(i) };
        if (name === "not there") throw new ConnectError("no", Code.NotFound);
        while (name === "endless") {
          yield {};
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      },
    },
    [grpc.callLog(records.log), limited],
    async (client, protocol) => {
      const expect = async (name: string, method: string): Promise<void> => {
        const { durationMs, peer, ...rest } = await records.next();
        assertEquals(rest, { method: `/test.Greeter/${method}`, code: name, protocol });
        assert(durationMs >= 0 && durationMs < 60_000, String(durationMs));
        assertMatch(peer, /^127\.0\.0\.1:\d+$/);
      };
      await client.sayHello({});
      await expect("OK", "SayHello");
      await codeOf(client.sayHello({ name: "not there" }));
      await expect("NOT_FOUND", "SayHello");
      await codeOf(client.sayHello({ name: "broken" }));
      await expect("UNKNOWN", "SayHello");
      await codeOf(client.sayHello({ name: "slow" }, {
        headers: { "x-limit": "yes" },
        timeoutMs: 20_000,
      }));
      await expect("DEADLINE_EXCEEDED", "SayHello");
      await Array.fromAsync(client.listReplies({}));
      await expect("OK", "ListReplies");
      await codeOf(Array.fromAsync(client.listReplies({ name: "not there" })));
      await expect("NOT_FOUND", "ListReplies");
      const controller = new AbortController();
      await codeOf((async () => {
        for await (
          const _ of client.listReplies({ name: "endless" }, { signal: controller.signal })
        ) {
          controller.abort();
        }
      })());
      await expect("CANCELLED", "ListReplies");
    },
  );
  assertEquals(records.all.length, 7 * PROTOCOLS.length);
});

Deno.test("callLog() tells of each call of a client once, however it ends", async () => {
  const records = new Records();
  const codes = async (): Promise<string> => {
    const { code, method } = await records.next();
    return `${method.split("/")[2]} ${code}`;
  };
  await withGreeter({
    SayHello({ name }: Request): unknown {
      if (name === "slow") return new Promise(() => {});
      if (name !== "") throw new ConnectError("no", Code.Aborted);
      return {};
    },
    async *ListReplies() {
      for (let i = 0; i < 100; i++) yield { message: "one" };
    },
    async *Chat() {},
  }, async (greeter) => {
    await greeter.SayHello({}, 10_000);
    assertEquals(await codes(), "SayHello OK");
    await codeOf(greeter.SayHello({ name: "x" }, 10_000));
    assertEquals(await codes(), "SayHello ABORTED");
    await codeOf(greeter.SayHello({ name: "slow" }, 30));
    assertEquals(await codes(), "SayHello DEADLINE_EXCEEDED");
    const controller = new AbortController();
    const cancelled = codeOf(greeter.SayHello({ name: "slow" }, { signal: controller.signal }));
    controller.abort();
    assertEquals(await cancelled, Code.Canceled);
    assertEquals(await codes(), "SayHello CANCELLED");
    for await (const _ of await greeter.ListReplies({}, 10_000));
    assertEquals(await codes(), "ListReplies OK");
    const left = await greeter.ListReplies({}, 10_000);
    await left.read();
    left.close();
    assertEquals(await codes(), "ListReplies CANCELLED");
    const chat = await greeter.Chat(10_000);
    assertEquals(await chat.read(), null);
    assertEquals(await codes(), "Chat OK");
  }, { client: { interceptors: [grpc.callLog(records.log)] } });
  assertEquals(records.all.length, 7);
});

Deno.test("callLog() counts time by the server's clock, and what its function throws is printed", async () => {
  const clock = new FakeClock();
  const records: grpc.CallRecord[] = [];
  const log = (record: grpc.CallRecord): void => {
    records.push(record);
    throw new Error("of the log");
  };
  const lines = await printed(() =>
    withGreeter({
      SayHello: () => new Promise(() => {}),
    }, async (greeter) => {
      const code = codeOf(greeter.SayHello({}));
      await clock.until(code);
      assertEquals(await code, Code.DeadlineExceeded);
    }, {
      clock,
      server: { interceptors: [grpc.callLog(log), grpc.deadlineBounds({ default: 5000 })] },
    })
  );
  assertEquals(records.map(({ code }) => code), ["DEADLINE_EXCEEDED"]);
  assert(records[0]!.durationMs >= 4900 && records[0]!.durationMs < 6000, String(records[0]));
  assertMatch(lines.join("\n"), /of the log/);
  for (const wrong of [undefined, null, 5]) {
    assertThrows(() => grpc.callLog(wrong as Any), TypeError, "Cannot log calls");
  }
});

Deno.test("bearerAuth() lets calls pass with a token that is verified, and no others", async () => {
  const USER: ContextKey<string | null> = createContextKey<string | null>(null);
  const asked: string[] = [];
  const auth = grpc.bearerAuth(USER, async (token) => {
    asked.push(token);
    await Promise.resolve();
    if (token === "throws") throw new Error("expired");
    if (token === "forbidden") throw new ConnectError("not here", Code.PermissionDenied);
    return { "s3cret-._~+/==": "ann", "empty": "" }[token] ?? (token === "null" ? null : undefined);
  });
  let handled = 0;
  await onEveryProtocol(
    {
      SayHello: (_: Request, { values }: grpc.CallContext) => {
        handled++;
        return { message: `user ${values.get(USER)}` };
      },
      async *ListReplies(_: Request, { values }: grpc.CallContext) {
        handled++;
        yield { message: `user ${values.get(USER)}` };
      },
    },
    [auth],
    async (client, protocol) => {
      handled = 0;
      const call = (authorization: string | null) =>
        client.sayHello({}, { headers: authorization === null ? {} : { authorization } });
      assertEquals((await call("Bearer s3cret-._~+/==")).message, "user ann");
      assertEquals((await call("bearer   empty")).message, "user ");
      const [reply] = await Array.fromAsync(
        client.listReplies({}, { headers: { authorization: "BEARER s3cret-._~+/==" } }),
      ) as [{ message: string }];
      assertEquals(reply.message, "user ann");
      assertEquals(handled, 3);
      const wrong: [string | null, string][] = [
        [null, "Bearer"],
        ["", "Bearer"],
        ["Bearer", "Bearer"],
        ["Basic s3cret", "Bearer"],
        ["Bearers3cret", "Bearer"],
        ["Bearer a b", "Bearer"],
        ["Bearer empty, Bearer empty", "Bearer"],
        ["Bearer =", "Bearer"],
        ["Bearer unknown", 'Bearer error="invalid_token"'],
        ["Bearer null", 'Bearer error="invalid_token"'],
        ["Bearer throws", 'Bearer error="invalid_token"'],
        // No name of an object's prototype is a user.
        ["Bearer constructor", "any"],
      ];
      for (const [authorization, challenge] of wrong.slice(0, -1)) {
        const error = await assertRejects(
          () => call(authorization),
          ConnectError,
          undefined,
          protocol,
        );
        assertEquals(error.code, Code.Unauthenticated, String(authorization));
        assertEquals(error.metadata.get("www-authenticate"), challenge);
        assert(!/expired|unknown|throws/.test(error.rawMessage), error.rawMessage);
      }
      assertEquals(await codeOf(call("Bearer forbidden")), Code.PermissionDenied);
      assertEquals(await codeOf(Array.fromAsync(client.listReplies({}))), Code.Unauthenticated);
      assertEquals(handled, 3, "handlers ran without a user");
    },
  );
  assert(!asked.includes("a b") && asked.includes("empty"));
  assertThrows(() => grpc.bearerAuth({} as Any, () => "x"), TypeError, "createContextKey()");
  assertThrows(() => grpc.bearerAuth(USER, "x" as Any), TypeError, "verify must be a function");
});

Deno.test("deadlineBounds() gives calls a deadline, or a nearer one", async () => {
  const cases: [grpc.DeadlineOptions, number | undefined, number | undefined][] = [
    [{ default: 5000, largest: 60_000 }, undefined, 5000],
    [{ default: 5000, largest: 60_000 }, 30_000, 30_000],
    [{ default: 5000, largest: 60_000 }, 90_000, 60_000],
    [{ default: 5000 }, undefined, 5000],
    [{ default: 5000 }, 90_000, 90_000],
    [{ largest: 60_000 }, undefined, 60_000],
    [{ largest: 60_000 }, 90_000, 60_000],
    [{}, undefined, undefined],
    [{}, 90_000, 90_000],
  ];
  for (const [options, asked, wanted] of cases) {
    await onEveryProtocol(
      {
        SayHello: (_: Request, { timeoutMs }: grpc.CallContext) => ({
          message: String(timeoutMs()),
        }),
      },
      [grpc.deadlineBounds(options)],
      async (client, protocol) => {
        const { message } = await client.sayHello(
          {},
          asked === undefined ? {} : { timeoutMs: asked },
        );
        const what = `${protocol} ${JSON.stringify(options)} ${asked}: ${message}`;
        if (wanted === undefined) assertEquals(message, "undefined", what);
        else assert(Number(message) <= wanted && Number(message) > wanted - 4900, what);
      },
    );
  }
  await withGreeter(
    { SayHello: () => new Promise(() => {}) },
    async (greeter) => {
      assertEquals(await codeOf(greeter.SayHello({})), Code.DeadlineExceeded);
      assertEquals(await codeOf(greeter.SayHello({}, 60_000)), Code.DeadlineExceeded);
    },
    { client: { interceptors: [grpc.deadlineBounds({ largest: 30 })] } },
  );
  for (
    const wrong of [
      { default: 0 },
      { largest: -1 },
      { largest: NaN },
      { default: "5" },
      { default: 10, largest: 5 },
      { longest: 5 },
      null,
      5,
    ]
  ) assertThrows(() => grpc.deadlineBounds(wrong as Any), TypeError, "Cannot bound deadlines");
});

/** The part of protovalidate's options that the test uses. */
const RULES = `
  syntax = "proto2";
  package buf.validate;
  import "google/protobuf/descriptor.proto";
  extend google.protobuf.FieldOptions { optional FieldRules field = 1159; }
  message FieldRules {
    oneof type { Int32Rules int32 = 3; StringRules string = 14; }
  }
  message Int32Rules { optional int32 gt = 4; }
  message StringRules { optional uint64 min_len = 2; optional string pattern = 6; }
`;

const VALIDATED = new protoc.Loader({
  resolve: (name) => name === "buf/validate/validate.proto" ? RULES : null,
}).load(
  `
  syntax = "proto3";
  package users;
  import "buf/validate/validate.proto";
  service Users {
    rpc Add (User) returns (User);
    rpc AddAll (stream User) returns (stream User);
    rpc Odd (Strange) returns (User);
  }
  message User {
    string name = 1 [(buf.validate.field).string.min_len = 2];
    int32 age = 2 [(buf.validate.field).int32.gt = 0];
  }
  message Strange { string text = 1 [(buf.validate.field).string.pattern = "("]; }
  `,
  "users.proto",
);

Deno.test("validation() refuses requests that break the rules of their type, with all violations", async () => {
  const told: unknown[] = [];
  let handled = 0;
  await onEveryProtocol(
    {
      Add: (user: object) => {
        handled++;
        return user;
      },
      async *AddAll(users: AsyncIterable<object>) {
        for await (const user of users) yield user;
      },
      Odd: () => ({ name: "ok", age: 1 }),
    },
    [await grpc.validation()],
    async (client, protocol) => {
      handled = 0;
      assertEquals((await client.add({ name: "ann", age: 1 })).name, "ann");
      const error = await assertRejects(() => client.add({ name: "x" }), ConnectError);
      assertEquals([error.code, handled], [Code.InvalidArgument, 1], protocol);
      assertMatch(error.rawMessage, /name/);
      assertMatch(error.rawMessage, /age/);
      assertEquals(
        error.details.map((detail) => "type" in detail ? detail.type : detail.desc.typeName),
        ["buf.validate.Violations"],
      );
      async function* users() {
        yield { name: "ann", age: 1 };
        yield { name: "x", age: 1 };
      }
      assertEquals(await codeOf(Array.fromAsync(client.addAll(users()))), Code.InvalidArgument);
      told.length = 0;
      assertEquals(await codeOf(client.odd({ text: "x" })), Code.Unknown);
      assertEquals(told.length, 1, "a rule that does not compile is told");
    },
    { file: VALIDATED, onError: (error) => told.push(error) },
  );
});

Deno.test("validation() holds responses to their rules where it is asked to, and clients' requests", async () => {
  const handlers = {
    Add: ({ name }: { name: string }) => ({ name, age: 0 }),
    async *AddAll() {
      yield { name: "ann", age: 1 };
      yield { name: "x" };
    },
  };
  await onEveryProtocol(handlers, [await grpc.validation({ responses: true })], async (client) => {
    assertEquals(await codeOf(client.add({ name: "ann", age: 1 })), Code.Internal);
    async function* none() {}
    assertEquals(await codeOf(Array.fromAsync(client.addAll(none()))), Code.Internal);
  }, { file: VALIDATED });
  let handled = 0;
  const registrar = new grpc.Registrar();
  registrar.register(VALIDATED, { Add: (user: object) => (handled++, user) });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
  const interceptors = [await grpc.validation()];
  await using conn = grpc.newClient({ targets: [server.addr], interceptors });
  const users = grpc.newService(conn, VALIDATED);
  assertEquals(await codeOf(users.Add({ name: "x" }, 10_000)), Code.InvalidArgument);
  assertEquals(handled, 0);
  for (const wrong of [{ registry: 5 }, { responses: "yes" }, { response: true }, null]) {
    await assertRejects(() => grpc.validation(wrong as Any), TypeError, "Cannot validate messages");
  }
});
