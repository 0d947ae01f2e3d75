/** Handlers on `Deno.serve`. The contract's rows are in contract_*_test.ts. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  fetchHandler,
  type Handler,
  listen,
  newClient,
  type ServerOptions,
} from "../../../http/mod.ts";
import { testCertificate } from "../../../support/transports.ts";

const call = (handler: Parameters<typeof fetchHandler>[0], init?: RequestInit) =>
  fetchHandler(handler)(new Request("http://h/p?x=1", init));

Deno.test("fetchHandler() runs a handler on a web Request", async () => {
  const response = await call(async (stream) => {
    const body = await stream.readAll();
    await stream.respond(201, { "x-a": "1", "set-cookie": ["a=1", "b=2"] });
    stream.closeWrite(`${stream.method} ${stream.path} ${stream.query["x"]} ${body}`);
  }, { method: "POST", body: "hi" });
  assertEquals([response.status, response.headers.get("x-a")], [201, "1"]);
  assertEquals(response.headers.getSetCookie(), ["a=1", "b=2"]);
  assertEquals(await response.text(), "POST /p 1 hi");
});

Deno.test("fetchHandler() streams what is written in pieces", async () => {
  const response = await call(async (stream) => {
    await stream.respond(200);
    await stream.write("one ");
    await stream.write("two ");
    stream.closeWrite("three");
  });
  assertEquals(await response.text(), "one two three");
});

Deno.test("fetchHandler() takes a Response, and answers 500 for errors", async () => {
  assertEquals(await (await call(() => new Response("r"))).text(), "r");
  assertEquals((await call(() => Promise.reject(new Error("x")))).status, 500);
});

Deno.test("listen() with engine deno serves, and a bad header value does not end the process", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    engine: "deno",
    handler: async (stream) => {
      await assertRejects(() => stream.respond(200, { x: "\x01" }), TypeError);
      await stream.respond(200, { "x-version": stream.version });
      stream.closeWrite("from Deno.serve");
    },
  });
  await using client = newClient();
  const response = await client.get(`http://${server.addr}/`);
  assertEquals([response.body, response.header["x-version"]], ["from Deno.serve", "HTTP/1.1"]);
});

/** A server on `Deno.serve`. */
const serve = (handler: Handler, options: Partial<ServerOptions> = {}) =>
  listen({ addr: "127.0.0.1:0", ...options, engine: "deno", handler });

/** Sends text to a server and gives the first line of what it answers. */
async function firstLine(port: number, text: string): Promise<string> {
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  await conn.write(new TextEncoder().encode(text));
  const buf = new Uint8Array(4096);
  const n = await conn.read(buf);
  return new TextDecoder().decode(buf.subarray(0, n ?? 0)).split("\r\n")[0]!;
}

Deno.test("listen() with engine deno refuses by name what Deno.serve cannot do", async () => {
  const { cert, key } = await testCertificate();
  const conf = { addr: "127.0.0.1:0", engine: "deno", handler: () => {} } as const;
  const tls = { tls: true, certs: [{ cert, key }] };
  const refused: [Partial<ServerOptions>, string][] = [
    [{ alpnProtos: ["h2"] }, "alpnProtos"],
    [{ ...tls, alpnProtos: ["http/1.1", "h2"] }, "alpnProtos"],
    [{ ...tls, alpnProtos: ["http/1.1"] }, "alpnProtos"],
    [{ tls: true, certs: [] }, "certs"],
    [{ tls: true, certs: [{ cert, key }, { cert, key }] }, "certs"],
    [{ ...tls, ciphers: "TLS_AES_128_GCM_SHA256" }, "ciphers"],
    [{ ...tls, clientCa: cert }, "clientCa"],
    [{ ...tls, clientCa: cert, requireClientCert: true }, "clientCa"],
    [{ ...tls, handshakeTimeout: 1000 }, "handshakeTimeout"],
    [{ http2: {} }, "http2"],
    [{ onBadRequest: () => {} }, "onBadRequest"],
    [{ limits: { headerTimeout: 300 } }, "limits.headerTimeout"],
    [{ limits: { maxConnections: 1 } }, "limits.maxConnections"],
  ];
  for (const [options, name] of refused) {
    assertThrows(() => listen({ ...conf, ...options }), TypeError, name);
  }
  assertThrows(
    () => fetchHandler(() => {}, { limits: { idleTimeout: 1 } as never }),
    TypeError,
    "limits.idleTimeout",
  );
});

