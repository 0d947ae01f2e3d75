/** Credentials of single calls: what they are for, where they may go, and how they fail. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { GREETER } from "../../../support/greeter.ts";
import { peerTest } from "../../../support/peers.ts";
import { codeOf } from "../../../support/with_greeter.ts";

function registrarOf(handlers: grpc.Handlers): grpc.Registrar {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  return registrar;
}

const echo: grpc.Handlers = {
  SayHello: (_, { requestHeader }) => ({ message: requestHeader.get("authorization") ?? "none" }),
  async *ListReplies(_, { requestHeader }) {
    yield { message: requestHeader.get("authorization") ?? "none" };
  },
};

peerTest(
  "each call has its own, for the URL of its service, over TLS",
  { needs: [OPENSSL] },
  async () => {
    const authority = await sharedAuthority();
    await using server = grpc.listen({
      addr: "127.0.0.1:0",
      registrar: registrarOf(echo),
      tls: true,
      certs: [await authority.leaf()],
    });
    const asked: string[] = [];
    await using conn = grpc.newClient({
      targets: [`localhost:${server.port}`],
      tls: { caCerts: [authority.ca] },
      interceptors: [grpc.callCredentials(({ serviceUrl, method, signal }) => {
        asked.push(`${serviceUrl} ${method}`);
        assert(!signal.aborted);
        return Promise.resolve({ authorization: `Bearer ${asked.length}` });
      })],
    });
    const greeter = grpc.newService(conn, GREETER);
    assertEquals((await greeter.SayHello({})).message, "Bearer 1");
    assertEquals((await greeter.SayHello({})).message, "Bearer 2");
    const replies: { message: string }[] = await Array.fromAsync(await greeter.ListReplies({}));
    assertEquals(replies.map(({ message }) => message), ["Bearer 3"]);
    const url = `https://localhost:${server.port}/test.Greeter`;
    assertEquals(asked, [`${url} SayHello`, `${url} SayHello`, `${url} ListReplies`]);
  },
);

Deno.test("without TLS nothing is asked for and nothing sent, unless it is allowed", async () => {
  let asked = 0;
  const get = () => {
    asked++;
    return { authorization: "Bearer x" };
  };
  for (const allowPlaintext of [false, true]) {
    await using rpc = grpc.inProcess(registrarOf(echo), {
      client: { interceptors: [grpc.callCredentials(get, { allowPlaintext })] },
    });
    const call = grpc.newService(rpc.conn, GREETER).SayHello({});
    if (allowPlaintext) assertEquals((await call).message, "Bearer x");
    else assertEquals(await codeOf(call), Code.Unauthenticated);
    assertEquals(asked, allowPlaintext ? 1 : 0);
  }
});

Deno.test("failures have the codes that callers can act on", async () => {
  let failure: unknown;
  let calls = 0;
  await using rpc = grpc.inProcess(
    registrarOf({
      SayHello: () => {
        calls++;
        return {};
      },
    }),
    {
      client: {
        interceptors: [
          grpc.callCredentials(() => Promise.reject(failure), { allowPlaintext: true }),
        ],
      },
    },
  );
  const greeter = grpc.newService(rpc.conn, GREETER);
  const internal = [
    Code.InvalidArgument,
    Code.NotFound,
    Code.AlreadyExists,
    Code.FailedPrecondition,
    Code.Aborted,
    Code.OutOfRange,
    Code.DataLoss,
  ];
  for (let code = 1; code <= 16; code++) {
    failure = new ConnectError("no token", code);
    const wanted = internal.includes(code) ? Code.Internal : code;
    assertEquals(await codeOf(greeter.SayHello({})), wanted, Code[code]);
  }
  await using client = http.newClient({ retry: 0 });
  const [, refused] = await http.attempt(client.get("http://127.0.0.1:1/token"));
  for (
    const [error, wanted] of [
      [new Error("no token"), Code.Unauthenticated],
      ["no token", Code.Unauthenticated],
      [refused, Code.Unavailable],
    ] as const
  ) {
    failure = error;
    assertEquals(await codeOf(greeter.SayHello({})), wanted);
  }
  assertEquals(calls, 0);
});

Deno.test("a call does not wait for credentials beyond its deadline or its end", async () => {
  let aborted = 0;
  await using rpc = grpc.inProcess(registrarOf(echo), {
    clock: "manual",
    client: {
      interceptors: [grpc.callCredentials(({ signal }) => {
        signal.addEventListener("abort", () => aborted++);
        return new Promise(() => {});
      }, { allowPlaintext: true })],
    },
  });
  const greeter = grpc.newService(rpc.conn, GREETER);
  const late = codeOf(greeter.SayHello({}, { timeout: 5000 }));
  await rpc.clock!.until(late);
  assertEquals([await late, aborted], [Code.DeadlineExceeded, 1]);
  const cancel = new AbortController();
  const cancelled = codeOf(greeter.SayHello({}, { signal: cancel.signal }));
  cancel.abort();
  await rpc.clock!.until(cancelled);
  assertEquals([await cancelled, aborted], [Code.Canceled, 2]);
});

Deno.test("what gives no credentials is refused where it is given", () => {
  assertThrows(
    () => grpc.callCredentials("Bearer x" as never),
    TypeError,
    "get must be a function",
  );
  assertThrows(
    () => grpc.callCredentials(() => ({}), { allowPlaintexts: true } as never),
    TypeError,
    'did you mean "allowPlaintext"',
  );
});
