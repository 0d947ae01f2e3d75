import { assert, assertEquals } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import { grpc, http } from "@sluice/sluice";
import { data, headers } from "../../../support/frames.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { callFields, EMPTY_MESSAGE } from "../../../support/raw_call.ts";
import { RawH2 } from "../../../support/raw_h2.ts";

const MAX_HEADER_LIST_SIZE = 6;

function serve(handlers: grpc.Handlers, options: Partial<grpc.ServerOptions> = {}) {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  return grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100, ...options });
}

/** Fields of a line of the transcript, whose values have no blanks. */
function fieldsOf(line: string): [string, string][] {
  return line.split(" ").slice(2).filter((part) => part !== "END_STREAM").map((part) => {
    const equals = part.indexOf("=", 1);
    return [part.slice(0, equals), part.slice(equals + 1)];
  });
}

Deno.test("an answer fits the client's SETTINGS_MAX_HEADER_LIST_SIZE and keeps its code", async () => {
  const error = new ConnectError("m".repeat(20_000), Code.NotFound, {
    "x-one": "1",
    "x-large": "l".repeat(700),
    "x-two": "2",
  }, [{ desc: StringValueSchema, value: { value: "d".repeat(300) } }]);
  let faults: string[] = [];
  await using server = serve({
    SayHello: () => {
      throw error;
    },
    async *ListReplies() {
      yield {};
      throw error;
    },
  }, { onError: (fault) => faults.push((fault as Error).message) });
  // The list, what is in it besides the code, and whether the message is whole.
  for (const limit of [150, 200, 400, 1000, 5000, 8600, 9100, 30_000, undefined]) {
    for (const method of ["SayHello", "ListReplies"]) {
      faults = [];
      const raw = await RawH2.open(
        server.port,
        ...(limit === undefined ? [] : [[MAX_HEADER_LIST_SIZE, limit] as [number, number]]),
      );
      await raw.send(
        headers(1, callFields(`test.Greeter/${method}`)),
        data(1, EMPTY_MESSAGE, true),
      );
      const fields = fieldsOf(await raw.line("HEADERS 1 END_STREAM"));
      const size = fields.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
      assert(size <= (limit ?? Infinity), `${size} > ${limit}`);
      const map = new Map(fields);
      assertEquals(map.get("grpc-status"), "5");
      const length = map.get("grpc-message")?.length ?? 0;
      assert(length <= 8192);
      if (limit === undefined || limit >= 30_000) {
        assertEquals([length, map.get("x-large")?.length], [8192, 700]);
        assert(map.has("grpc-status-details-bin"));
        assertEquals(faults.length, 1, faults.join());
      } else {
        // Details give way first, then metadata, then the end of the message.
        assert(faults.length > 0);
        if (limit < 8192) assert(length > limit - 195, `${length} of ${limit}`);
        else assertEquals([length, map.get("x-one"), map.get("x-two")], [8192, "1", "2"]);
      }
      await raw.close();
    }
  }
});

Deno.test("echoed metadata of any bytes are left out, and onError hears their name and the rule", async () => {
  const told: string[] = [];
  const echo = (
    _: Request,
    { requestHeader, responseHeader, responseTrailer }: grpc.CallContext,
  ) => {
    const id = requestHeader.get("x-id")!;
    responseHeader.set("x-id", id);
    responseTrailer.set("x-id", id);
    return id;
  };
  await using server = serve({
    SayHello: (request, context) => {
      echo(request, context);
      if (request.count === 1) throw new ConnectError("sync", Code.NotFound);
      return {};
    },
    SumSizes: (_, context) => {
      throw new ConnectError("with metadata", Code.Aborted, {
        "x-id": context.requestHeader.get("x-id")!,
      });
    },
    async *ListReplies(request: Request, context: grpc.CallContext) {
      echo(request, context);
      yield {};
      throw new ConnectError("stream", Code.DataLoss);
    },
    // deno-lint-ignore require-yield
    Chat: async function* (_: unknown, context: grpc.CallContext) {
      context.responseTrailer.set("x-id", context.requestHeader.get("x-id")!);
      await new Promise(() => {});
    },
  }, { onError: (error, method) => told.push(`${method}: ${(error as Error).message}`) });
  const raw = await RawH2.open(server.port);
  const count1 = Uint8Array.of(0, 0, 0, 0, 2, 0x18, 1);
  const id = ["x-id", "caf\xe9"];
  await raw.send(
    headers(1, callFields("test.Greeter/SayHello", ...id)),
    data(1, EMPTY_MESSAGE, true),
    headers(3, callFields("test.Greeter/SayHello", ...id)),
    data(3, count1, true),
    headers(5, callFields("test.Greeter/SumSizes", ...id)),
    data(5, EMPTY_MESSAGE, true),
    headers(7, callFields("test.Greeter/ListReplies", ...id)),
    data(7, EMPTY_MESSAGE, true),
    headers(9, callFields("test.Greeter/Chat", ...id, "grpc-timeout", "20m")),
  );
  for (const [stream, status] of [[1, 0], [3, 5], [5, 10], [7, 15], [9, 4]] as const) {
    const line = await raw.line(`HEADERS ${stream} END_STREAM`);
    assert(line.includes(`grpc-status=${status}`), line);
    assert(!line.includes("x-id"), line);
  }
  assert(!raw.lines.some((line) => line.startsWith("GOAWAY")));
  assertEquals(told.length, 2 + 2 + 1 + 2 + 1);
  for (const text of told) {
    assert(/^\/test\.Greeter\/\w+: .*"x-id".*printable ASCII/.test(text), text);
  }
  await raw.close();
});

