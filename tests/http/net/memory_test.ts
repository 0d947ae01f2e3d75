import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { openListener } from "../../../http/net/listener.ts";
import { dial } from "../../../http/net/dial.ts";
import { memorySocketPair } from "../../../http/net/memory_socket.ts";
import type { Socket } from "../../../http/net/socket.ts";
import { DialError } from "../../../http/message/error.ts";
import { SYSTEM_TIME } from "../../../http/time/time.ts";

const { clock } = SYSTEM_TIME;

const connect = (path: string): Promise<Socket> =>
  dial({ hostname: "", port: 0, path, time: SYSTEM_TIME });

Deno.test("who listens in memory is dialled by a name nobody else has", async () => {
  const accepted: Socket[] = [];
  const [one, two] = [0, 1].map(() =>
    openListener({ addr: "memory:" }, clock, (socket) => accepted.push(socket))
  );
  assertEquals(one!.addr === two!.addr, false);
  assertEquals([/^memory:\/\d+$/.test(one!.addr), one!.port], [true, 0]);
  const near = await connect(one!.addr);
  const [far] = accepted;
  await near.write(new TextEncoder().encode("hello"));
  const into = new Uint8Array(3);
  assertEquals([await far!.read(into), new TextDecoder().decode(into)], [3, "hel"]);
  assertEquals(far!.remoteAddr, { hostname: `${one!.addr}#1`, port: 0, transport: "memory" });
  near.close();
  far!.close();
  await Promise.all([one!.close(), two!.close()]);
});

Deno.test("a name in memory that nobody has, or no longer has, is refused as one that dials", async () => {
  const listener = openListener({ addr: "memory:" }, clock, () => {});
  await listener.close();
  for (const name of [listener.addr, "memory:/no"]) {
    const error = await assertRejects(() => connect(name), DialError);
    assertEquals([error.address, error.phase], [name, "connect"]);
  }
});

Deno.test("connections in memory keep to the limits of others, and give their place back", async () => {
  const accepted: Socket[] = [];
  let open = 0;
  const admission = { enter: () => open < 1 && ++open > 0, leave: () => void open-- };
  const listener = openListener(
    { addr: "memory:" },
    clock,
    (socket) => accepted.push(socket),
    () => {},
    admission,
  );
  const first = await connect(listener.addr);
  const second = await connect(listener.addr);
  assertEquals([accepted.length, await second.read(new Uint8Array(1))], [1, null]);
  accepted[0]!.close();
  accepted[0]!.close();
  assertEquals([open, await first.read(new Uint8Array(1))], [0, null]);
  await connect(listener.addr);
  assertEquals([accepted.length, open], [2, 1]);
  await listener.close();
});

Deno.test("a failure to serve a connection in memory is told, and closes it", async () => {
  const told: unknown[] = [];
  const wrong = new Error("no");
  const listener = openListener({ addr: "memory:" }, clock, () => {
    throw wrong;
  }, (error, accepting) => told.push(error, accepting));
  const socket = await connect(listener.addr);
  assertEquals(await socket.read(new Uint8Array(1)), null);
  assertEquals(told, [wrong, true]);
  await listener.close();
});

Deno.test("listening in memory takes no name and no TLS", () => {
  const listen = (addr: string, more = {}) => openListener({ addr, ...more }, clock, () => {});
  assertThrows(() => listen("memory:/1"), TypeError, 'addr must be "memory:"');
  const key = "-----BEGIN PRIVATE KEY-----\n";
  assertThrows(() => listen("memory:", { tls: true, certs: [{ cert: "x", key }] }), TypeError);
  // A host of that name is another thing.
  assertThrows(() => listen("memory:1x"), TypeError, "host:port");
});

Deno.test("a socket in memory takes no more than its peer has room for, and goes on when it reads", async () => {
  const maxUnread = 1 << 20;
  const [near, far] = memorySocketPair({ maxUnread });
  const piece = new Uint8Array(600 << 10).fill(7);
  assertEquals(await near.write(piece), piece.length);
  const rest = await near.write(piece);
  assertEquals(rest, (1 << 20) - piece.length);
  let written = false;
  const waiting = near.write(piece).then((n) => {
    written = true;
    return n;
  });
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(written, false);
  assertEquals(await far.read(new Uint8Array(1000)), 1000);
  assertEquals(await waiting, 1000);
  const last = near.write(piece);
  far.close();
  await assertRejects(() => last, Deno.errors.BrokenPipe);
  const [one, two] = memorySocketPair({ maxUnread });
  await one.write(new Uint8Array(1 << 20));
  const cut = one.write(piece);
  one.close();
  await assertRejects(() => cut, Deno.errors.BadResource);
  two.close();
});
