/**
 * Clients that ask for more than they take: HTTP/2 windows that stay shut or open byte by byte.
 * Those are sent away; slow ones above the least rate, and streams with nothing to send, stay.
 */
import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { ErrorCode } from "../../../http/message/error_code.ts";
import { TimeoutError } from "../../../http/message/error.ts";
import type { ServerOptions, ServerStream } from "../../../http/mod.ts";
import { listenAt } from "../../../http/server/listen.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { data, headers, REQUEST, windowUpdate } from "../../../support/frames.ts";
import { GREETER } from "../../../support/greeter.ts";
import { RawH2 } from "../../../support/raw_h2.ts";

const INITIAL_WINDOW_SIZE = 4;
const BIG = new Uint8Array(8 << 20);
const STRICT = { writeTimeout: 10_000, minWriteRate: 1_000_000 };

const get = (path: string) => {
  const fields = [...REQUEST];
  fields[1] = "GET";
  fields[5] = path;
  return fields;
};

interface Serving extends AsyncDisposable {
  readonly port: number;
  readonly clock: FakeClock;
  /** What the handler's write was rejected with. */
  readonly failed: Promise<unknown>;
}

/** Answers /big with 8 MiB in one piece, /pieces in many, and others with a word. */
function serve(options: Partial<ServerOptions> = {}): Serving {
  let onFailed!: (error: unknown) => void;
  const failed = new Promise<unknown>((resolve) => onFailed = resolve);
  const clock = new FakeClock(OVER_SOCKETS);
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    limits: STRICT,
    handler: async (stream: ServerStream) => {
      await stream.respond(200);
      if (stream.path === "/big") return stream.closeWrite(BIG);
      try {
        for (let i = 0; stream.path === "/pieces"; i++) await stream.write(new Uint8Array(16_384));
      } catch (error) {
        return onFailed(error);
      }
      stream.closeWrite("hello");
    },
    onError: () => {},
    ...options,
  });
  return {
    port: server.port,
    clock,
    failed,
    [Symbol.asyncDispose]: async () => void await clock.until(server.close()),
  };
}

/** Calls `tick` every `ms` by the clock until `over` is settled; returns how long that took. */
async function every(
  clock: FakeClock,
  ms: number,
  over: Promise<unknown>,
  tick: () => Promise<void>,
): Promise<number> {
  const begun = clock.now();
  do await tick().catch(() => {}); while (!await clock.within(ms, over));
  return clock.now() - begun;
}

for (const path of ["/big", "/pieces"]) {
  Deno.test(`a stream whose window opens byte by byte is reset: ${path}`, async () => {
    await using server = serve();
    const raw = await RawH2.open(server.port, [INITIAL_WINDOW_SIZE, 1]);
    await raw.send(headers(1, get(path), { end: true }));
    await raw.heard();
    const reset = raw.line("RST_STREAM 1");
    await every(server.clock, 500, reset, () => raw.send(windowUpdate(1, 1)));
    assertEquals(await reset, `RST_STREAM 1 ${ErrorCode.CANCEL}`);
    if (path === "/pieces") {
      const error = await server.failed;
      assertInstanceOf(error, TimeoutError);
      assertEquals(error.phase, "minWriteRate");
    }
    // Others on the connection are served on.
    await raw.send(headers(3, get("/"), { end: true }), windowUpdate(3, 1000));
    await raw.line("DATA 3");
    await raw.close();
  });

  Deno.test(`a stream whose window never opens is reset: ${path}`, async () => {
    await using server = serve();
    const raw = await RawH2.open(server.port, [INITIAL_WINDOW_SIZE, 0]);
    await raw.send(headers(1, get(path), { end: true }));
    await raw.heard();
    const reset = raw.line("RST_STREAM 1");
    const took = await server.clock.until(reset);
    assert(took >= STRICT.writeTimeout, `${took} ms`);
    assertEquals(await reset, `RST_STREAM 1 ${ErrorCode.CANCEL}`);
    if (path === "/pieces") {
      const error = await server.failed;
      assertInstanceOf(error, TimeoutError);
      assertEquals(error.phase, "writeTimeout");
    }
    await raw.close();
  });
}