Deno.test("names the protocol keeps for itself are not sent, and told", async () => {
  const told: string[] = [];
  const names = ["grpc-status", "grpc-foo", "content-type", "te", "connection", "host"];
  await using server = serve({
    SayHello: (_, context) => {
      for (const name of names) context.responseTrailer.set(name, "7");
      context.responseTrailer.set("x-mine", "1");
      context.responseTrailer.set("x-bytes-bin", "not base64!");
      return {};
    },
  }, { onError: (error) => told.push((error as Error).message) });
  const raw = await RawH2.open(server.port);
  await raw.send(headers(1, callFields("test.Greeter/SayHello")), data(1, EMPTY_MESSAGE, true));
  assertEquals(fieldsOf(await raw.line("HEADERS 1 END_STREAM")), [["grpc-status", "0"], [
    "x-mine",
    "1",
  ]]);
  assertEquals(told.length, names.length + 1);
  for (const name of [...names, "x-bytes-bin"]) {
    assert(told.some((text) => text.includes(JSON.stringify(name))), name);
  }
  await raw.close();
});

Deno.test("repeated metadata are sent apart", async () => {
  await using server = serve({
    SayHello: (_, context) => {
      for (const headers of [context.responseHeader, context.responseTrailer]) {
        headers.append("x-a", "1");
        headers.append("X-A", "2");
        headers.append("x-b", "gone");
        headers.set("x-b", "3");
        headers.append("x-c", "gone");
        headers.delete("x-c");
        headers.append("x-d-bin", "AQ==, AgM=");
      }
      return {};
    },
  });
  const raw = await RawH2.open(server.port);
  await raw.send(headers(1, callFields("test.Greeter/SayHello")), data(1, EMPTY_MESSAGE, true));
  const trailers = fieldsOf(await raw.line("HEADERS 1 END_STREAM"));
  const expected = [["x-a", "1"], ["x-a", "2"], ["x-b", "3"], ["x-d-bin", "AQ"], [
    "x-d-bin",
    "AgM",
  ]];
  assertEquals(trailers.slice(1), expected as [string, string][]);
  assertEquals(fieldsOf(await raw.line("HEADERS 1")).slice(2), expected as [string, string][]);
  await raw.close();
});

Deno.test("codes that are none are UNKNOWN, and told", async () => {
  const told: string[] = [];
  let code: unknown;
  await using server = serve({
    SayHello: () => {
      const error = new ConnectError("odd", Code.Internal);
      Object.assign(error, { code });
      throw error;
    },
  }, { onError: (error) => told.push((error as Error).message) });
  const raw = await RawH2.open(server.port);
  let id = -1;
  for (code of [0, 17, -1, 1.5, NaN, "5", undefined, {}]) {
    id += 2;
    await raw.send(headers(id, callFields("test.Greeter/SayHello")), data(id, EMPTY_MESSAGE, true));
    const line = await raw.line(`HEADERS ${id} END_STREAM`);
    assert(line.includes("grpc-status=2 ") && line.includes("grpc-message=odd"), line);
  }
  assertEquals(told.length, 8);
  for (const text of told) assert(text.includes("integer from 1 to 16"), text);
  await raw.close();
});

