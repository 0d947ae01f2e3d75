import { grpc } from "@sluice/sluice";
import { COMPRESSION_CASES, testService, testServiceFile } from "./test_service.ts";

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