Deno.test("listen() with engine deno tells the truth about itself", async () => {
  const { cert, key, ca } = await testCertificate();
  const seen: unknown[] = [];
  await using server = serve((stream) => {
    seen.push(stream.localAddr, stream.remoteAddr, stream.version, server.handlers);
    return new Response("ok");
  }, { tls: true, certs: [{ cert, key }], alpnProtos: ["h2", "http/1.1"] });
  assertEquals("connections" in server, false);
  assertThrows(() => server.setCerts([{ cert, key }]), TypeError, "Deno.serve");
  for (const [protocol, version] of [["h2", "HTTP/2"], ["http/1.1", "HTTP/1.1"]] as const) {
    await using client = newClient({ caCerts: [ca], alpnProtos: [protocol] });
    const answer = await client.get(`https://${server.addr}/`);
    assertEquals([answer.version, answer.body], [version, "ok"]);
    const [localAddr, remoteAddr, told, handlers] = seen.splice(0);
    assertEquals([localAddr, told, handlers], [server.addr, version, 1]);
    assert(/^127\.0\.0\.1:\d+$/.test(String(remoteAddr)) && remoteAddr !== server.addr);
  }
  assertEquals(server.handlers, 0);
  await using everywhere = listen({
    addr: ":0",
    engine: "deno",
    handler: (stream) => new Response(JSON.stringify([stream.localAddr, stream.url])),
  });
  await using client = newClient();
  const url = `http://127.0.0.1:${everywhere.port}/x`;
  assertEquals((await client.get(url)).json(), ["", url]);
});

Deno.test("requests that Deno.serve lets through without one host are refused", async () => {
  const paths: string[] = [];
  await using server = serve((stream) => {
    paths.push(`${stream.authority} ${stream.target}`);
    return new Response("ok");
  });
  const get = (host: string, target = "/p") =>
    firstLine(server.port, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  for (const host of ["x/y?z@e", "a b", "u@h", "x:99999", "x#y", "[::bad"]) {
    assert((await get(host)).startsWith("HTTP/1.1 400"), host);
  }
  assertEquals(paths, []);
  assert((await get("h:1", "http://other/abs?q")).includes("200"));
  assert((await get("h:1", "/a/../b//c?d")).includes("200"));
  assertEquals(paths, ["other /abs?q", "h:1 /a/../b//c?d"]);
  for (const method of ["TRACE", "CONNECT"]) {
    const line = await firstLine(server.port, `${method} h:1 HTTP/1.1\r\nhost: h:1\r\n\r\n`);
    assert(/ 40[05] /.test(line), line);
  }
});

Deno.test("no header value of a handler ends the process on Deno.serve", async () => {
  const errors: unknown[] = [];
  await using server = serve((stream) => {
    // Web headers take control characters that the platform panics at.
    const value = `a${String.fromCharCode(Number(stream.query["code"]))}b`;
    if (stream.path === "/response") return new Response("x", { headers: { "x-a": value } });
    if (stream.path === "/type") return new Response("x", { headers: { "content-type": value } });
    return stream.respond(200, { "x-a": value }).then(() => stream.closeWrite("x"));
  }, { onError: (error) => errors.push(error) });
  let wrong = 0;
  for (const alpnProtos of [["http/1.1"], ["h2"]]) {
    await using client = newClient({ alpnProtos });
    for (let code = 1; code < 0x80; code++) {
      for (const path of ["/response", "/type", "/respond"]) {
        const { status } = await client.get(`http://${server.addr}${path}?code=${code}`);
        const fine = code === 9 || (code >= 0x20 && code < 0x7f);
        if (!fine) wrong++;
        assertEquals(status, fine ? 200 : 500, `${path} ${code}`);
      }
    }
  }
  assertEquals(errors.length, wrong);
});

Deno.test("no response of a handler ends the process or leaves a client waiting", async () => {
  await using server = serve(async (stream) => {
    if (stream.path === "/101") {
      return new Response(null, { status: 101, headers: { "x-a": "\x01" } });
    }
    await assertRejects(() => stream.respond(205), TypeError, "use 204");
    return new Response(null, { status: 205 });
  }, { onError: null });
  const asking = "connection: upgrade\r\nupgrade: websocket\r\n" +
    "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  for (const more of ["", asking]) {
    const line = await firstLine(
      server.port,
      `GET /101 HTTP/1.1\r\nhost: x\r\n${more}\r\n`,
    );
    assertEquals(line, "HTTP/1.1 500 Internal Server Error");
  }
  for (const alpnProtos of [["http/1.1"], ["h2"]]) {
    await using client = newClient({ alpnProtos });
    assertEquals((await client.get(`http://${server.addr}/205`)).status, 500);
  }
});