Deno.test("compress: clients that take deflate alone get it", async () => {
  await using server = serve(
    { SayHello: () => ({ message: "x".repeat(5000) }) },
    { compress: true },
  );
  const raw = await RawH2.open(server.port);
  const accepts = ["identity", "identity,deflate", "deflate, GZIP", "br"];
  for (const [i, accept] of accepts.entries()) {
    const id = 2 * i + 1;
    await raw.send(
      headers(id, callFields("test.Greeter/SayHello", "grpc-accept-encoding", accept)),
      data(id, EMPTY_MESSAGE, true),
    );
    await raw.line(`HEADERS ${id} END_STREAM`);
  }
  const encodings = accepts.map((_, i) =>
    new Map(fieldsOf(raw.lines.find((line) => line.startsWith(`HEADERS ${2 * i + 1} `))!))
      .get("grpc-encoding")
  );
  assertEquals(encodings, [undefined, "deflate", "gzip", undefined]);
  await raw.close();
});

Deno.test("what clients send is not answered at any length", async () => {
  const registrar = new grpc.Registrar();
  new grpc.Health().register(registrar);
  grpc.reflection(registrar);
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  const raw = await RawH2.open(server.port);
  const name = "é".repeat(500_000);
  const text = new TextEncoder().encode(name);
  // HealthCheckRequest.service and ServerReflectionRequest.file_by_filename.
  for (
    const [id, method, field] of [
      [1, "grpc.health.v1.Health/Check", 0x0a],
      [3, "grpc.reflection.v1.ServerReflection/ServerReflectionInfo", 0x1a],
    ] as const
  ) {
    const length = [0xc0, 0x84, 0x3d]; // 1,000,000 as a varint
    const size = 1 + length.length + text.length;
    const message = Uint8Array.of(
      0,
      0,
      size >> 16,
      (size >> 8) & 255,
      size & 255,
      field,
      ...length,
    );
    const body = new Uint8Array([...message, ...text]);
    await raw.send(headers(id, callFields(method)));
    for (let at = 0; at < body.length; at += 16_384) {
      const end = at + 16_384;
      await raw.send(data(id, body.subarray(at, end), end >= body.length));
    }
    const line = await raw.line(`HEADERS ${id} END_STREAM`);
    assert(line.length < 2000, `${line.length}`);
  }
  assert(raw.received < 2000, `${raw.received}`);
  await raw.close();
});

Deno.test("gRPC-Web and Connect: metadata a client does not take are left out of the head", async () => {
  const told: string[] = [];
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: (_, context) => {
      context.responseHeader.set("x-large", "l".repeat(1000));
      context.sendHeader();
      return {};
    },
  });
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, onError: (error) => told.push((error as Error).name) }),
  });
  const raw = await RawH2.open(server.port, [MAX_HEADER_LIST_SIZE, 600]);
  for (const [id, type] of [[1, "application/grpc-web"], [3, "application/proto"]] as const) {
    const fields = callFields("test.Greeter/SayHello");
    fields[fields.indexOf("application/grpc")] = type;
    await raw.send(headers(id, fields), data(id, id === 1 ? EMPTY_MESSAGE : "", true));
    const line = await raw.line(`HEADERS ${id}`);
    assert(line.includes(":status=200") && line.includes(`content-type=${type}`), line);
    assert(!line.includes("x-large"), line);
    await raw.until(() =>
      raw.lines.some((one) => one.startsWith(`DATA ${id} END_STREAM`)) ||
      line.includes("END_STREAM")
    );
  }
  assertEquals(told, ["HeadersTooLargeError", "HeadersTooLargeError"]);
  await raw.close();
});

Deno.test("fields that hold one value are refused if they are repeated", async () => {
  const given = new grpc.Registrar();
  given.register(GREETER, { SayHello: () => ({}) });
  await using server = serve({ SayHello: () => ({}) });
  await using shared = http.listen({
    addr: "127.0.0.1:0",
    registrar: given,
    handler: () => new Response(null, { status: 415 }),
  });
  const repeated = [
    ["content-type", "application/grpc"],
    ["grpc-timeout", "9S", "grpc-timeout", "1S"],
    ["grpc-encoding", "identity", "grpc-encoding", "identity"],
  ];
  for (const { port } of [server, shared]) {
    const raw = await RawH2.open(port);
    for (const [i, fields] of repeated.entries()) {
      const id = 2 * i + 1;
      await raw.send(
        headers(id, callFields("test.Greeter/SayHello", ...fields)),
        data(id, EMPTY_MESSAGE, true),
      );
      const answer = Object.fromEntries(fieldsOf(await raw.line(`HEADERS ${id} `)));
      const { [":status"]: status, "grpc-status": code = "" } = answer;
      assertEquals([status, code], [["415", ""], ["200", "13"], ["200", "12"]][i]);
    }
    raw.close();
  }
});
