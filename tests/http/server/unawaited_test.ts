/**
 * Promises that nobody awaits never end the process: every method of a stream that gives one is
 * called and left alone, and then the peer goes away in every way there is.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { listen, newClient, type ServerStream } from "../../../http/mod.ts";
import { PREFACE } from "../../../http/h2/frame.ts";
import { printed } from "../../../support/console.ts";
import { concat, data, headers, REQUEST, rstStream, settings } from "../../../support/frames.ts";

/** What is called on a server's stream and not awaited. */
const SERVER_METHODS: Record<string, (stream: ServerStream) => unknown> = {
  read: (stream) => stream.read(),
  "read, and read again": async (stream) => {
    await stream.read();
    stream.read();
  },
  "read at once again": (stream) => [stream.read(), stream.read()],
  "iterator, and on": async (stream) => {
    const pieces = stream[Symbol.asyncIterator]();
    await pieces.next();
    pieces.next();
  },
  readAll: (stream) => stream.readAll(),
  readBytes: (stream) => stream.readBytes(),
  iterator: (stream) => stream[Symbol.asyncIterator]().next(),
  readable: (stream) => stream.readable.getReader().closed,
  "request.text": (stream) => stream.request.text(),
  "request.json": (stream) => stream.request.json(),
  "request.bytes": (stream) => stream.request.bytes(),
  "request.arrayBuffer": (stream) => stream.request.arrayBuffer(),
  "request.blob": (stream) => stream.request.blob(),
  "request.formData": (stream) => stream.request.formData(),
  "request.clone": (stream) => stream.request.clone().text(),
  respond: (stream) => stream.respond(200),
  "respond wrong": (stream) => stream.respond(999),
  write: (stream) => stream.write("x".repeat(1 << 20)),
  "write wrong": (stream) => stream.write(5 as never),
  upgradeWebSocket: (stream) => stream.upgradeWebSocket(),
};

/** The ways the other side ends, after half a body. */
const ENDS = ["resets", "hangs up", "breaks the rules", "sees the server close"] as const;

const encoder = new TextEncoder();

function opening(version: string): Uint8Array {
  if (version === "HTTP/2") {
    return concat(PREFACE, settings(), headers(1), data(1, "half"));
  }
  return encoder.encode(
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
  );
}

function fault(version: string): Uint8Array {
  // A frame longer than any may be; a chunk size that is none.
  return version === "HTTP/2" ? new Uint8Array(100).fill(255) : encoder.encode("zz\r\n");
}

for (const engine of ["own", "deno"] as const) {
  for (const version of ["HTTP/1.1", "HTTP/2"]) {
    if (engine === "deno" && version === "HTTP/2") continue;
    Deno.test(`promises of a server's stream may be left alone (${version}, engine ${engine})`, async () => {
      const unhandled: string[] = [];
      let name = "";
      const onUnhandled = (event: PromiseRejectionEvent) => {
        event.preventDefault();
        unhandled.push(`${name}: ${event.reason}`);
      };
      addEventListener("unhandledrejection", onUnhandled);
      try {
        for (const [method, call] of Object.entries(SERVER_METHODS)) {
          for (const end of ENDS) {
            // Over HTTP/1.1 a reset is a connection that ends.
            if (end === "resets" && version === "HTTP/1.1") continue;
            name = `${method}, then the peer ${end}`;
            const called = Promise.withResolvers<void>();
            const over = Promise.withResolvers<void>();
            const server = listen({
              addr: "127.0.0.1:0",
              engine,
              onError: null,
              limits: { drainTimeout: 20 },
              handler: async (stream) => {
                call(stream);
                called.resolve();
                await over.promise;
              },
            });
            const conn = await Deno.connect({ port: server.port, hostname: "127.0.0.1" });
            await conn.write(opening(version));
            await called.promise;
            if (end === "resets" && version === "HTTP/2") await conn.write(rstStream(1, 8));
            if (end === "breaks the rules") await conn.write(fault(version)).catch(() => {});
            if (end === "sees the server close") {
              const closing = server.close();
              await new Promise((resolve) => setTimeout(resolve, 40));
              over.resolve();
              await closing;
            } else if (end === "hangs up" || version === "HTTP/1.1") {
              // With the answer unread this is a reset.
              conn.close();
            }
            // The loop turns often enough for what came, and for the platform to find it unhandled.
            for (let i = 0; i < 4; i++) await new Promise((resolve) => setTimeout(resolve, 1));
            over.resolve();
            await server.close();
            try {
              conn.close();
            } catch {
              // Closed above.
            }
          }
        }
      } finally {
        removeEventListener("unhandledrejection", onUnhandled);
      }
      assertEquals(unhandled, []);
    });
  }
}

Deno.test("a promise that was left alone first still rejects for who awaits it later", async () => {
  const outcome = Promise.withResolvers<unknown>();
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      const body = stream.readAll();
      await new Promise((resolve) => stream.signal.addEventListener("abort", resolve));
      outcome.resolve(await assertRejects(() => body));
    },
  });
  const conn = await Deno.connect({ port: server.port, hostname: "127.0.0.1" });
  await conn.write(concat(PREFACE, settings(), headers(1, REQUEST), rstStream(1, 8)));
  assert(await outcome.promise instanceof Error);
  conn.close();
});

