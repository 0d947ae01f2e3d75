/** Programs with `OTEL_DENO=true`: what an OTLP receiver gets of calls, without any option. */
import { assert, assertEquals } from "@std/assert";
import { type Received, type ReceivedSpan, runTraced } from "../../../support/otlp.ts";

const PROTO = `
  import { Loader } from "$ROOTprotoc/mod.ts";
  const file = new Loader().load(\`
    syntax = "proto3";
    package t;
    message M { string text = 1; }
    service S {
      rpc One(M) returns (M);
      rpc Down(M) returns (stream M);
      rpc Up(stream M) returns (M);
      rpc Both(stream M) returns (stream M);
      rpc Absent(M) returns (M);
    }
  \`, "t.proto");
`;

function child(received: Received, parent: ReceivedSpan, kind: string, name: string): ReceivedSpan {
  const found = received.own().filter((span) =>
    span.parent === parent.id && span.kind === kind && span.name === name
  );
  assertEquals(found.length, 1, `${kind} ${name} under ${parent.name}`);
  assertEquals(found[0]!.trace, parent.trace);
  return found[0]!;
}

Deno.test("one trace goes through HTTP, gRPC, gRPC-Web, Connect and etcd", async () => {
  const received = await runTraced(`
    import { get, listen as listenHttp } from "$ROOThttp/mod.ts";
    import { newClient, newService, Registrar } from "$ROOTgrpc/mod.ts";
    import { newClient as newKvClient } from "$ROOTkv/mod.ts";
    import { listen as listenStore } from "$ROOTkv/server/mod.ts";
    ${PROTO}
    await using store = listenStore({ addr: "memory:" });
    await using keys = newKvClient({ endpoints: store });
    const registrar = new Registrar();
    registrar.register(file, {
      async One({ text }) {
        await keys.put({ key: "k", value: text });
        return { text };
      },
      async *Down({ text }) {
        yield { text };
        await keys.get({ key: "k" });
        yield { text };
      },
    });
    let service;
    await using server = listenHttp({
      addr: "127.0.0.1:0",
      registrar,
      handler: async (stream) => {
        const { text } = await service.One({ text: "hello" });
        const replies = await service.Down({ text: "hello" });
        for await (const _ of replies) { /* to its end */ }
        return new Response(text);
      },
    });
    await using conn = newClient({ targets: [server.addr] });
    service = newService(conn, file);
    const url = "http://" + server.addr;
    await get(url + "/start", { connection: "close" });
    // As browsers call.
    await (await fetch(url + "/t.S/One", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"text":"connect"}',
    })).text();
    await (await fetch(url + "/t.S/One", {
      method: "POST",
      headers: { "content-type": "application/grpc-web+proto" },
      body: new Uint8Array(5),
    })).text();
  `);
  const start = received.own("CLIENT", "GET")[0]!;
  const handled = child(received, start, "SERVER", "GET");
  const call = child(received, handled, "CLIENT", "t.S/One");
  const served = child(received, call, "SERVER", "t.S/One");
  const put = child(received, served, "CLIENT", "put");
  assertEquals(put.attributes["db.system.name"], "etcd");
  const attempt = child(received, put, "CLIENT", "etcdserverpb.KV/Put");
  child(received, attempt, "SERVER", "etcdserverpb.KV/Put");
  // The body of a generator runs in its call's context too.
  const down = child(
    received,
    child(received, handled, "CLIENT", "t.S/Down"),
    "SERVER",
    "t.S/Down",
  );
  child(received, down, "CLIENT", "get");
  assertEquals(
    [call, served].map(({ attributes, failed }) => [
      attributes["rpc.system.name"],
      attributes["rpc.method"],
      attributes["rpc.response.status_code"],
      attributes["error.type"],
      failed,
    ]),
    [1, 2].map(() => ["grpc", "t.S/One", "OK", undefined, false]),
  );
  assertEquals(call.attributes["server.address"], "127.0.0.1");
  // Under the platform's fetch.
  const web = received.own("SERVER", "t.S/One").filter(({ parent }) =>
    received.spans.some(({ id, scope }) => id === parent && scope === "deno")
  );
  assertEquals(web.map(({ attributes }) => attributes["rpc.system.name"]), ["connectrpc", "grpc"]);
  for (const span of web) child(received, span, "CLIENT", "put");
  for (const side of ["server", "client"]) {
    const points = received.metric(`rpc.${side}.call.duration`);
    assertEquals([points[0]?.unit, points[0]?.bounds[0]], ["s", 0.005]);
    assert(points.some(({ attributes }) => attributes["rpc.method"] === "t.S/One"));
  }
  assert(received.metric("db.client.operation.duration").length > 0);
});

