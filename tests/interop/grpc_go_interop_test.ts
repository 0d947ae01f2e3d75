import { assertEquals } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { makeCertificate, NAMES, OPENSSL } from "../../support/certificate.ts";
import { inPeers, type Need, peerTest } from "../../support/peers.ts";
import { accepting, freePort } from "../../support/ports.ts";
import { Process, run } from "../../support/process.ts";
import { CASES, testService, testServiceFile } from "./test_service.ts";

const SET_PEERS = "set SLUICE_PEERS to the folder that .ci/run fills";
const client = inPeers("bin/client");
const server = inPeers("bin/server");
const CLIENT: Need = ["grpc-go's interop client", client, SET_PEERS];
const SERVER: Need = ["grpc-go's interop server", server, SET_PEERS];

/** Name in the certificate that the cases over TLS are run under. */
const SERVER_NAME = NAMES.at(-1)!;

/** What the client can run of its own list without Google's cloud, several backends or ORCA. */
const CLIENT_CASES = [
  ...Object.keys(CASES).filter((name) => name !== "rpc_soak"),
  "pick_first_unary",
  "rpc_soak",
  "channel_soak",
];

async function runCases(t: Deno.TestContext, port: number, more: string[]): Promise<void> {
  for (const name of CLIENT_CASES) {
    await t.step(name, async () => {
      const args = ["--server_host=127.0.0.1", `--server_port=${port}`, `--test_case=${name}`];
      const { code, stderr } = await run({ command: client!, args: [...args, ...more] });
      assertEquals(code, 0, stderr);
    });
  }
}

async function serveCases(t: Deno.TestContext, tls?: { ca: string }, more: string[] = []) {
  const port = freePort();
  await using process = new Process({ command: server!, args: [`--port=${port}`, ...more] });
  await accepting(port, process);
  await using conn = grpc.newClient({
    targets: [`127.0.0.1:${port}`],
    tls: tls === undefined ? false : { caCerts: [tls.ca], serverName: SERVER_NAME },
  });
  const service = grpc.newService(conn, testServiceFile, "TestService");
  for (const [name, check] of Object.entries(CASES)) {
    await t.step(name, () => check(service, conn));
  }
}

peerTest("grpc-go's interop client passes its cases against our server", {
  needs: [CLIENT],
}, async (t) => {
  await using ours = grpc.listen({ addr: "127.0.0.1:0", registrar: testService() });
  await runCases(t, ours.port, []);
});

peerTest("grpc-go's interop client passes its cases against our server over TLS", {
  needs: [CLIENT, OPENSSL],
}, async (t) => {
  await using files = await makeCertificate();
  await using ours = grpc.listen({
    addr: "127.0.0.1:0",
    registrar: testService(),
    tls: true,
    certs: [files],
  });
  await runCases(t, ours.port, [
    "--use_tls",
    `--ca_file=${files.caFile}`,
    `--server_host_override=${SERVER_NAME}`,
    "--use_test_ca",
  ]);
});

peerTest("our client passes the interop cases against grpc-go's server", {
  needs: [SERVER],
}, async (t) => {
  await serveCases(t);
});

peerTest("our client passes the interop cases against grpc-go's server over TLS", {
  needs: [SERVER, OPENSSL],
}, async (t) => {
  await using files = await makeCertificate();
  const tls = [`--tls_cert_file=${files.certFile}`, `--tls_key_file=${files.keyFile}`];
  await serveCases(t, files, ["--use_tls", ...tls]);
});
