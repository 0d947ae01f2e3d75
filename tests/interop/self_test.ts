import { makeCertificate, OPENSSL } from "../../support/certificate.ts";
import { peerTest } from "../../support/peers.ts";
import { EchoService } from "./echo.ts";
import { runChecks } from "./echo_checks.ts";

Deno.test("Echo: our client passes all checks against our server", async (t) => {
  const service = new EchoService();
  await using server = service.listen();
  await runChecks(t, { target: server.addr });
  await service.idle();
});

peerTest("Echo: our client passes all checks against our server over TLS", {
  needs: [OPENSSL],
}, async (t) => {
  await using files = await makeCertificate();
  const service = new EchoService();
  await using server = service.listen({ tls: true, certs: [files] });
  await runChecks(t, { target: server.addr, tls: { caCerts: [files.ca] } });
  await service.idle();
});
