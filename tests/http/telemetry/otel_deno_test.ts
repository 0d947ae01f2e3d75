/** Programs with `OTEL_DENO=true`: what an OTLP receiver gets of our servers and clients, without any option. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Received, type ReceivedSpan, runTraced } from "../../../support/otlp.ts";

function only<T>(list: readonly T[], what: string): T {
  assertEquals(list.length, 1, what);
  return list[0]!;
}

function byPath(received: Received, kind: "SERVER" | "CLIENT", path: string): ReceivedSpan[] {
  return received.own(kind).filter(({ attributes }) => {
    const url = attributes["url.full"] ?? `http://h${attributes["url.path"]}`;
    return new URL(`${url}`).pathname === path;
  });
}

for (const version of ["1.1", "2"]) {
  Deno.test(`requests are spans and measurements, joined to one trace (HTTP/${version})`, async () => {
    const received = await runTraced(`
      import { listen, newClient } from "$ROOThttp/mod.ts";
      await using client = newClient({ alpnProtos: ["${version === "2" ? "h2" : "http/1.1"}"] });
      let tries = 0;
      await using server = listen({
        addr: "127.0.0.1:0",
        onError: null,
        handler: async (stream) => {
          if (stream.path === "/outer") {
            await Promise.resolve();
            const inner = await client.get("http://" + server.addr + "/inner?sig=secret&q=1");
            return new Response(inner.body);
          }
          if (stream.path === "/from") {
            return new Response(null, { status: 302, headers: { location: "/to" } });
          }
          if (stream.path === "/bad") throw new RangeError("broken");
          if (stream.path === "/busy" && tries++ === 0) return new Response(null, { status: 503 });
          return new Response("answer");
        },
      });
      const url = "http://" + server.addr;
      await client.get(url + "/outer");
      await client.get(url + "/from");
      await client.get(url + "/bad");
      await client.get(url + "/busy", { retry: { limit: 1, backoff: 1 } });
      await client.get(url + "/lost");
      const stream = await client.send("BREW", url + "/streamed");
      await stream.readAll();
      await (await fetch(url + "/outer")).text();
    `);
    // Joined, in our client and in the platform's.
    const [first, second] = byPath(received, "SERVER", "/outer");
    assert(first !== undefined && second !== undefined);
    for (const outer of [first, second]) {
      const call = only(
        byPath(received, "CLIENT", "/inner").filter(({ parent }) => parent === outer.id),
        "calls made in the handler",
      );
      const inner = only(
        received.own("SERVER").filter(({ parent }) => parent === call.id),
        "requests of that call",
      );
      assertEquals([call.trace, inner.trace], [outer.trace, outer.trace]);
      assertEquals(inner.attributes["url.query"], "sig=REDACTED&q=1");
      assertMatch(`${call.attributes["url.full"]}`, /\/inner\?sig=REDACTED&q=1$/);
    }
    assertEquals(
      only(byPath(received, "CLIENT", "/outer"), "our call").id,
      first.parent,
    );
    assert(received.spans.some(({ scope, id }) => scope === "deno" && id === second.parent));
    assertEquals(first.name, "GET");
    for (const name of ["network.protocol.version", "http.response.status_code"]) {
      assertEquals(first.attributes[name], name.startsWith("network") ? version : 200);
    }
    assertEquals(first.attributes["server.address"], "127.0.0.1");
    assertEquals(first.attributes["user_agent.original"], "sluice");
    assert(first.end > first.start);
    // Redirects and retries: a span each.
    const redirected = only(byPath(received, "CLIENT", "/to"), "behind the redirect");
    assertEquals(redirected.attributes["http.request.resend_count"], 1);
    const busy = byPath(received, "CLIENT", "/busy");
    assertEquals(
      busy.map(({ attributes, failed }) => [
        attributes["http.request.resend_count"],
        attributes["http.response.status_code"],
        attributes["error.type"],
        failed,
      ]),
      [[undefined, 503, "503", true], [1, 200, undefined, false]],
    );
    // Errors.
    const bad = only(byPath(received, "SERVER", "/bad"), "failed requests");
    assertEquals([bad.attributes["error.type"], bad.failed], ["RangeError", true]);
    const failedCall = only(byPath(received, "CLIENT", "/bad"), "failed calls");
    assertEquals([failedCall.attributes["error.type"], failedCall.failed], ["500", true]);
    // A method that anybody may make up.
    const brew = only(byPath(received, "SERVER", "/streamed"), "unknown methods");
    assertEquals(
      [
        brew.name,
        brew.attributes["http.request.method"],
        brew.attributes["http.request.method_original"],
      ],
      ["HTTP", "_OTHER", "BREW"],
    );
    // Metrics.
    for (const side of ["server", "client"]) {
      const durations = received.metric(`http.${side}.request.duration`);
      assertEquals(durations[0]?.unit, "s");
      assertEquals(durations[0]?.bounds[0], 0.005);
      assertEquals(
        durations.reduce((sum, { value }) => sum + value, 0),
        received.own(side === "server" ? "SERVER" : "CLIENT").length,
      );
      assert(durations.some(({ attributes }) => attributes["http.request.method"] === "_OTHER"));
      assert(durations.every(({ attributes }) => !JSON.stringify(attributes).includes("/outer")));
      const active = received.metric(`http.${side}.active_requests`);
      assert(active.length > 0 && active.every(({ value }) => value === 0));
    }
  });
}

Deno.test("requests that are broken off, and answers that never come, are spans that failed", async () => {
  const received = await runTraced(`
    import { attempt, listen, newClient } from "$ROOThttp/mod.ts";
    for (const alpnProtos of [["http/1.1"], ["h2"]]) {
      await using client = newClient({ alpnProtos });
      let arrived, gone;
      await using server = listen({
        addr: "127.0.0.1:0",
        handler: (stream) => {
          if (stream.path === "/cut") return stream.abort();
          if (stream.path === "/half") {
            stream.respond(200, { "content-length": "10" });
            stream.write("half");
            return new Promise((resolve) => setTimeout(resolve, 50)).then(() => stream.abort());
          }
          arrived();
          return new Promise((resolve) => stream.signal.addEventListener("abort", () => {
            resolve();
            gone();
          }));
        },
      });
      const url = "http://" + server.addr;
      const control = new AbortController();
      const coming = new Promise((resolve) => arrived = resolve);
      const going = new Promise((resolve) => gone = resolve);
      const call = attempt(client.get(url + "/hang", { signal: control.signal }));
      await coming;
      control.abort();
      await call;
      await going;
      await attempt(client.get(url + "/cut"));
      await attempt(client.get(url + "/half"));
      await attempt(client.get(url + "/hang2", { timeout: 30 }));
    }
    await using client = newClient({ connectTimeout: 1000 });
    await attempt(client.get("http://127.0.0.1:1/refused"));
  `);
  const types = (kind: "SERVER" | "CLIENT", path: string): unknown[] =>
    byPath(received, kind, path).map(({ attributes, failed }) => {
      assert(failed, `${kind} ${path} looks well`);
      return attributes["error.type"];
    });
  assertEquals(types("CLIENT", "/hang"), ["AbortError", "AbortError"]);
  assertEquals(types("SERVER", "/hang").length, 2);
  assertEquals(types("SERVER", "/cut").length, 2);
  assertEquals(types("CLIENT", "/cut"), ["ConnectionLostError", "StreamResetError"]);
  assertEquals(types("CLIENT", "/half").length, 2);
  assertEquals(types("SERVER", "/half").length, 2);
  assertEquals(types("CLIENT", "/hang2"), ["TimeoutError", "TimeoutError"]);
  assertEquals(types("CLIENT", "/refused"), ["DialError"]);
  for (const side of ["server", "client"]) {
    const active = received.metric(`http.${side}.active_requests`);
    assert(active.length > 0 && active.every(({ value }) => value === 0), JSON.stringify(active));
  }
});

Deno.test("hostile fields neither join traces they do not name nor travel on", async () => {
  const received = await runTraced(`
    import { listen, newClient } from "$ROOThttp/mod.ts";
    await using client = newClient();
    const seen = [];
    await using inner = listen({
      addr: "127.0.0.1:0",
      handler: (stream) => {
        seen.push([stream.header.traceparent, stream.header.tracestate, stream.header.baggage]);
        return new Response("");
      },
    });
    await using server = listen({
      addr: "127.0.0.1:0",
      handler: async () => {
        await client.get("http://" + inner.addr, { traceparent: "mine" });
        return new Response("");
      },
    });
    const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    // Fields as bytes: our client, like all that are traced, puts its own.
    const ask = async (fields) => {
      const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
      const text = "GET / HTTP/1.1\\r\\nhost: h\\r\\nconnection: close\\r\\n" +
        fields.map((field) => field + "\\r\\n").join("") + "\\r\\n";
      await conn.write(new TextEncoder().encode(text));
      for await (const _ of conn.readable) { /* to its end */ }
    };
    await ask(["traceparent: " + good, "tracestate: a=1,b=2", "baggage: user=7"]);
    await ask(["traceparent: " + good, "traceparent: " + good]);
    await ask(["traceparent: 00-" + "0".repeat(32) + "-b7ad6b7169203331-01"]);
    await ask(["traceparent: ff-" + "a".repeat(32) + "-b7ad6b7169203331-01"]);
    await ask(["traceparent: \\xff\\xfe"]);
    await ask(["traceparent: " + "0".repeat(20000)]);
    await ask(["traceparent: " + good, "baggage: k=" + "v".repeat(20000)]);
    await ask(["traceparent: " + good, "tracestate: \\xff=1"]);
    console.error(JSON.stringify(seen));
    if (seen.length !== 8) throw new Error("calls were lost");
    for (const [traceparent] of seen) {
      if (!/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/.test(traceparent)) throw new Error(traceparent);
    }
    const joined = seen.map(([traceparent]) => traceparent.startsWith("00-0af7651916cd"));
    if (String(joined) !== "true,false,false,false,false,false,true,true") {
      throw new Error("joined: " + joined);
    }
    if (seen[0][1] !== "a=1,b=2" || seen[0][2] !== "user=7") throw new Error("not carried");
    if (seen[6][2] !== undefined) throw new Error("baggage of any size is carried");
  `);
  assertEquals(received.own("SERVER").length, 16);
});

Deno.test("WebSockets end their span with 101, and what they do joins its trace", async () => {
  const received = await runTraced(`
    import { listen, get } from "$ROOThttp/mod.ts";
    await using server = listen({
      addr: "127.0.0.1:0",
      handler: async (stream) => {
        if (stream.path === "/inner") return new Response("answer");
        const socket = await stream.upgradeWebSocket();
        socket.onmessage = async () => {
          socket.send((await get("http://" + server.addr + "/inner", { connection: "close" })).body);
        };
      },
    });
    const socket = new WebSocket("ws://" + server.addr + "/socket");
    const { promise, resolve } = Promise.withResolvers();
    socket.onopen = () => socket.send("go");
    socket.onmessage = resolve;
    await promise;
    const closed = new Promise((resolve) => socket.onclose = resolve);
    socket.close();
    await closed;
  `);
  const socket = only(byPath(received, "SERVER", "/socket"), "handshakes");
  assertEquals([socket.attributes["http.response.status_code"], socket.failed], [101, false]);
  only(byPath(received, "SERVER", "/inner"), "calls");
});

Deno.test("telemetry: false shows nothing; on Deno.serve a request is shown once, by the platform", async () => {
  const received = await runTraced(`
    import { fetchHandler, listen, newClient } from "$ROOThttp/mod.ts";
    await using client = newClient();
    await using quietClient = newClient({ telemetry: false });
    {
      await using server = listen({
        addr: "127.0.0.1:0",
        telemetry: false,
        handler: (stream) => new Response(stream.header.traceparent ?? "none"),
      });
      const { body } = await quietClient.get("http://" + server.addr);
      if (body !== "none") throw new Error(body);
    }
    await using inner = listen({
      addr: "127.0.0.1:0",
      telemetry: false,
      handler: () => new Response(""),
    });
    const handler = async () => {
      await client.get("http://" + inner.addr + "/inner");
      return new Response("");
    };
    {
      await using server = listen({ addr: "127.0.0.1:0", engine: "deno", handler });
      await quietClient.get("http://" + server.addr + "/platform");
    }
    // Where nobody else serves, the handler shows it.
    await (await fetchHandler(handler)(new Request("http://localhost/alone"))).text();
  `);
  assertEquals(received.own("SERVER").map(({ attributes }) => attributes["url.path"]), ["/alone"]);
  const platform = only(
    received.spans.filter(({ kind, scope }) => kind === "SERVER" && scope === "deno"),
    "the platform's spans",
  );
  const [call] = received.own("CLIENT");
  assertEquals([call?.parent, call?.trace], [platform.id, platform.trace]);
  assertEquals(received.own("CLIENT").length, 2);
});
