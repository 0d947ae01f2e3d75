import { assertEquals, assertThrows } from "@std/assert";
import { parseTarget, resolveTarget } from "../../../grpc/resolve/target.ts";

Deno.test("parseTarget() reads hosts, names to look up and Unix sockets", () => {
  const parts = (text: string) => {
    const { address, dns } = parseTarget(text);
    return [address.hostname, address.port, address.path ?? "", dns];
  };
  assertEquals(parts("127.0.0.1:50051"), ["127.0.0.1", 50051, "", false]);
  assertEquals(parts("[::1]:1"), ["::1", 1, "", false]);
  assertEquals(parts("dns://db:50051"), ["db", 50051, "", true]);
  assertEquals(parts("dns:///db:50051"), ["db", 50051, "", true]);
  assertEquals(parts("dns:db:50051"), ["db", 50051, "", true]);
  assertEquals(parts("unix:/tmp/s"), ["", 0, "/tmp/s", false]);
  for (const bad of ["", "host", "host:", ":80", "host:99999", "http://host:80"]) {
    assertThrows(() => parseTarget(bad), TypeError, "Cannot use", bad);
  }
});

Deno.test("resolveTarget() finds the addresses of a name", async () => {
  const addresses = await resolveTarget(parseTarget("dns://localhost:50051"));
  assertEquals(addresses.length > 0, true);
  assertEquals(
    addresses.every((one) => one.port === 50051 && one.authority === "localhost:50051"),
    true,
  );
});