Deno.test("the limits of a body hold for stream.request too", async () => {
  await using server = serve(
    async (stream) => new Response(`${(await stream.request.text()).length}`),
    { limits: { maxBodyBytes: 1000, bodyTimeout: 100 } },
  );
  await using client = newClient();
  const url = `http://${server.addr}/`;
  assertEquals((await client.post(url, null, "x".repeat(1000))).body, "1000");
  const pieces = async function* (count: number) {
    for (let i = 0; i < count; i++) yield "x".repeat(500);
  };
  assertEquals((await client.post(url, null, pieces(2))).body, "1000");
  assertEquals((await client.post(url, null, pieces(3))).status, 413);
  using slow = await client.request("POST", url);
  await slow.write("begun");
  await slow.waitResponse();
  assertEquals(slow.status, 408);
});

Deno.test("half of a body is not taken for a whole one on Deno.serve", async () => {
  let seen = Promise.withResolvers<unknown>();
  await using server = serve(async (stream) => {
    const body = stream.path === "/request" ? stream.request.text() : stream.readAll();
    await body.then(seen.resolve, seen.resolve);
    await stream.respond(200);
  });
  /** What the handler gets of a body that breaks off. */
  const half = async (protocol: string, path: string, headers: Record<string, string>) => {
    seen = Promise.withResolvers();
    await using client = newClient({ alpnProtos: [protocol] });
    const raw = await client.request("POST", `http://${server.addr}${path}`, headers);
    await raw.write("begun");
    raw.close();
    return await seen.promise;
  };
  for (const path of ["/stream", "/request"]) {
    for (const headers of [{}, { "content-length": "10" }]) {
      assert(await half("http/1.1", path, headers) instanceof Error, path);
    }
    assert(await half("h2", path, { "content-length": "10" }) instanceof Error, path);
    // Here the platform itself tells late, on a busy machine too late.
    let told = false;
    for (let tries = 0; tries < 20 && !told; tries++) {
      told = await half("h2", path, {}) instanceof Error;
    }
    assert(told, path);
  }
});

Deno.test("a body that Deno.serve drops is not taken for an empty one", async () => {
  await using server = serve(async (stream) =>
    new Response(stream.path === "/unread" ? "ok" : await stream.readAll())
  );
  await using client = newClient();
  const get = async (path: string, json?: unknown) =>
    (await client.get(`http://${server.addr}${path}`, null, json === undefined ? {} : { json }))
      .status;
  assertEquals(await get("/"), 200);
  assertEquals(await get("/", [1]), 400);
  assertEquals(await get("/unread", [1]), 200);
});

Deno.test("writes that nobody awaits all settle, in order, at the client's pace", async () => {
  const go = Promise.withResolvers<void>();
  let settled = 0;
  await using server = serve(async (stream) => {
    await stream.respond(200);
    const piece = new Uint8Array(40_000).fill(1);
    const writes = Array.from({ length: 500 }, () => stream.write(piece).then(() => settled++));
    go.resolve();
    await Promise.all(writes);
    stream.closeWrite("end");
  });
  await using client = newClient();
  using response = await client.send("GET", `http://${server.addr}/`);
  await go.promise;
  assert(settled < 500, "nothing waits for the client");
  const bytes = await response.readBytes();
  assertEquals([bytes.length, settled], [500 * 40_000 + 3, 500]);
});

