/** Balancing over foreign servers: several processes that come and go. */
import { assert, assertEquals } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { peerTest } from "../../support/peers.ts";
import { until } from "../../support/raw_server.ts";
import { echoFile } from "./echo.ts";
import type { EchoClient } from "./echo_checks.ts";
import { FOREIGN, startServer } from "./foreign.ts";

const PATIENT = { timeout: 20_000, waitForReady: true };

for (const foreign of FOREIGN) {
  for (const policy of ["round_robin", "pick_first", "least_request"] as const) {
    peerTest(`${foreign.name} as servers: ${policy} goes past one that is killed, and back`, {
      needs: foreign.needs,
    }, async () => {
      const servers = await Promise.all([startServer(foreign), startServer(foreign)]);
      const conn = grpc.newClient({
        targets: servers.map(({ addr }) => addr),
        policy,
        backoff: { initial: 20, max: 100 },
        // Servers that do not serve health are taken to be well.
        serviceConfig: { healthCheckConfig: { serviceName: "" } },
      });
      const echo = grpc.newService(conn, echoFile, "Echo") as unknown as EchoClient;
      assertEquals((await echo.Unary({ text: "first" }, PATIENT)).text, "first");
      if (policy !== "pick_first") {
        await until(() => conn.stats().servers.every(({ state }) => state === "READY"));
      }
      // Streams stay where they are: they show who has which calls.
      const streams = await Promise.all(Array.from({ length: 4 }, () => echo.BidiStream(20_000)));
      const active = conn.stats().servers.map(({ activeCalls }) => activeCalls);
      if (policy === "round_robin") assertEquals(active, [2, 2]);
      else if (policy === "pick_first") assertEquals(active, [4]);
      else assertEquals(active.reduce((sum, calls) => sum + calls), 4);
      for (const stream of streams) stream.close();
      await servers[0]!.process.stop();
      // A call that was under way there may be lost; then none is.
      await until(() => conn.state === "READY" || policy === "pick_first");
      await echo.Unary({}, PATIENT).catch(() => {});
      for (let i = 0; i < 20; i++) {
        assertEquals((await echo.Unary({ text: `${i}` }, PATIENT)).text, `${i}`);
      }
      const ready = conn.stats().servers.filter(({ state }) => state === "READY");
      assertEquals(ready.map(({ address }) => address), [servers[1]!.addr]);
      assert(conn.stats().activeCalls === 0);
      await conn.close();
      await servers[1]!.process.stop();
    });
  }
}