Deno.test("statuses, cancellations, deadlines and streams of calls are shown on both sides", async () => {
  const received = await runTraced(`
    import { attempt } from "$ROOThttp/mod.ts";
    import { Code, ConnectError, listen, newClient, newService, Registrar } from "$ROOTgrpc/mod.ts";
    ${PROTO}
    const registrar = new Registrar();
    const arrivals = [], ends = [];
    const hang = (context) => new Promise((_, reject) => {
      arrivals.shift()?.();
      context.signal.addEventListener("abort", () => {
        reject(context.signal.reason);
        ends.shift()?.();
      });
    });
    registrar.register(file, {
      One({ text }, context) {
        if (text === "missing") throw new ConnectError("no such thing", Code.NotFound);
        if (text === "broken") throw new Error("a secret");
        if (text === "hang") return hang(context);
        return { text };
      },
      async *Down(_, context) {
        yield { text: "first" };
        await hang(context);
      },
      async Up(requests) {
        let text = "";
        for await (const request of requests) text += request.text;
        return { text };
      },
      async *Both(requests) {
        for await (const request of requests) yield request;
      },
    });
    await using server = listen({ addr: "127.0.0.1:0", registrar, onError: null });
    await using conn = newClient({ targets: [server.addr], telemetry: { grpcMetrics: true } });
    const service = newService(conn, file);
    for (const text of ["well", "missing", "broken"]) await attempt(service.One({ text }));
    await attempt(service.Absent({}));
    await attempt(service.One({ text: 5 }));
    {
      const arrived = new Promise((resolve) => arrivals.push(resolve));
      const ended = new Promise((resolve) => ends.push(resolve));
      const control = new AbortController();
      const call = attempt(service.One({ text: "hang" }, { signal: control.signal }));
      await arrived;
      control.abort();
      await Promise.all([call, ended]);
    }
    await attempt(service.One({ text: "hang" }, { timeout: 50 }));
    {
      const ended = new Promise((resolve) => ends.push(resolve));
      const replies = await service.Down({});
      await replies.read();
      replies.close();
      await ended;
    }
    for (const name of ["Up", "Both"]) {
      const call = await service[name]();
      await call.write({ text: "a" });
      call.closeWrite();
      for await (const _ of call) { /* to its end */ }
    }
    // Methods that anybody may make up.
    const raw = await fetch("http://" + server.addr).catch(() => null);
    await raw?.body?.cancel();
  `);
  const statuses = (kind: "SERVER" | "CLIENT", name: string): unknown[] =>
    received.own(kind, name).map(({ attributes, failed }) => [
      attributes["rpc.response.status_code"],
      attributes["error.type"],
      failed,
    ]).sort();
  assertEquals(
    statuses("CLIENT", "t.S/One"),
    [
      [undefined, "TypeError", true],
      ["CANCELLED", "CANCELLED", true],
      ["DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", true],
      ["NOT_FOUND", "NOT_FOUND", true],
      ["OK", undefined, false],
      ["UNKNOWN", "UNKNOWN", true],
    ].sort(),
  );
  const served = statuses("SERVER", "t.S/One").map((one) => (one as unknown[])[0]);
  assertEquals(served.includes("CANCELLED") && served.includes("NOT_FOUND"), true);
  // What is the client's fault is no error of the server.
  for (const span of received.own("SERVER", "t.S/One")) {
    const status = span.attributes["rpc.response.status_code"];
    assertEquals(span.failed, status === "UNKNOWN" || status === "DEADLINE_EXCEEDED", `${status}`);
  }
  assertEquals(statuses("CLIENT", "t.S/Absent"), [["UNIMPLEMENTED", "UNIMPLEMENTED", true]]);
  assertEquals(statuses("CLIENT", "t.S/Down"), [["CANCELLED", "CANCELLED", true]]);
  assertEquals(statuses("SERVER", "t.S/Down"), [["CANCELLED", undefined, false]]);
  for (const name of ["t.S/Up", "t.S/Both"]) {
    assertEquals(statuses("CLIENT", name), [["OK", undefined, false]]);
    assertEquals(statuses("SERVER", name), [["OK", undefined, false]]);
  }
  // gRPC's own names, asked for on the client alone.
  const started = received.metric("grpc.client.attempt.started");
  assertEquals(started.find(({ attributes }) => attributes["grpc.method"] === "t.S/One")?.value, 5);
  const attempts = received.metric("grpc.client.attempt.duration");
  assertEquals(attempts[0]?.bounds.length, 41);
  assert(attempts.some(({ attributes }) => attributes["grpc.status"] === "NOT_FOUND"));
  assertEquals(received.metric("grpc.server.call.started"), []);
});