Deno.test("a client that leaves ends waits of the handler, and nothing else", async () => {
  const ends: string[] = [];
  const told: unknown[] = [];
  const started = Promise.withResolvers<void>();
  let ended = Promise.withResolvers<void>();
  await using server = serve(async (stream) => {
    try {
      if (stream.path === "/read") {
        started.resolve();
        await stream.read();
      }
      // Nobody awaits this one.
      stream.readBytes();
      for (;;) await stream.write(new Uint8Array(100_000));
    } catch (error) {
      ends.push(`${stream.path} ${(error as Error).name} ${stream.aborted}`);
    }
    ended.resolve();
  }, { onError: (error) => told.push(error) });
  const leaves = async (head: string) => {
    ended = Promise.withResolvers();
    {
      using conn = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
      await conn.write(new TextEncoder().encode(`${head}\r\nhost: x\r\n\r\n`));
      if (head.startsWith("GET")) await conn.read(new Uint8Array(10));
      else await started.promise;
    }
    await ended.promise;
  };
  await leaves("GET /write HTTP/1.1");
  await leaves("GET /write HTTP/1.1\r\ncontent-length: 10");
  await leaves("POST /read HTTP/1.1\r\ncontent-length: 10");
  assert(/^\/write (StreamReset|Type)Error true$/.test(ends[0]!), ends[0]);
  assert(/^\/write (StreamReset|Type)Error true$/.test(ends[1]!), ends[1]);
  assertEquals(ends[2], "/read StreamResetError true");
  assertEquals(told, []);
});

Deno.test("close() answers a handler that hangs within drainTimeout, and tells its signal", async () => {
  const hung = Promise.withResolvers<AbortSignal>();
  const server = serve((stream) => {
    hung.resolve(stream.signal);
    return new Promise(() => {});
  }, { limits: { drainTimeout: 50 } });
  await using client = newClient();
  const answer = assertRejects(() => client.get(`http://${server.addr}/`));
  const signal = await hung.promise;
  assertEquals(server.handlers, 1);
  await server.close();
  await answer;
  assert(signal.aborted);
  await server.close();
});

Deno.test("WebSockets open on Deno.serve, by stream.upgradeWebSocket() and by the platform's call", async () => {
  const refusals: string[] = [];
  await using server = serve(async (stream) => {
    if (stream.path === "/platform") {
      const { socket, response } = Deno.upgradeWebSocket(stream.request);
      socket.onmessage = ({ data }) => socket.send(`platform ${data}`);
      return response;
    }
    for (const name of ["maxMessageBytes", "maxBufferedBytes", "server"]) {
      const error = await assertRejects(
        () => stream.upgradeWebSocket({ [name]: 1 }),
        TypeError,
        name,
      );
      refusals.push(error.message);
    }
    const socket = await stream.upgradeWebSocket({ protocols: ["b", "a"], idleTimeout: 5000 });
    socket.addEventListener("message", ({ data }) => socket.send(`${socket.protocol} ${data}`));
  }, { onError: null });
  const echo = async (path: string, protocols: string[]) => {
    const socket = new WebSocket(`ws://${server.addr}${path}`, protocols);
    const closed = new Promise((resolve) => socket.onclose = resolve);
    const said = await new Promise((resolve, reject) => {
      socket.onopen = () => socket.send("hi");
      socket.onmessage = ({ data }) => resolve(data);
      socket.onerror = reject;
    });
    socket.close();
    await closed;
    return said;
  };
  assertEquals(await echo("/own", ["a", "b"]), "b hi");
  assertEquals(await echo("/platform", []), "platform hi");
  assertEquals(refusals.length, 3);
  assert(refusals.every((message) => message.includes("Deno.upgradeWebSocket")));
});

Deno.test("an upgrade that nobody asked for neither hangs nor ends the process", async () => {
  await using server = serve((stream) => {
    stream.upgradeWebSocket();
    return new Response("no WebSocket", { status: 426 });
  });
  await using client = newClient();
  assertEquals((await client.get(`http://${server.addr}/`)).status, 426);
});
