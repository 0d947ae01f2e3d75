import { assert, assertEquals } from "@std/assert";
import { deadline, delay } from "@std/async";
import { FaultProxy } from "../../support/fault_proxy.ts";

/** A server that sends back what it gets. */
class EchoServer implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly endpoint = `127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}`;
  readonly #done = this.#serve();

  async #serve(): Promise<void> {
    const served: Promise<void>[] = [];
    for await (const conn of this.#listener) {
      served.push(conn.readable.pipeTo(conn.writable).catch(() => {}));
    }
    await Promise.all(served);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#done;
  }
}

async function connect(proxy: FaultProxy): Promise<Deno.TcpConn> {
  return await Deno.connect({ hostname: "127.0.0.1", port: proxy.port });
}

async function readText(conn: Deno.TcpConn): Promise<string | null> {
  const buffer = new Uint8Array(1024);
  try {
    const read = await deadline(conn.read(buffer), 2000);
    return read === null ? null : new TextDecoder().decode(buffer.subarray(0, read));
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionReset) return null;
    throw error;
  }
}

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("FaultProxy passes bytes both ways and closes with either side", async () => {
  await using server = new EchoServer();
  await using proxy = new FaultProxy({ target: server.endpoint });
  using conn = await connect(proxy);
  await conn.write(bytes("one"));
  assertEquals(await readText(conn), "one");
  await conn.closeWrite();
  assertEquals(await readText(conn), null);
  assertEquals(proxy.accepted, 1);
});

Deno.test("FaultProxy.drop() closes what is open and passes what comes after", async () => {
  await using server = new EchoServer();
  await using proxy = new FaultProxy({ target: server.endpoint });
  using first = await connect(proxy);
  await first.write(bytes("one"));
  assertEquals(await readText(first), "one");
  proxy.drop();
  assertEquals(await readText(first), null);
  using second = await connect(proxy);
  await second.write(bytes("two"));
  assertEquals(await readText(second), "two");
});

Deno.test("FaultProxy holds bytes while it is a black hole and gives them up after", async () => {
  await using server = new EchoServer();
  await using proxy = new FaultProxy({ target: server.endpoint });
  using conn = await connect(proxy);
  await conn.write(bytes("one"));
  assertEquals(await readText(conn), "one");
  proxy.mode = "hold";
  await conn.write(bytes("two"));
  const reading = readText(conn);
  assertEquals(await Promise.race([reading, delay(50).then(() => "nothing")]), "nothing");
  proxy.mode = "pass";
  assertEquals(await reading, "two");
});

Deno.test("FaultProxy refuses new connections and keeps old ones", async () => {
  await using server = new EchoServer();
  await using proxy = new FaultProxy({ target: server.endpoint });
  using old = await connect(proxy);
  await old.write(bytes("one"));
  assertEquals(await readText(old), "one");
  proxy.mode = "refuse";
  using fresh = await connect(proxy);
  assertEquals(await readText(fresh), null);
  await old.write(bytes("two"));
  assertEquals(await readText(old), "two");
});

Deno.test("FaultProxy cuts a connection after so many bytes", async () => {
  await using server = new EchoServer();
  await using proxy = new FaultProxy({ target: server.endpoint });
  proxy.cutAfterDown = 5;
  using conn = await connect(proxy);
  await conn.write(bytes("0123456789"));
  let seen = "";
  for (let text = await readText(conn); text !== null; text = await readText(conn)) seen += text;
  assertEquals(seen, "01234");
});

Deno.test("FaultProxy delays every chunk", async () => {
  await using server = new EchoServer();
  await using proxy = new FaultProxy({ target: server.endpoint });
  proxy.delay = 40;
  using conn = await connect(proxy);
  const started = performance.now();
  await conn.write(bytes("one"));
  assertEquals(await readText(conn), "one");
  assert(performance.now() - started >= 75);
});
