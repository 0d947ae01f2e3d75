import { assert, assertGreaterOrEqual } from "@std/assert";
import { makeCertificate, OPENSSL } from "../../support/certificate.ts";
import { peerTest } from "../../support/peers.ts";
import { EchoService } from "./echo.ts";
import { runChecks } from "./echo_checks.ts";
import { type ClientResult, FOREIGN, runClient, startServer } from "./foreign.ts";

/** Every client makes at least these many checks; fewer means that it stopped early. */
const CLIENT_CHECKS = 28;

async function judge(t: Deno.TestContext, results: readonly ClientResult[]): Promise<void> {
  assertGreaterOrEqual(results.length, CLIENT_CHECKS);
  for (const { name, ok, detail } of results) await t.step(name, () => assert(ok, detail));
}

for (const foreign of FOREIGN) {
  peerTest(`${foreign.name} as server: our client passes all checks`, {
    needs: foreign.needs,
  }, async (t) => {
    await using server = await startServer(foreign);
    await runChecks(t, { target: server.addr });
  });

  peerTest(`${foreign.name} as server over TLS: our client passes all checks`, {
    needs: [...foreign.needs, OPENSSL],
  }, async (t) => {
    await using files = await makeCertificate();
    await using server = await startServer(foreign, files);
    await runChecks(t, { target: server.addr, tls: { caCerts: [files.ca] } });
  });

  peerTest(`${foreign.name} as client: our server passes all checks`, {
    needs: foreign.needs,
  }, async (t) => {
    const service = new EchoService();
    await using server = service.listen();
    await judge(t, await runClient(foreign, server.addr));
    await service.idle();
  });

  peerTest(`${foreign.name} as client over TLS: our server passes all checks`, {
    needs: [...foreign.needs, OPENSSL],
  }, async (t) => {
    await using files = await makeCertificate();
    const service = new EchoService();
    await using server = service.listen({ tls: true, certs: [files] });
    await judge(t, await runClient(foreign, server.addr, files.caFile));
    await service.idle();
  });
}
