/** The option `telemetry`, and providers that are not as they should be. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as api from "@opentelemetry/api";
import { fetchHandler, listen, newClient, type TelemetryOptions } from "../../../http/mod.ts";
import { addressAttributes, splitAuthority } from "../../../http/telemetry/http_attributes.ts";
import { telemetryOf } from "../../../http/telemetry/telemetry.ts";
import { printed } from "../../../support/console.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";

const broken = (): never => {
  throw new Error("the provider is broken");
};

/** Makers that fail in one of the ways there are. */
const BROKEN: Readonly<Record<string, TelemetryOptions>> = {
  "makers that throw": {
    tracer: { startSpan: broken },
    meter: { createHistogram: broken, createCounter: broken, createUpDownCounter: broken },
  },
  "spans and instruments that throw": {
    tracer: {
      startSpan: () => ({
        setAttributes: broken,
        setStatus: broken,
        addEvent: broken,
        end: broken,
      }),
    },
    meter: {
      createHistogram: () => ({ record: broken }),
      createCounter: () => ({ add: broken }),
      createUpDownCounter: () => ({ add: broken }),
    },
  },
  "spans and instruments without methods": {
    tracer: { startSpan: () => ({}) },
    meter: {
      createHistogram: () => ({}),
      createCounter: () => ({}),
      createUpDownCounter: () => ({}),
    },
  },
  "no makers": { tracer: null, meter: null },
};

for (const [name, telemetry] of Object.entries(BROKEN)) {
  Deno.test(`telemetry with ${name} hurts no request`, async () => {
    const lines = await printed(async () => {
      await using server = listen({
        addr: "127.0.0.1:0",
        telemetry,
        onError: null,
        handler: (stream) => {
          if (stream.path === "/bad") throw new Error("of the handler");
          return new Response("answer");
        },
      });
      for (const alpnProtos of [["http/1.1"], ["h2"]]) {
        await using client = newClient({ alpnProtos, telemetry });
        assertEquals((await client.get(`http://${server.addr}/`)).body, "answer");
        assertEquals((await client.get(`http://${server.addr}/bad`)).status, 500);
        await assertRejects(() => client.get("http://127.0.0.1:1/"));
        using stream = await client.request("POST", `http://${server.addr}/`);
        stream.closeWrite("x");
        await stream.waitResponse();
        assertEquals(await stream.readAll(), "answer");
      }
      const handler = fetchHandler(() => new Response("answer"), { telemetry });
      assertEquals(await (await handler(new Request("http://localhost/"))).text(), "answer");
    });
    // Once for each server and client.
    assert(lines.length <= 4, lines.join("\n"));
    if (name !== "no makers") assert(lines.length > 0);
  });
}

/** Registers a provider, and takes it back. */
function registering<T>(provider: object, body: () => T): T {
  const key = Symbol.for("opentelemetry.js.api.1");
  const holder = globalThis as unknown as Record<symbol, unknown>;
  const before = holder[key];
  holder[key] = provider;
  const restore = (): void => {
    if (before === undefined) delete holder[key];
    else holder[key] = before;
  };
  let result: T;
  try {
    result = body();
  } catch (error) {
    restore();
    throw error;
  }
  if (result instanceof Promise) return result.finally(restore) as T;
  restore();
  return result;
}

Deno.test("a context manager or propagator that fails runs each handler once", async () => {
  const names: string[] = [];
  const tracer = {
    startSpan: (name: string) => {
      names.push(name);
      return { setAttributes() {}, setStatus() {}, end() {} };
    },
  };
  const registered = {
    trace: { getTracer: () => tracer },
    propagation: { inject: broken, extract: broken },
  };
  const managers = [
    { active: broken, with: broken },
    {
      active: broken,
      with: (_: unknown, body: () => unknown) => {
        body();
        body();
        throw new Error("the manager is broken");
      },
    },
  ];
  for (const context of managers) {
    let handled = 0;
    await printed(() =>
      registering({ ...registered, context }, async () => {
        await using server = listen({
          addr: "127.0.0.1:0",
          onError: null,
          handler: (stream) => {
            handled++;
            if (stream.path === "/bad") throw new Error("of the handler");
            return new Response("answer");
          },
        });
        await using client = newClient();
        assertEquals((await client.get(`http://${server.addr}/`)).body, "answer");
        assertEquals((await client.get(`http://${server.addr}/bad`)).status, 500);
      })
    );
    assertEquals(handled, 2);
  }
  assertEquals(names.length, 8);
});