Deno.test("promises of a client and its streams may be left alone", async () => {
  const unhandled: string[] = [];
  let name = "";
  const onUnhandled = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unhandled.push(`${name}: ${event.reason}`);
  };
  addEventListener("unhandledrejection", onUnhandled);
  try {
    for (const version of ["HTTP/1.1", "HTTP/2"]) {
      // Made before each call, so a handler that begins late finds it open.
      let called = Promise.withResolvers<void>();
      await using server = listen({
        addr: "127.0.0.1:0",
        onError: null,
        handler: async (stream) => {
          if (stream.path === "/half") await stream.write("half of a body");
          await called.promise;
          stream.abort();
        },
      });
      const url = `http://${server.addr}`;
      const client = newClient({ alpnProtos: [version === "HTTP/2" ? "h2" : "http/1.1"] });
      const turn = (ms = 5) => new Promise((resolve) => setTimeout(resolve, ms));
      const calls: Record<string, () => unknown> = {
        get: () => client.get(url),
        post: () => client.post(url, null, "x"),
        "refused options": () => client.get(url, { timout: 1 } as never),
        send: () => client.send("GET", url),
        fetch: () => client.fetch(url),
        request: () => client.request("GET", "http://127.0.0.1:1/"),
      };
      for (const [method, call] of Object.entries(calls)) {
        name = `${version} ${method}`;
        called = Promise.withResolvers();
        call();
        await turn();
        called.resolve();
        await turn();
      }
      const streams: Record<string, (s: Awaited<ReturnType<typeof client.request>>) => unknown> = {
        waitResponse: (s) => s.waitResponse(),
        read: (s) => s.read(),
        readAll: (s) => s.readAll(),
        readBytes: (s) => s.readBytes(),
        json: (s) => s.json(),
        iterator: (s) => s[Symbol.asyncIterator]().next(),
        write: (s) => s.write("x".repeat(1 << 20)),
        readable: (s) => s.readable.getReader().closed,
      };
      for (const [method, call] of Object.entries(streams)) {
        for (const path of ["", "/half"]) {
          name = `${version} ${path} ${method}`;
          called = Promise.withResolvers();
          const stream = await client.request("POST", url + path);
          stream.write("begin");
          call(stream);
          await turn();
          called.resolve();
          await turn();
          stream.close();
        }
      }
      for (const method of ["text", "json", "bytes", "arrayBuffer", "blob", "formData"] as const) {
        name = `${version} response.${method}`;
        called = Promise.withResolvers();
        const response = await client.fetch(`${url}/half`);
        response[method]();
        await turn();
        called.resolve();
        await turn();
      }
      await client.close();
    }
  } finally {
    removeEventListener("unhandledrejection", onUnhandled);
  }
  assertEquals(unhandled, []);
});

Deno.test("a failed upgrade is answered by itself, whether or not its handler waits", async () => {
  const handlers: Record<string, (stream: ServerStream) => unknown> = {
    waits: async (stream) => {
      await stream.upgradeWebSocket();
    },
    "does not wait": (stream) => {
      stream.upgradeWebSocket();
    },
    "catches elsewhere": (stream) => {
      stream.upgradeWebSocket().then(() => {}, () => {});
    },
    "goes on and catches nothing": (stream) => {
      stream.upgradeWebSocket().then(() => {}).then(() => {}).finally(() => {});
    },
    "does not wait, and is async": async (stream) => {
      await Promise.resolve();
      stream.upgradeWebSocket();
    },
  };
  for (const [name, handler] of Object.entries(handlers)) {
    for (const version of ["h2", "http/1.1"]) {
      for (const engine of ["own", "deno"] as const) {
        const lines = await printed(async () => {
          await using server = listen({ addr: "127.0.0.1:0", engine, handler });
          await using client = newClient({ alpnProtos: [version] });
          const { status } = await client.get(`http://${server.addr}/`);
          assertEquals(status, 426, `${name}, ${version}, ${engine}`);
        });
        assertEquals(lines, [], name);
      }
    }
  }
});

Deno.test("what a handler throws behind its upgrade is not kept quiet", async () => {
  const unhandled = Promise.withResolvers<unknown>();
  const onUnhandled = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unhandled.resolve(event.reason);
  };
  addEventListener("unhandledrejection", onUnhandled);
  try {
    const fault = new Error("the handler's own");
    await using server = listen({
      addr: "127.0.0.1:0",
      handler: (stream) => {
        stream.upgradeWebSocket().then((socket) => {
          socket.close();
          throw fault;
        }).then(() => {});
      },
    });
    const socket = new WebSocket(`ws://${server.addr}/`);
    const closed = new Promise((resolve) => socket.onclose = resolve);
    assertEquals(await unhandled.promise, fault);
    await closed;
  } finally {
    removeEventListener("unhandledrejection", onUnhandled);
  }
});
