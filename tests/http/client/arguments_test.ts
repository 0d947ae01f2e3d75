/** The arguments of requests: header fields, body and options in their places, or one bag. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as http from "../../../http/mod.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";

/** Answers with what came: fields with names of a letter and a dash, and the body. */
async function mirror(stream: http.ServerStream): Promise<Response> {
  const fields = Object.entries(stream.header).filter(([name]) => !STANDARD.has(name));
  return Response.json([stream.method, Object.fromEntries(fields), await stream.readAll()]);
}

const STANDARD = new Set([
  "host",
  "accept",
  "accept-encoding",
  "user-agent",
  "content-length",
  "transfer-encoding",
  "connection",
]);

type Call = (url: string, ...rest: never[]) => Promise<http.HttpResponse>;

/** The calls that read a response whole, on a client and as plain functions. */
function calls(client: http.Client): [string, Call][] {
  const { get, post, put, patch, del } = http;
  return [
    ["GET", client.get.bind(client) as Call],
    ["POST", client.post.bind(client) as Call],
    ["PUT", client.put.bind(client) as Call],
    ["PATCH", client.patch.bind(client) as Call],
    ["DELETE", client.delete.bind(client) as Call],
    ["GET", get as Call],
    ["POST", post as Call],
    ["PUT", put as Call],
    ["PATCH", patch as Call],
    ["DELETE", del as Call],
  ];
}

for (const transport of TRANSPORTS.slice(0, 2)) {
  const test = (name: string, run: () => Promise<void>) =>
    Deno.test(`${name} (${transport.name})`, run);

  test("every call takes options alone: header fields, body and settings in one bag", async () => {
    await using p = await pair(transport, mirror);
    const headers = { "x-a": "1", connection: "close" };
    const bag = { headers, json: { b: 2 }, timeout: 10_000 } as never;
    for (const [method, call] of calls(p.client)) {
      assertEquals((await call(p.url, bag)).json(), [
        method,
        { "x-a": "1", "content-type": "application/json" },
        '{"b":2}',
      ]);
    }
    const text = { body: "text" };
    assertEquals((await p.client.post(p.url, text)).json(), ["POST", {}, "text"]);
    assertEquals((await p.client.head(p.url, { timeout: 10_000 })).status, 200);
    const sent = await p.client.send("PUT", p.url, { headers: { "x-a": "1" }, json: 3 });
    assertEquals(await sent.json(), [
      "PUT",
      { "x-a": "1", "content-type": "application/json" },
      "3",
    ]);
    const raw = await p.client.request("POST", p.url, { headers: { "x-a": "1" }, timeout: 10_000 });
    raw.closeWrite("raw");
    assertEquals(await raw.json(), ["POST", { "x-a": "1" }, "raw"]);
  });

  test("header fields keep their place, whatever shape they have", async () => {
    await using p = await pair(transport, mirror);
    const shapes: http.HeadersInput[] = [
      { "x-a": "1" },
      new Headers({ "x-a": "1" }),
      [["x-a", "1"]],
    ];
    for (const headers of shapes) {
      assertEquals((await p.client.get(p.url, headers)).json(), ["GET", { "x-a": "1" }, ""]);
      assertEquals((await p.client.post(p.url, headers, "b", { timeout: 10_000 })).json(), [
        "POST",
        { "x-a": "1" },
        "b",
      ]);
    }
    assertEquals((await p.client.get(p.url, null, { timeout: 10_000 })).json(), ["GET", {}, ""]);
    assertEquals((await p.client.get(p.url, {})).json(), ["GET", {}, ""]);
    assertEquals((await p.client.get(p.url, { age: 5 })).json(), ["GET", { age: "5" }, ""]);
    // A field that is called as an option goes into a list of fields.
    assertEquals((await p.client.get(p.url, new Headers({ timeout: "Second-4" }))).json(), [
      "GET",
      { timeout: "Second-4" },
      "",
    ]);
  });

  test("a timeout in the second place is a timeout", async () => {
    await using p = await pair(
      transport,
      ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)),
    );
    for (const [, call] of calls(p.client).slice(0, 5)) {
      const error = await assertRejects(() => call(p.url, { timeout: 20 } as never));
      assertEquals((error as http.TimeoutError).phase, "timeout");
    }
    const raw = await p.client.request("GET", p.url, { timeout: 20 });
    await assertRejects(() => raw.readAll(), http.TimeoutError);
  });

  test("what is neither the one nor the other is refused with a hint, and nothing is sent", async () => {
    await using p = await pair(transport, mirror);
    const refused = async (run: () => Promise<unknown>) =>
      (await assertRejects(run, TypeError)).message;
    const bags: [Record<string, unknown>, string][] = [
      [{ timeout: 1, "x-a": "1" }, "headers: { … }"],
      [{ timeout: 1, retyr: 2 }, 'did you mean "retry"?'],
      [{ timout: 100 }, 'did you mean the option "timeout"?'],
      [{ max_redirects: 1 }, 'did you mean the option "maxRedirects"?'],
      [{ timeout: "100" }, "timeout must be a number >= 0"],
      [{ retry: { limt: 1 } }, 'did you mean "limit"?'],
      [{ retry: { methods: "GET" } }, "retry.methods must be a list"],
      [{ redirect: "folow" }, '"follow", "manual" or "error"'],
      [{ signal: "x" }, "signal must be an AbortSignal"],
      [{ onUpload: 5 }, "onUpload must be a function"],
      [{ decompress: "no" }, "decompress must be true or false"],
    ];
    for (const [bag, hint] of bags) {
      for (const [, call] of calls(p.client)) {
        const message = await refused(() => call(p.url, bag as never));
        assertEquals(message.includes(hint), true, `${JSON.stringify(bag)}: ${message}`);
      }
    }
    const { client, url } = p;
    await refused(() => client.get(url, { timeout: 1 } as never, { retry: 1 }));
    await refused(() => client.post(url, { timeout: 1 } as never, "body"));
    await refused(() => client.get(url, null, { headers: {} } as never));
    await refused(() => client.get(url, null, { timout: 5 } as never));
    await refused(() => client.send("GET", url, { "x-a": "1" } as never));
    for (const name of ["json", "body", "redirect", "retry", "onUpload", "onRedirect"]) {
      const message = await refused(() => client.request("GET", url, null, { [name]: 1 } as never));
      assertEquals(message.includes(name), true, message);
      await refused(() => client.request("GET", url, { [name]: 1 } as never));
    }
    assertEquals(client.connections.open, 0);
  });
}

