import { assertEquals } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { type Need, peerTest } from "../../support/peers.ts";
import { run } from "../../support/process.ts";
import { COMPRESSION_CASES, testService, testServiceFile } from "./test_service.ts";

const python = Deno.env.get("SLUICE_PYTHON");
const PYTHON: Need = ["Python with grpcio", python, "set SLUICE_PYTHON"];

peerTest("C-core's client passes the compression cases of unary calls against our server", {
  needs: [PYTHON],
}, async () => {
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar: testService() });
  const script = new URL("peers/python/compressed_client.py", import.meta.url).pathname;
  const { code, stdout, stderr } = await run({ command: python!, args: [script, server.addr] });
  assertEquals([code, stdout.trim().split("\n")], [0, [
    "Gzip True 314167",
    "Gzip False INVALID_ARGUMENT",
    "Deflate True 314167",
    "Deflate False INVALID_ARGUMENT",
    "NoCompression True INVALID_ARGUMENT",
    "NoCompression False 314167",
  ]], stderr);
});

for (const encoding of ["gzip", "deflate", "zstd"] as const) {
  Deno.test(`our client passes the compression cases against our server: ${encoding}`, async (t) => {
    await using server = grpc.listen({ addr: "127.0.0.1:0", registrar: testService(), encoding });
    await using conn = grpc.newClient({ targets: [server.addr] });
    const service = grpc.newService(conn, testServiceFile, "TestService");
    for (const [name, check] of Object.entries(COMPRESSION_CASES)) {
      await t.step(name, () => check(service, { encoding }));
    }
  });
}
