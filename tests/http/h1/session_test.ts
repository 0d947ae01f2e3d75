/** What one HTTP/1.1 connection of a server bears, and for how long. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { bytes, connect, converse, readAll } from "./support.ts";
import type { ServerStream } from "../../../http/mod.ts";
import { FakeClock, settle } from "../../../support/fake_clock.ts";
import { cpuTime } from "../../../support/cpu_time.ts";

const GET = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

const ok = (stream: ServerStream) => {
  stream.respond(200);
  stream.closeWrite("ok");
};

const echo = async (stream: ServerStream) => {
  const body = await stream.readAll();
  await stream.respond(200);
  stream.closeWrite(body);
};

Deno.test("ServerSession closes a connection that says nothing within headerTimeout", async () => {
  const outcome = await converse(ok, [], { limits: { headerTimeout: 30 }, quiet: 200 });
  assertEquals([outcome.answer, outcome.closed], ["", true]);
});

Deno.test("ServerSession answers 408 to a head that does not come whole", async () => {
  const connection = connect(ok, { headerTimeout: 10_000 });
  const { client, session, done, clock } = connection;
  const begun = clock.now();
  const slow = (async () => {
    for (const octet of GET.slice(0, -2)) {
      await client.write(bytes(octet)).catch(() => {});
      await clock.sleep(1000);
      if (clock.now() - begun > 20_000) return;
    }
  })();
  const [answer] = await readAll(connection, 10_100);
  assertStringIncludes(answer, "HTTP/1.1 408 Request Timeout");
  client.close();
  session.destroy();
  await done;
  await clock.advance(1000 * GET.length);
  await slow;
});

Deno.test("ServerSession answers 408 when a body that was begun does not go on within bodyTimeout", async () => {
  const connection = connect(echo, { minBodyRate: 1000, bodyTimeout: 60_000 });
  const { client, session, done, clock } = connection;
  await client.write(bytes("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nx"));
  const begun = clock.now();
  const [answer] = await readAll(connection, 61_000);
  assertStringIncludes(answer, "HTTP/1.1 408 ");
  assert(clock.now() - begun >= 60_000);
  client.close();
  session.destroy();
  await done;
});

/** How a body of so many bytes is sent, each piece after a pause. */
interface Pace {
  readonly pieces: number;
  readonly bytes: number;
  readonly pauseMs: number;
}