Deno.test("what a propagator writes is sent as far as it can be sent", async () => {
  const inject = (
    _: unknown,
    carrier: unknown,
    setter: { set(carrier: unknown, key: string, value: unknown): void },
  ): void => {
    setter.set(carrier, "X-Good", "yes");
    setter.set(carrier, "x bad name", "no");
    setter.set(carrier, ":path", "/elsewhere");
    setter.set(carrier, "x-lines", "a\r\nx-injected: 1");
    setter.set(carrier, "x-number", 5);
    setter.set(carrier, "x-long", "v".repeat(8193));
    for (let i = 0; i < 100; i++) setter.set(carrier, `x-${i}`, "many");
  };
  const provider = {
    trace: { getTracer: () => ({ startSpan: () => ({ setAttributes() {}, end() {} }) }) },
    propagation: { inject, extract: (context: unknown) => context },
  };
  await registering(provider, async () => {
    for (const transport of TRANSPORTS) {
      await using served = await pair(
        transport,
        (stream) => new Response(JSON.stringify(stream.fields)),
      );
      const { body } = await served.client.get(`${served.url}/`, { "x-good": "mine" });
      const fields: string[] = JSON.parse(body);
      const given = fields.filter((field, i) => i % 2 === 0 && field.startsWith("x-"));
      assertEquals(given.length, 16, transport.name);
      assertEquals(given[0], "x-good");
      assertEquals(fields[fields.indexOf("x-good") + 1], "yes");
      assert(!body.includes("injected") && !body.includes("elsewhere"));
    }
  });
});

Deno.test("telemetry: true takes a provider that is registered later", () => {
  const names: string[] = [];
  const tracer = { startSpan: (name: string) => (names.push(name), {}) };
  assertEquals(telemetryOf("test", undefined), null);
  assertEquals(telemetryOf("test", false), null);
  const early = telemetryOf("test", true)!;
  early.begin("early", 1, {}, early.active());
  registering({ trace: { getTracer: () => tracer } }, () => {
    early.begin("late", 1, {}, early.active());
    assertEquals(telemetryOf("test", undefined), telemetryOf("test", true));
  });
  assertEquals(names, ["late"]);
});

Deno.test("telemetry takes tracers and meters of OpenTelemetry's API, and refuses others", async () => {
  const telemetry: TelemetryOptions = {
    tracer: api.trace.getTracer("app"),
    meter: api.metrics.getMeter("app"),
  };
  await using server = listen({ addr: "127.0.0.1:0", telemetry, handler: () => new Response("") });
  await using client = newClient({ telemetry });
  assertEquals((await client.get(`http://${server.addr}/`)).status, 200);
  const handler = (): Response => new Response("");
  const wrong: [unknown, string][] = [
    ["yes", 'telemetry must be a boolean or options: current value is "yes"'],
    [null, "telemetry must be a boolean or options"],
    [{ traces: 1 }, 'it has no option "traces": did you mean "tracer"?'],
    [
      { tracer: {} },
      "telemetry.tracer must be a tracer of OpenTelemetry's API: it has no startSpan",
    ],
    [{ tracer: 5 }, "telemetry.tracer must be a tracer"],
    [{ meter: { createHistogram() {} } }, "it has no createCounter"],
  ];
  for (const [value, message] of wrong) {
    const given = { telemetry: value as never };
    assertThrows(() => listen({ addr: "127.0.0.1:0", handler, ...given }), TypeError, message);
    assertThrows(
      () => listen({ addr: "127.0.0.1:0", engine: "deno", handler, ...given }),
      TypeError,
      message,
    );
    assertThrows(() => newClient(given), TypeError, message);
    assertThrows(() => fetchHandler(handler, given), TypeError, message);
  }
});

Deno.test("addresses of every kind are host and port, or a path", () => {
  const cases: [string, object][] = [
    ["example.com:8080", { "server.address": "example.com", "server.port": 8080 }],
    ["example.com", { "server.address": "example.com" }],
    ["127.0.0.1:1", { "server.address": "127.0.0.1", "server.port": 1 }],
    ["[::1]:443", { "server.address": "::1", "server.port": 443 }],
    ["[::1]", { "server.address": "::1" }],
    ["unix:/tmp/a:1", { "server.address": "/tmp/a:1" }],
    ["memory:/1", { "server.address": "memory:/1" }],
    ["", {}],
    ["a".repeat(5000), { "server.address": "a".repeat(1024) }],
  ];
  for (const [text, attributes] of cases) {
    assertEquals(addressAttributes("server", splitAuthority(text)), attributes, text);
  }
});
