/** Wrong arguments of every public function of the gRPC entry are refused in words of its own. */
import { assertEquals } from "@std/assert";
import * as grpc from "../../grpc/mod.ts";
import { CALL_OPTION_NAMES } from "../../grpc/client/call_options.ts";
import { CLIENT_OPTIONS } from "../../grpc/client/options.ts";
import { MOUNT_NAMES, OPTION_NAMES } from "../../grpc/server/server.ts";
import { Loader } from "../../protoc/mod.ts";
import { eachOption, end, misuse, type Subject } from "../../support/misuse.ts";

const file = new Loader().load(
  `syntax = "proto3";
   package p;
   message M { string a = 1; }
   service S {
     rpc One(M) returns (M);
     rpc Down(M) returns (stream M);
     rpc Up(stream M) returns (M);
     rpc Both(stream M) returns (stream M);
   }`,
  "misuse.proto",
);

// deno-lint-ignore no-explicit-any
function registrar(handlers: Record<string, any> = {}): grpc.Registrar {
  const made = new grpc.Registrar();
  made.register(file, {
    One: (request: object) => request,
    Down: async function* (request: object) {
      yield request;
    },
    Up: async (requests: AsyncIterable<object>) => (await Array.fromAsync(requests))[0] ?? {},
    Both: async function* (requests: AsyncIterable<object>) {
      yield* requests;
    },
    ...handlers,
  });
  return made;
}

/** A server and a service of a client of it. `errors` is what `onError` heard. */
function pair(handlers = {}) {
  const errors: unknown[] = [];
  const server = grpc.listen({
    addr: "127.0.0.1:0",
    registrar: registrar(handlers),
    onError: (error) => void errors.push(error),
  });
  const conn = grpc.newClient({ targets: [server.addr] });
  return {
    errors,
    target: server.addr,
    conn,
    service: grpc.newService(conn, file),
    async [Symbol.asyncDispose]() {
      await conn.close();
      await server.close();
    },
  };
}

Deno.test("wrong arguments of gRPC's functions are refused by name", async () => {
  await using p = pair();
  const addr = "127.0.0.1:0";
  const health = new grpc.Health();
  // deno-lint-ignore no-explicit-any
  const bare = () => new grpc.Registrar() as any;
  const use = async (conn: grpc.Conn) => {
    try {
      await grpc.newService(conn, file)["One"]({}, { timeout: 5000 });
    } finally {
      await conn.close();
    }
  };
  const listen = (options: object) => grpc.listen({ addr, registrar: registrar(), ...options });
  const mount = (options: object) => grpc.mount({ registrar: registrar(), ...options });
  const connect = (options: object) => grpc.newClient({ targets: [p.target], ...options });
  assertEquals(
    await misuse({
      newClient: { args: [{ targets: [p.target] }], call: grpc.newClient, over: end },
      newService: { args: [p.conn, file, "S"], call: grpc.newService },
      listen: { args: [{ addr, registrar: registrar() }], call: grpc.listen, over: end },
      mount: { args: [{ registrar: registrar() }], call: grpc.mount },
      codeName: { args: [1], call: grpc.codeName },
      reflection: { args: [registrar()], call: grpc.reflection },
      "register, by name": { args: [file, "S", {}], call: (...args) => bare().register(...args) },
      register: { args: [file, {}], call: (...args) => bare().register(...args) },
      "health.register": { args: [registrar()], call: (r) => health.register(r) },
      "health.set": { args: ["x", "SERVING"], call: (a, b) => health.set(a, b) },
      "health.get": { args: ["x"], call: (a) => health.get(a) },
      "health.delete": { args: ["x"], call: (a) => health.delete(a) },
      ...eachOption("listen", OPTION_NAMES, listen, end),
      ...eachOption("mount", MOUNT_NAMES, mount),
      ...eachOption("newClient", CLIENT_OPTIONS, connect, use),
    }),
    [],
  );
});

Deno.test("wrong arguments of calls are refused by name", async () => {
  await using p = pair();
  const { service } = p;
  const opened =
    (use: (stream: grpc.CallStream<object, object>) => Promise<unknown>) => async () => {
      using stream = await service["Both"]({ timeout: 30_000 });
      await stream.write({});
      await use(stream);
    };
  assertEquals(
    await misuse({
      One: { args: [{ a: "x" }, {}], call: (...args) => service["One"](...args) },
      Down: { args: [{ a: "x" }, {}], call: (...args) => service["Down"](...args), over: end },
      Up: { args: [{}], call: (...args) => service["Up"](...args), over: end },
      Both: { args: [{}], call: (...args) => service["Both"](...args), over: end },
      write: { args: [{ a: "x" }], call: (m) => opened((stream) => stream.write(m))() },
      read: { args: [5], call: (t) => opened((stream) => stream.read(t))() },
      ...eachOption("One", CALL_OPTION_NAMES, (o) => service["One"]({}, o)),
      ...eachOption("Down", CALL_OPTION_NAMES, (o) => service["Down"]({}, o), end),
      ...eachOption("Both", CALL_OPTION_NAMES, (o) => service["Both"](o), end),
    }),
    [],
  );
});

Deno.test("wrong results of handlers end their call with an error in words of its own", async () => {
  const subjects: Record<string, Subject> = {};
  for (const method of ["One", "Down", "Up", "Both"]) {
    const call = async (result: unknown) => {
      await using p = pair({ [method]: () => result });
      const options = { timeout: 30_000 };
      try {
        if (method === "One") await p.service[method]({}, options);
        else {
          const args = method === "Down" ? [{}, options] : [options];
          using stream = await p.service[method](...args);
          if (method !== "Down") stream.closeWrite();
          await stream.read();
        }
      } catch (error) {
        assertEquals((error as grpc.ConnectError).code, grpc.Code.Unknown, String(error));
      }
      for (const error of p.errors) throw error;
    };
    subjects[method] = { args: [0], call };
  }
  assertEquals(await misuse(subjects), []);
});
