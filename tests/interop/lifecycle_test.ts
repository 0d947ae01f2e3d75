import { Code, ConnectError } from "@connectrpc/connect";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { FaultProxy } from "../../support/fault_proxy.ts";
import { peerTest } from "../../support/peers.ts";
import { echoFile } from "./echo.ts";
import type { EchoClient } from "./echo_checks.ts";
import { FOREIGN, startServer } from "./foreign.ts";

/** Milliseconds that nothing comes near unless it hangs. */
const ENOUGH = 10_000;

const PATIENT = { timeout: ENOUGH, waitForReady: true };

async function fails(promise: Promise<unknown>, code: Code): Promise<void> {
  const error = ConnectError.from(await assertRejects(() => promise));
  assertEquals(Code[error.code], Code[code], error.message);
}

function connect(target: string, options: Partial<grpc.ClientOptions> = {}) {
  const conn = grpc.newClient({
    targets: [target],
    backoff: { initial: 20, max: 100 },
    ...options,
  });
  return { conn, echo: grpc.newService(conn, echoFile, "Echo") as unknown as EchoClient };
}

for (const foreign of FOREIGN) {
  peerTest(`${foreign.name} as server: calls fail when the connection breaks, later ones succeed`, {
    needs: foreign.needs,
  }, async () => {
    await using server = await startServer(foreign);
    await using proxy = new FaultProxy({ target: server.addr });
    const { conn, echo } = connect(proxy.endpoint);
    await using _conn = conn;
    await echo.Unary({}, ENOUGH);
    for (let round = 0; round < 3; round++) {
      const stream = await echo.BidiStream(ENOUGH);
      await stream.write({ text: "before" });
      assertEquals((await stream.read(ENOUGH))?.text, "before");
      const waiting = echo.Unary({ delayMs: 5000 }, ENOUGH);
      // Both calls have reached the server: the stream was answered on the same connection.
      await stream.write({ text: "again" });
      await stream.read(ENOUGH);
      proxy.drop();
      await fails(waiting, Code.Unavailable);
      await fails(stream.read(ENOUGH), Code.Unavailable);
      assertEquals((await echo.Unary({ text: "after" }, PATIENT)).text, "after");
    }
  });

  peerTest(`${foreign.name} as server: our client finds it again after it was killed`, {
    needs: foreign.needs,
  }, async () => {
    const first = await startServer(foreign);
    await using proxy = new FaultProxy({ target: first.addr });
    const { conn, echo } = connect(proxy.endpoint);
    await using _conn = conn;
    const waiting = (async () => {
      await echo.Unary({ text: "one" }, ENOUGH);
      await echo.Unary({ delayMs: 5000 }, ENOUGH);
    })();
    const failed = fails(waiting, Code.Unavailable);
    assertEquals((await echo.Unary({ text: "two" }, ENOUGH)).text, "two");
    await new Promise((resolve) => setTimeout(resolve, 50));
    await first.process.stop("SIGKILL");
    await failed;
    await using second = await startServer(foreign);
    proxy.target = second.addr;
    assertEquals((await echo.Unary({ text: "three" }, PATIENT)).text, "three");
  });

  peerTest(`${foreign.name} as server: keepalive ends calls on a connection gone silent`, {
    needs: foreign.needs,
  }, async () => {
    await using server = await startServer(foreign);
    await using proxy = new FaultProxy({ target: server.addr });
    const { conn, echo } = connect(proxy.endpoint, { keepalive: { interval: 100, timeout: 200 } });
    await using _conn = conn;
    await echo.Unary({}, ENOUGH);
    const stream = await echo.BidiStream(ENOUGH);
    await stream.write({ text: "before" });
    await stream.read(ENOUGH);
    proxy.mode = "hold";
    const started = performance.now();
    await fails(stream.read(ENOUGH), Code.Unavailable);
    assert(performance.now() - started < 3000);
    proxy.drop();
    proxy.mode = "pass";
    assertEquals((await echo.Unary({ text: "after" }, PATIENT)).text, "after");
  });
}