Deno.test("methods that are not served have one name, and gRPC's own metrics on the server", async () => {
  const received = await runTraced(`
    import { attempt } from "$ROOThttp/mod.ts";
    import { listen, newClient, newService, Registrar } from "$ROOTgrpc/mod.ts";
    ${PROTO}
    const registrar = new Registrar();
    await using server = listen({
      addr: "127.0.0.1:0",
      registrar,
      telemetry: { grpcMetrics: true },
    });
    await using conn = newClient({ targets: [server.addr], telemetry: false });
    const service = newService(conn, file);
    for (const name of ["One", "Absent"]) await attempt(service[name]({}));
  `);
  assertEquals(received.own("CLIENT"), []);
  const spans = received.own("SERVER");
  assertEquals(
    spans.map(({ name, attributes, failed }) => [
      name,
      attributes["rpc.method"],
      attributes["rpc.response.status_code"],
      failed,
    ]),
    [1, 2].map(() => ["grpc", "_OTHER", "UNIMPLEMENTED", true]),
  );
  const [duration] = received.metric("grpc.server.call.duration");
  assertEquals(duration?.attributes, { "grpc.method": "other", "grpc.status": "UNIMPLEMENTED" });
  assertEquals(received.metric("grpc.server.call.started")[0]?.value, 2);
  // What is refused by its head carries no messages that anybody counted.
  assertEquals(received.metric("grpc.server.call.sent_total_compressed_message_size"), []);
});

Deno.test("a call that is retried or hedged is one span, and all its attempts are measured", async () => {
  const received = await runTraced(`
    import { Code, ConnectError, listen, newClient, newService, Registrar } from "$ROOTgrpc/mod.ts";
    ${PROTO}
    const parents = [];
    let failures = 2;
    const registrar = new Registrar();
    registrar.register(file, {
      One({ text }, { requestHeader }) {
        parents.push(requestHeader.get("traceparent"));
        if (failures-- > 0) throw new ConnectError("again", Code.Unavailable);
        return { text };
      },
      async *Down({ text }, { signal }) {
        if (failures-- > 0) {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        }
        yield { text };
      },
    });
    await using server = listen({ addr: "127.0.0.1:0", registrar });
    await using conn = newClient({
      targets: [server.addr],
      telemetry: { grpcMetrics: true },
      serviceConfig: {
        methodConfig: [
          {
            name: [{ service: "t.S", method: "One" }],
            retryPolicy: {
              maxAttempts: 4,
              initialBackoff: "0.001s",
              maxBackoff: "0.01s",
              backoffMultiplier: 2,
              retryableStatusCodes: ["UNAVAILABLE"],
            },
          },
          {
            name: [{ service: "t.S", method: "Down" }],
            hedgingPolicy: { maxAttempts: 2, hedgingDelay: "0.02s" },
          },
        ],
      },
    });
    const service = newService(conn, file);
    await service.One({ text: "a" }, { headers: { traceparent: "mine", other: "kept" } });
    if (new Set(parents).size !== 1 || parents[0] === "mine") throw new Error(String(parents));
    failures = 1;
    for await (const _ of await service.Down({ text: "b" })) { /* to its end */ }
  `);
  for (const [name, attempts] of [["t.S/One", 3], ["t.S/Down", 2]] as const) {
    const calls = received.own("CLIENT", name);
    assertEquals(calls.length, 1);
    assertEquals(calls[0]!.events, Array(attempts - 1).fill("attempt"));
    assertEquals([calls[0]!.attributes["rpc.response.status_code"], calls[0]!.failed], [
      "OK",
      false,
    ]);
    const of = (metric: string): number =>
      received.metric(metric)
        .filter(({ attributes }) => attributes["grpc.method"] === name)
        .reduce((sum, { value }) => sum + value, 0);
    assertEquals(of("grpc.client.attempt.started"), attempts);
    assertEquals(of("grpc.client.attempt.duration"), attempts);
    assertEquals(of("grpc.client.call.duration"), 1);
    for (const way of ["sent", "rcvd"]) {
      assertEquals(of(`grpc.client.attempt.${way}_total_compressed_message_size`), attempts);
    }
    assertEquals(received.own("SERVER", name).length, attempts);
  }
});