Deno.test("newClient() refuses unknown names and values that cannot be", () => {
  const wrong: [Record<string, unknown>, string][] = [
    [{ max_idle_per_host: 1 }, 'did you mean "maxIdlePerHost"?'],
    [{ frobnicate: 1 }, 'no option "frobnicate"'],
    [{ signal: AbortSignal.abort() }, 'no option "signal"'],
    [{ maxIdlePerHost: 0.5 }, "an integer >= 0"],
    [{ idleTimeout: NaN }, "a number >= 0"],
    [{ connectTimeout: "1s" }, "a number >= 0"],
    [{ http2: { streamWindow: -1 } }, "http2.streamWindow must be an integer"],
    [{ http2: { keepalive: { interval: -5 } } }, "http2.keepalive.interval must be"],
    [{ http2: { keepalive: { intervall: 5 } } }, 'did you mean "interval"?'],
    [{ proxy: { htp: "x" } }, 'did you mean "http"?'],
    [{ serverName: 5 }, "serverName must be a string"],
    [{ unixSocket: 5 }, "unixSocket must be a string"],
    [{ lookup: "x" }, "lookup must be a function"],
  ];
  for (const [options, hint] of wrong) {
    const { message } = assertThrows(() => http.newClient(options as never), TypeError);
    assertEquals(message.includes(hint), true, message);
  }
});

Deno.test("limits without end are none", async () => {
  await using server = http.listen({
    addr: "127.0.0.1:0",
    limits: { idleTimeout: Infinity, headerTimeout: 2 ** 40, maxBodyBytes: Infinity },
    handler: () => new Response("fine"),
  });
  await using client = http.newClient({ connectTimeout: Infinity, idleTimeout: 2 ** 40 });
  const options = { timeout: 2 ** 40, headTimeout: Infinity, queueTimeout: 2 ** 33 };
  assertEquals((await client.get(`http://${server.addr}/`, options)).body, "fine");
});