Deno.test("a connection whose window opens byte by byte is ended", async () => {
  await using server = serve();
  const raw = await RawH2.open(server.port, [INITIAL_WINDOW_SIZE, 16 << 20]);
  await raw.send(headers(1, get("/big"), { end: true }), headers(3, get("/big"), { end: true }));
  await raw.heard();
  const goAway = raw.line("GOAWAY");
  await every(server.clock, 500, goAway, () => raw.send(windowUpdate(0, 1)));
  assertEquals(await goAway, `GOAWAY 0 3 ${ErrorCode.ENHANCE_YOUR_CALM}`);
  const ended = raw.end();
  await server.clock.until(ended);
  assertEquals(await ended, "eof");
  await raw.close();
});

Deno.test("a client that lets stream after stream starve is sent away", async () => {
  await using server = serve();
  const raw = await RawH2.open(server.port, [INITIAL_WINDOW_SIZE, 1]);
  const goAway = raw.line("GOAWAY");
  let id = 1;
  await every(server.clock, 1000, goAway, () => {
    const opened = raw.send(headers(id, get("/big"), { end: true }));
    id += 2;
    return opened;
  });
  assert((await goAway).endsWith(` ${ErrorCode.ENHANCE_YOUR_CALM}`));
  await raw.close();
});

Deno.test("a slow reader above the least rate gets everything, however long it takes", async () => {
  const size = 60_000;
  const limits = { ...STRICT, minWriteRate: 1000 };
  await using server = serve({
    limits,
    handler: async (stream) => {
      await stream.respond(200);
      stream.closeWrite(new Uint8Array(size));
    },
  });
  const raw = await RawH2.open(server.port, [INITIAL_WINDOW_SIZE, 1000]);
  await raw.send(headers(1, get("/"), { end: true }));
  await raw.heard();
  const ended = raw.line("DATA 1 END_STREAM");
  const took = await every(server.clock, 450, ended, async () => {
    await raw.send(windowUpdate(1, 500));
    await raw.heard();
  });
  await ended;
  assertEquals(raw.received, size);
  assert(took > 4 * limits.writeTimeout, `${took} ms`);
  await raw.close();
});

Deno.test("a stream with nothing to send is never cut, nor one between two pieces", async () => {
  await using server = serve({
    handler: async (stream) => {
      await stream.respond(200);
      for (let i = 0; i < 4; i++) {
        await stream.write("piece");
        await server.clock.sleep(15_000);
      }
      stream.closeWrite("end");
    },
  });
  const raw = await RawH2.open(server.port);
  await raw.send(headers(1, get("/"), { end: true }));
  await raw.heard();
  await server.clock.until(raw.line("DATA 1 END_STREAM"));
  assertEquals(raw.received, 23);
  await raw.close();
});

Deno.test("writeTimeout 0 switches both limits off", async () => {
  await using server = serve({ limits: { ...STRICT, writeTimeout: 0 } });
  const raw = await RawH2.open(server.port, [INITIAL_WINDOW_SIZE, 1]);
  await raw.send(headers(1, get("/big"), { end: true }));
  await raw.heard();
  await raw.line("DATA 1 ");
  await server.clock.advance(60_000);
  await raw.send(windowUpdate(1, 1));
  await raw.until(() => raw.received === 2);
  assert(!raw.lines.some((line) => /RST_STREAM|GOAWAY/.test(line)));
  await raw.close();
});

for (const method of ["SayHello", "ListReplies"]) {
  Deno.test(`a gRPC client that takes nothing of ${method} loses its call`, async () => {
    const registrar = new grpc.Registrar();
    const payload = new Uint8Array(1 << 20);
    let ended!: () => void;
    const over = new Promise<void>((resolve) => ended = resolve);
    registrar.register(GREETER, {
      SayHello: () => ({ payload }),
      async *ListReplies() {
        try {
          for (;;) yield await Promise.resolve({ payload });
        } finally {
          ended();
        }
      },
    });
    await using server = serve({ registrar });
    const raw = await RawH2.open(server.port, [INITIAL_WINDOW_SIZE, 1]);
    const fields = [...REQUEST, "content-type", "application/grpc", "te", "trailers"];
    fields[5] = `/test.Greeter/${method}`;
    await raw.send(headers(1, fields), data(1, new Uint8Array(5), true));
    await raw.heard();
    const reset = raw.line("RST_STREAM 1");
    await every(server.clock, 500, reset, () => raw.send(windowUpdate(1, 1)));
    assertEquals(await reset, `RST_STREAM 1 ${ErrorCode.CANCEL}`);
    if (method === "ListReplies") await over;
    await raw.close();
  });
}