Deno.test("clients of gRPC-Web and Connect make one span a call, joined with the server's", async () => {
  const received = await runTraced(`
    import { attempt, listen } from "$ROOThttp/mod.ts";
    import { Code, ConnectError, newClient, newService, Registrar } from "$ROOTgrpc/mod.ts";
    ${PROTO}
    const registrar = new Registrar();
    registrar.register(file, {
      One({ text }) {
        if (text === "missing") throw new ConnectError("no such thing", Code.NotFound);
        return { text };
      },
      async *Down({ text }) {
        yield { text };
        throw new ConnectError("gone", Code.DataLoss);
      },
    });
    for (const engine of ["own", "deno"]) {
      await using server = listen({
        addr: "127.0.0.1:0",
        engine,
        registrar,
        handler: () => new Response(""),
      });
      for (const protocol of ["grpc-web", "connect"]) {
        await using conn = newClient({ targets: [server.addr], protocol });
        const service = newService(conn, file);
        await service.One({ text: "well" });
        await attempt(service.One({ text: "missing" }));
        await attempt((async () => {
          for await (const _ of await service.Down({ text: "b" })) { /* to its end */ }
        })());
      }
    }
  `);
  const statuses = {
    "grpc": ["OK", "NOT_FOUND", "DATA_LOSS"],
    "connectrpc": ["OK", "not_found", "data_loss"],
  };
  assertEquals(received.own("CLIENT").length, 12, "HTTP requests of calls are shown too");
  const clients = new Map(received.own("CLIENT").map((span) => [span.id, span]));
  const platform = received.spans.filter(({ scope }) => scope === "deno");
  for (const [system, codes] of Object.entries(statuses)) {
    for (const kind of ["CLIENT", "SERVER"] as const) {
      const spans = received.own(kind)
        .filter(({ attributes }) => attributes["rpc.system.name"] === system);
      assertEquals(
        spans.map(({ attributes }) => attributes["rpc.response.status_code"]).sort(),
        [...codes, ...codes].sort(),
        `${kind} ${system}`,
      );
      if (kind === "CLIENT") continue;
      // On Deno.serve the platform's span is in between.
      for (const { parent } of spans) {
        const above = platform.find(({ id }) => id === parent)?.parent ?? parent;
        assert(clients.has(above), "a call of the server has no client above it");
      }
    }
  }
});

Deno.test("bytes of messages are measured as they went, compressed", async () => {
  const received = await runTraced(`
    import { listen, newClient, newService, Registrar } from "$ROOTgrpc/mod.ts";
    ${PROTO}
    const registrar = new Registrar();
    registrar.register(file, { One: ({ text }) => ({ text: text.slice(0, 10) }) });
    const telemetry = { grpcMetrics: true };
    await using server = listen({ addr: "127.0.0.1:0", registrar, telemetry });
    await using conn = newClient({ targets: [server.addr], compress: true, telemetry });
    await newService(conn, file).One({ text: "a".repeat(100_000) });
  `);
  const sumOf = (metric: string): { sum: number; unit: string } => {
    const [point] = received.metric(`${metric}_total_compressed_message_size`);
    return { sum: point!.sum, unit: point!.unit };
  };
  const sent = sumOf("grpc.client.attempt.sent");
  assertEquals(sent.unit, "By");
  assert(sent.sum > 50 && sent.sum < 5_000, `${sent.sum}`);
  assertEquals(sumOf("grpc.server.call.rcvd"), sent);
  // One byte of tag, one of length, ten of text.
  assertEquals(sumOf("grpc.client.attempt.rcvd").sum, 12);
  assertEquals(sumOf("grpc.server.call.sent").sum, 12);
});
