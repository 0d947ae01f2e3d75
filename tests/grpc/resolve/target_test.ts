import { assertEquals, assertThrows } from "@std/assert";
import { resolveTarget } from "../../../grpc/resolve/dns.ts";
import { shownAddress } from "../../../grpc/resolve/address.ts";
import { parseTarget } from "../../../grpc/resolve/target.ts";

Deno.test("parseTarget() reads hosts, names to look up and Unix sockets", () => {
  const parts = (text: string) => {
    const { address, kind } = parseTarget(text);
    return [address.hostname, address.port, address.path ?? "", kind === "dns"];
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

Deno.test("parseTarget() reads the schemes of gRPC's naming, and those beside them", () => {
  const shown = (text: string) => {
    const { kind, address, addresses, nameServer } = parseTarget(text);
    const name = nameServer === null ? "" : `${nameServer.ipAddr}#${nameServer.port} `;
    return `${kind} ${name}${(addresses.length > 0 ? addresses : [address]).map(shownAddress)}`;
  };
  const read: Readonly<Record<string, string>> = {
    "ipv4:192.0.2.1": "fixed 192.0.2.1:443",
    "ipv4:192.0.2.1:5,192.0.2.2": "fixed 192.0.2.1:5,192.0.2.2:443",
    "ipv6:2001:db8::1": "fixed [2001:db8::1]:443",
    "ipv6:[2001:db8::1]": "fixed [2001:db8::1]:443",
    "ipv6:[2001:db8::1]:5,[2001:db8::2]:6": "fixed [2001:db8::1]:5,[2001:db8::2]:6",
    "dns://192.0.2.53/db:5": "dns 192.0.2.53#53 db:5",
    "dns://192.0.2.53:5353/db:5": "dns 192.0.2.53#5353 db:5",
    "dns://[2001:db8::53]:5353/db:5": "dns 2001:db8::53#5353 db:5",
    "dns+srv:///example.com": "srv _grpc._tcp.example.com:0",
    "dns+srv:_users._tcp.example.com": "srv _users._tcp.example.com:0",
    "dns+srv://192.0.2.53/example.com": "srv 192.0.2.53#53 _grpc._tcp.example.com:0",
    "file:/etc/servers": "file unix:/etc/servers",
    "file:///etc/servers": "file unix:/etc/servers",
    "file:servers.json": "file unix:servers.json",
    "unix:///tmp/s": "fixed unix:/tmp/s",
    "unix:s": "fixed unix:s",
    "unix-abstract:s": "fixed unix-abstract:s",
    "memory:/1": "fixed memory:/1",
  };
  for (const [text, wanted] of Object.entries(read)) assertEquals(shown(text), wanted, text);
  for (
    const bad of [
      "ipv4:",
      "ipv4:localhost:5",
      "ipv4:[::1]:5",
      "ipv4:unix:/tmp/s",
      "ipv4:192.0.2.1:0",
      "ipv4:192.0.2.1,",
      `ipv4:${Array.from({ length: 257 }, () => "192.0.2.1").join()}`,
      "ipv6:192.0.2.1:5",
      "dns://name.server/db:5",
      "dns://192.0.2.53:99999/db:5",
      "dns+srv:///example.com:5",
      "dns+srv:///",
      "file:",
      "file://host/path",
      "unix:",
      "unix:a\0b",
      "unix-abstract:",
      "xds:///users",
      "ipv4",
    ]
  ) assertThrows(() => parseTarget(bad), TypeError, "Cannot use", bad);
});

Deno.test("resolveTarget() finds the addresses of a name", async () => {
  const addresses = await resolveTarget(parseTarget("dns://localhost:50051"));
  assertEquals(addresses.length > 0, true);
  assertEquals(
    addresses.every((one) => one.port === 50051 && one.authority === "localhost:50051"),
    true,
  );
});