for (const chunked of [false, true]) {
  const framing = chunked ? "chunked" : "of known length";
  const post = async ({ pieces, bytes: size, pauseMs }: Pace) => {
    const phases: unknown[] = [];
    const connection = connect(async (stream) => {
      try {
        const body = await stream.readBytes();
        await stream.respond(200);
        stream.closeWrite(String(body.length));
      } catch (error) {
        phases.push((error as { phase?: string }).phase);
        throw error;
      }
    }, { minBodyRate: 1000, bodyTimeout: 60_000 });
    const { client, session, done, clock } = connection;
    await client.write(
      bytes(
        `POST / HTTP/1.1\r\nHost: h\r\n${
          chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${pieces * size}`
        }\r\n\r\n`,
      ),
    );
    const piece = "x".repeat(size);
    const wire = bytes(chunked ? `${size.toString(16)}\r\n${piece}\r\n` : piece);
    const begun = clock.now();
    const sending = (async () => {
      for (let i = 0; i < pieces; i++) {
        await clock.sleep(pauseMs);
        // One that was cut hears no more.
        await client.write(wire).catch(() => {});
      }
      if (chunked) await client.write(bytes("0\r\n\r\n")).catch(() => {});
    })();
    const [answer] = await readAll(connection, pieces * pauseMs + 1000);
    const took = clock.now() - begun;
    await clock.advance(pieces * pauseMs);
    await sending;
    client.close();
    session.destroy();
    await done;
    return { status: Number(answer.slice(9, 12)), phase: phases[0], took };
  };

  Deno.test(`minBodyRate leaves a steady body ${framing} alone, however long it takes`, async () => {
    // 1250 bytes a second, for two minutes.
    const { status, took } = await post({ pieces: 300, bytes: 500, pauseMs: 400 });
    assertEquals([status, took >= 120_000], [200, true]);
  });

  Deno.test(`minBodyRate cuts a body ${framing} that drips, long before its end`, async () => {
    // 100 bytes a second: without the rate it might go on for 1000 seconds.
    const { status, phase, took } = await post({ pieces: 1000, bytes: 100, pauseMs: 1000 });
    assertEquals([status, phase], [408, "minBodyRate"]);
    assert(took < 30_000, `${took} ms`);
  });

  Deno.test(`minBodyRate counts what has just come of a body ${framing}`, async () => {
    // A pause beyond the grace of 5 seconds, for which the bytes behind it make up, or too few do not.
    const pauseMs = 7000;
    assertEquals((await post({ pieces: 1, bytes: 3000, pauseMs })).status, 200);
    const { status, phase } = await post({ pieces: 1, bytes: 1000, pauseMs });
    assertEquals([status, phase], [408, "minBodyRate"]);
  });
}

Deno.test("ServerSession closes an idle connection after idleTimeout", async () => {
  const connection = connect(ok, { idleTimeout: 50 });
  const { client, session, done } = connection;
  await client.write(bytes(GET));
  const [answer, closed] = await readAll(connection, 300);
  assertStringIncludes(answer, "200 OK");
  assert(closed);
  client.close();
  session.destroy();
  await done;
});

Deno.test("ServerSession counts idleTimeout from the answer, however long its handler took", async () => {
  for (const handlerMs of [35_000, 200_000]) {
    const clock = new FakeClock();
    const connection = connect(
      async (stream) => {
        if (stream.path === "/slow") await clock.sleep(handlerMs);
        await stream.respond(200);
        stream.closeWrite("ok");
      },
      { idleTimeout: 60_000 },
      clock,
    );
    const { client, session, done } = connection;
    let answers = 0;
    const ended = (async () => {
      const buffer = new Uint8Array(1000);
      while (await client.read(buffer).catch(() => null) !== null) answers++;
    })();
    await client.write(bytes(GET));
    await clock.advance(20_000);
    await client.write(bytes(GET.replace("/", "/slow")));
    await clock.advance(handlerMs);
    assertEquals(answers, 2);
    const idle = await clock.until(ended);
    assert(idle >= 60_000 && idle <= 60_010, `${idle} ms after a handler of ${handlerMs} ms`);
    client.close();
    session.destroy();
    await done;
  }
});

Deno.test("ServerSession answers pipelined requests in order, whatever the handlers' pace", async () => {
  const clock = new FakeClock();
  const outcome = await converse(async (stream) => {
    if (stream.path === "/1") await clock.sleep(15);
    await stream.respond(200);
    stream.closeWrite(`<${stream.path}>`);
  }, [
    ["/1", "/2", "/3"].map((path) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`).join(""),
  ], { clock });
  assertEquals(outcome.answer.match(/<\/\d>/g), ["</1>", "</2>", "</3>"]);
});

Deno.test("ServerSession runs one handler at a time for ten thousand pipelined requests", async () => {
  let running = 0;
  let most = 0;
  let handled = 0;
  const connection = connect(async (stream) => {
    most = Math.max(most, ++running);
    handled++;
    await stream.respond(200);
    stream.closeWrite("x".repeat(100));
    running--;
  });
  const { client, session, done } = connection;
  await client.write(bytes(GET.repeat(10_000)));
  const [answer] = await readAll(connection, 1000);
  assertEquals(answer.match(/200 OK/g)?.length, 10_000);
  assertEquals([most, handled], [1, 10_000]);
  client.close();
  session.destroy();
  await done;
});

Deno.test("ServerSession reads and drops a short body nobody read, and keeps the connection", async () => {
  const outcome = await converse(ok, [
    `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n${"x".repeat(1000)}${GET}`,
  ]);
  assertEquals([outcome.statuses, outcome.closed], [[200, 200], false]);
});

Deno.test("ServerSession keeps the connection when the handler left a read behind", async () => {
  const connection = connect((stream) => {
    stream.read().catch(() => {});
    ok(stream);
  });
  const { client, session, done } = connection;
  await client.write(bytes("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"));
  assertStringIncludes((await readAll(connection, 20))[0], "200 OK");
  await client.write(bytes(`5\r\nhello\r\n0\r\n\r\n${GET}`));
  const [answer, closed] = await readAll(connection, 20);
  assertStringIncludes(answer, "200 OK");
  assert(!closed);
  client.close();
  session.destroy();
  await done;
});

