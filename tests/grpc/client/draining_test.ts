/** What a connection that drains still says touches no other. */
import { assertEquals } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { data, goAway, headers, ping, settings } from "../../../support/frames.ts";
import { GREETER } from "../../../support/greeter.ts";
import { type FrameConn, frames, RawServer, until } from "../../../support/raw_server.ts";
import { Flag, FrameType } from "../../../http/h2/frame.ts";
import { ErrorCode } from "../../../http/h2/mod.ts";

const RESPONSE = [":status", "200", "content-type", "application/grpc"];

const answer = (conn: FrameConn, id: number) =>
  conn.send(
    headers(id, RESPONSE),
    data(id, new Uint8Array(5)),
    headers(id, ["grpc-status", "0"], { end: true }),
  );

/** Sends frames, and waits until the client has read them. */
async function say(conn: FrameConn, ...parts: Uint8Array[]): Promise<void> {
  await conn.send(...parts, ping());
  await conn.next(FrameType.PING);
}

const connect = (server: RawServer): grpc.Conn =>
  grpc.newClient({
    targets: [`127.0.0.1:${server.port}`],
    backoff: { initial: 10, max: 20 },
  });

Deno.test("a server that names its last stream loses nothing but its own connection", async () => {
  const [taken, moved, named] = [0, 0, 0].map(() => Promise.withResolvers<void>());
  await using server = new RawServer(frames(async (conn, nth) => {
    await conn.start();
    if (nth > 1) { for (;;) await answer(conn, await conn.request()); }
    const id = await conn.request();
    taken!.resolve();
    await say(conn, goAway(2 ** 31 - 1, ErrorCode.NO_ERROR));
    await moved!.promise;
    await say(conn, goAway(id, ErrorCode.NO_ERROR));
    named!.resolve();
    await answer(conn, id);
    await conn.frame();
  }));
  await using client = connect(server);
  const greeter = grpc.newService(client, GREETER);
  const first = greeter.SayHello!({ name: "one" }, { timeout: 20_000 });
  await taken!.promise;
  // Until the client knows of the end it may use the connection.
  await until(() => server.connections === 2);
  await greeter.SayHello!({ name: "two" }, { timeout: 20_000 });
  moved!.resolve();
  await named!.promise;
  await greeter.SayHello!({ name: "three" }, { timeout: 20_000 });
  await first;
  assertEquals(server.connections, 2);
});

Deno.test("SETTINGS of a connection that drains do not make the next one READY", async () => {
  const [begun, told] = [0, 0].map(() => Promise.withResolvers<void>());
  const seen: string[] = [];
  await using server = new RawServer(frames(async (conn, nth) => {
    if (nth === 1) {
      await conn.start();
      const id = await conn.request();
      await say(conn, goAway(2 ** 31 - 1, ErrorCode.NO_ERROR));
      await begun!.promise;
      await say(conn, settings());
      told!.resolve();
      await answer(conn, id);
      await conn.frame();
      return;
    }
    begun!.resolve();
    await told!.promise;
    await conn.start();
    for (;;) {
      const { type, flags, id } = await conn.frame();
      if (type === FrameType.SETTINGS && (flags & Flag.ACK) !== 0) seen.push("acknowledged");
      if (type !== FrameType.HEADERS) continue;
      seen.push("call");
      await answer(conn, id);
    }
  }));
  await using client = connect(server);
  const greeter = grpc.newService(client, GREETER);
  const first = greeter.SayHello!({ name: "one" }, { timeout: 20_000 });
  await begun!.promise;
  const second = greeter.SayHello!({ name: "two" }, { timeout: 20_000 });
  await Promise.all([first, second]);
  // A client acknowledges SETTINGS as it reads them: before, it knows of none.
  assertEquals(seen, ["acknowledged", "call"]);
});
