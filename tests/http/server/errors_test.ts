/** Who hears of what fails on a server: the listener, the console, or nobody; and nothing else breaks. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  type Handler,
  listen,
  MessageError,
  newClient,
  type ServerStream,
} from "../../../http/mod.ts";
import { printed } from "../../../support/console.ts";
import { concat, headers, REQUEST, settings } from "../../../support/frames.ts";
import { PREFACE } from "../../../http/h2/frame.ts";
import { pair, testCertificate, TRANSPORTS } from "../../../support/transports.ts";

/** Handlers with a bug, and what the printed line must say. */
const BUGS: Record<string, [Handler, string]> = {
  "throws": [() => {
    throw new Error("my bug");
  }, "my bug"],
  "rejects": [async (stream) => {
    await stream.readAll();
    throw new Error("my bug");
  }, "my bug"],
  "gives no answer": [() => {}, "Handler ended without an answer"],
  "throws after its answer": [async (stream) => {
    await stream.respond(200);
    stream.closeWrite();
    throw new Error("my bug");
  }, "my bug"],
  "throws null": [() => {
    // deno-lint-ignore no-throw-literal
    throw null;
  }, "null"],
  "throws what cannot be looked at": [() => {
    throw new Proxy({}, {
      getPrototypeOf() {
        throw new Error("looked at");
      },
    });
  }, ""],
  "throws a value": [() => Promise.reject("just text"), "just text"],
};

for (const transport of TRANSPORTS) {
  Deno.test(`a handler's error is printed once, or told, or silenced (${transport.name})`, async () => {
    for (const [name, [handler, text]] of Object.entries(BUGS)) {
      const path = `/a/b?token=secret`;
      const lines = await printed(async () => {
        await using p = await pair(transport, handler);
        await p.client.post(p.url + path, null, "body");
      });
      assertEquals(lines.length, 1, `${name}: ${lines}`);
      assertStringIncludes(lines[0]!, "POST /a/b", name);
      assertStringIncludes(lines[0]!, text, name);
      assert(!lines[0]!.includes("secret"), "the query was printed");
      const told: [unknown, ServerStream | undefined][] = [];
      const quiet = await printed(async () => {
        await using p = await pair(transport, handler, {
          onError: (...args) => void told.push(args as never),
        });
        await p.client.post(p.url + path, null, "body");
      });
      assertEquals(quiet, [], name);
      assertEquals(told.map(([, stream]) => stream?.path), ["/a/b"], name);
      const silent = await printed(async () => {
        await using p = await pair(transport, handler, { onError: null });
        await p.client.post(p.url + path, null, "body");
      });
      assertEquals(silent, [], name);
    }
  });

  Deno.test(`listeners that fail are printed and change nothing else (${transport.name})`, async () => {
    const fail = {
      throws: () => {
        throw new Error("listener is broken");
      },
      rejects: () => Promise.reject(new Error("listener is broken")),
    };
    for (const onError of Object.values(fail)) {
      const lines = await printed(async () => {
        await using p = await pair(transport, (stream) => {
          if (stream.path === "/bad") throw new Error("my bug");
          return new Response("fine");
        }, { onError });
        const answers = await Promise.all(
          ["/bad", "/good", "/bad", "/good"].map((path) => p.client.get(p.url + path)),
        );
        assertEquals(answers.map(({ status }) => status), [500, 200, 500, 200]);
      });
      assertEquals(lines.length, 2);
      for (const line of lines) assertStringIncludes(line, "listener is broken");
    }
  });
}