Deno.test("ServerSession keeps its promise to keep the connection for a chunked body", async () => {
  const connection = connect(ok);
  const { client, session, done } = connection;
  await client.write(bytes("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"));
  const [answer] = await readAll(connection, 20);
  assertStringIncludes(answer, "200 OK");
  assert(!answer.includes("connection: close"));
  // More than is read of a body whose length says in advance what it costs.
  const chunk = `10000\r\n${"x".repeat(1 << 16)}\r\n`;
  await client.write(bytes(`${chunk.repeat(8)}0\r\n\r\n${GET}`));
  const [next, closed] = await readAll(connection, 50);
  assertStringIncludes(next, "200 OK");
  assert(!closed);
  client.close();
  session.destroy();
  await done;
});

Deno.test("ServerSession closes rather than read a long body nobody wants", async () => {
  const outcome = await converse(ok, [
    `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000000\r\n\r\n${"x".repeat(1000)}`,
  ], { quiet: 1500 });
  assertStringIncludes(outcome.answer, "connection: close");
  assertEquals([outcome.statuses, outcome.closed], [[200], true]);
});

Deno.test("ServerSession sends 100 only when the body is read, and closes if it is not", async () => {
  const head = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  const read = connect(echo);
  await read.client.write(bytes(head));
  assertStringIncludes((await readAll(read, 20))[0], "HTTP/1.1 100 Continue\r\n\r\n");
  await read.client.write(bytes("hello"));
  assertStringIncludes((await readAll(read, 20))[0], "hello");
  read.client.close();
  read.session.destroy();
  await read.done;
  const outcome = await converse(ok, [head], { quiet: 1500 });
  assert(!outcome.answer.includes("100 Continue"));
  assertEquals([outcome.statuses, outcome.closed], [[200], true]);
});

Deno.test("ServerSession finishes the exchange under way when it is closed, and says so", async () => {
  let go!: () => void;
  const gone = new Promise<void>((resolve) => go = resolve);
  const connection = connect(async (stream) => {
    await gone;
    await ok(stream);
  });
  const { client, session, done } = connection;
  await client.write(bytes(GET));
  await connection.clock.advance(5);
  session.close();
  go();
  const [answer, closed] = await readAll(connection, 1500);
  assertStringIncludes(answer, "connection: close\r\n");
  assertStringIncludes(answer, "ok");
  assert(closed);
  client.close();
  await done;
});

Deno.test("ServerSession lets no handler split the response", async () => {
  const outcome = await converse(async (stream) => {
    for (const value of ["a\r\nSet-Cookie: x", "a\nb", "a\0", "a\x0b"]) {
      await stream.respond(200, { "x-a": value }).catch(() => {});
    }
    stream.closeWrite("clean");
  }, [GET]);
  assertEquals(outcome.statuses, [200]);
  assert(!outcome.answer.includes("Set-Cookie"));
});

Deno.test("ServerSession ends what a handler began, and answers 500 for nothing", async () => {
  const begun = await converse((stream) => void stream.respond(201), [GET]);
  assertEquals([begun.statuses, begun.closed], [[201], false]);
  const nothing = await converse(() => {}, [GET]);
  assertEquals(nothing.statuses, [500]);
});

Deno.test("ServerSession answers HTTP/1.0 without chunks and closes", async () => {
  const outcome = await converse(async (stream) => {
    await stream.respond(200);
    await stream.write("one ");
    await stream.write("two");
    stream.closeWrite();
  }, ["GET / HTTP/1.0\r\n\r\n"]);
  assert(!/transfer-encoding/.test(outcome.answer));
  assert(outcome.answer.endsWith("\r\n\r\none two") && outcome.closed);
});

Deno.test("a promise of the stream that nobody awaits does not end the process", async () => {
  const outcome = await converse((stream) => {
    stream.respond(200);
    stream.respond(200);
    stream.closeWrite("ok");
    stream.write("late");
  }, [GET]);
  assertEquals(outcome.statuses, [200]);
  await settle();
});

Deno.test("a response head of 32 KiB sent one octet at a time is read once, not again and again", async () => {
  const head = `GET / HTTP/1.1\r\nHost: h\r\nX: ${"a".repeat(30_000)}\r\n\r\n`;
  const connection = connect(ok);
  const { client, session, done } = connection;
  const begun = cpuTime();
  const all = bytes(head);
  for (let i = 0; i < all.length; i++) await client.write(all.subarray(i, i + 1));
  const [answer] = await readAll(connection, 50);
  assertStringIncludes(answer, "200 OK");
  assert(cpuTime() - begun < 3000);
  client.close();
  session.destroy();
  await done;
});