Deno.test("strangers that fail a TLS handshake are told, never printed, and end nothing", async () => {
  const files = await testCertificate();
  for (const mode of ["none", "told", "broken"]) {
    const told = Promise.withResolvers<unknown[]>();
    const lines = await printed(async () => {
      await using server = listen({
        addr: "127.0.0.1:0",
        tls: true,
        certs: [files],
        handler: () => new Response("fine"),
        ...(mode === "none" ? {} : {
          onError: (...args: unknown[]) => {
            told.resolve(args);
            if (mode === "broken") throw new Error("listener is broken");
          },
        }),
      });
      const conn = await Deno.connect({ port: server.port, hostname: "127.0.0.1" });
      await conn.write(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
      // The server hangs up once the handshake has failed.
      while (await conn.read(new Uint8Array(100)).catch(() => null) !== null);
      conn.close();
      if (mode !== "none") assertEquals((await told.promise).length, 1);
      await using client = newClient({ caCerts: [files.ca] });
      assertEquals((await client.get(`https://${server.addr}/`)).body, "fine");
    });
    assertEquals(lines.length, mode === "broken" ? 1 : 0, lines.join("\n"));
  }
});

Deno.test("that connections cannot be accepted is printed once in a row", async () => {
  const { listen: original } = Deno;
  let failures = 3;
  Object.assign(Deno, {
    listen: (options: Deno.TcpListenOptions) => {
      const listener = original(options);
      const accept = listener.accept.bind(listener);
      listener.accept = () =>
        failures-- > 0 ? Promise.reject(new Error("no descriptors left")) : accept();
      return listener;
    },
  });
  try {
    const lines = await printed(async () => {
      await using server = listen({ addr: "127.0.0.1:0", handler: () => new Response("fine") });
      await using client = newClient();
      assertEquals((await client.get(`http://${server.addr}/`)).body, "fine");
    });
    assertEquals(lines.length, 1, lines.join("\n"));
    assertStringIncludes(lines[0]!, "no descriptors left");
  } finally {
    Object.assign(Deno, { listen: original });
  }
});

/** Requests that no handler sees, and the status of the error that is told. */
const REFUSED: [name: string, bytes: Uint8Array, status: number][] = [
  ["HTTP/1.1, no host", text("GET / HTTP/1.1\r\n\r\n"), 400],
  ["HTTP/1.1, target too long", text(`GET /${"x".repeat(9000)} HTTP/1.1\r\nHost: h\r\n\r\n`), 414],
  [
    "HTTP/1.1, too many fields",
    text(`GET / HTTP/1.1\r\nHost: h\r\n${"a: 1\r\n".repeat(200)}\r\n`),
    431,
  ],
  [
    "HTTP/1.1, body too long",
    text("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99\r\n\r\n"),
    413,
  ],
  ["HTTP/1.1, two empty lines first", text("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"), 400],
  ["HTTP/1.1, an empty line without CR", text("\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"), 400],
  ["HTTP/2, malformed", h2([...REQUEST, "X-Upper", "1"]), 400],
  ["HTTP/2, too many fields", h2([...REQUEST, ...Array(400).fill("x-a")]), 431],
  ["HTTP/2, body too long", h2([...REQUEST, "content-length", "99"]), 413],
  ["HTTP/2, TRACE", h2(REQUEST.with(1, "TRACE")), 405],
];

function text(request: string): Uint8Array {
  return new TextEncoder().encode(request);
}

function h2(fields: readonly string[]): Uint8Array {
  return concat(text(new TextDecoder().decode(PREFACE)), settings(), headers(1, fields));
}

for (const [name, bytes, status] of REFUSED) {
  Deno.test(`a request no handler sees is told to onBadRequest (${name})`, async () => {
    for (const broken of [false, true]) {
      const told = Promise.withResolvers<[MessageError, string]>();
      const lines = await printed(async () => {
        await using server = listen({
          addr: "127.0.0.1:0",
          limits: { maxBodyBytes: 10 },
          handler: () => new Response("fine"),
          onBadRequest: (...args) => {
            told.resolve(args);
            if (broken) throw new Error("listener is broken");
          },
        });
        const conn = await Deno.connect({ port: server.port, hostname: "127.0.0.1" });
        await conn.write(bytes);
        const [error, remoteAddr] = await told.promise;
        assert(error instanceof MessageError);
        assertEquals(error.status, status);
        assertEquals(remoteAddr, `127.0.0.1:${conn.localAddr.port}`);
        // Answered all the same.
        assert(await conn.read(new Uint8Array(1000)) !== null);
        conn.close();
        await using client = newClient();
        assertEquals((await client.get(`http://${server.addr}/`)).body, "fine");
      });
      assertEquals(lines.length, broken ? 1 : 0, lines.join("\n"));
    }
  });
}

Deno.test("close() resolves although a handler never ends and nothing else is left to wait for", async () => {
  const { stdout, code } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `const { listen } = await import("${new URL("../../../http/mod.ts", import.meta.url)}");
      const called = Promise.withResolvers();
      const server = listen({
        addr: "127.0.0.1:0",
        limits: { drainTimeout: 50 },
        handler: (stream) => new Promise(() => {
          stream.signal.addEventListener("abort", () => called.resolve());
        }),
      });
      const conn = await Deno.connect({ port: server.port, hostname: "127.0.0.1" });
      await conn.write(new TextEncoder().encode("GET / HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n"));
      conn.close();
      await called.promise;
      await server.close();
      console.log("closed");`,
    ],
    stderr: "inherit",
  }).output();
  assertEquals([new TextDecoder().decode(stdout).trim(), code], ["closed", 0]);
});
