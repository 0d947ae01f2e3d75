import { assertEquals } from "@std/assert";
import { interleaved } from "../../../grpc/balancing/interleave.ts";
import { parseAddress, shownAddress } from "../../../grpc/resolve/address.ts";

const order = (...texts: string[]): string =>
  interleaved(texts.map((text) => parseAddress("it", text)))
    .map((address) => shownAddress(address).replace(/:1$/, "")).join(" ");

Deno.test("TestPickFirstLeaf_InterleavingIPV4Preferred and IPv6Preferred: the family of the first begins", () => {
  assertEquals(
    order("1.1.1.1:1", "2.2.2.2:1", "3.3.3.3:1", "[::1]:1", "[::2]:1"),
    "1.1.1.1 [::1] 2.2.2.2 [::2] 3.3.3.3",
  );
  assertEquals(
    order("[::1]:1", "1.1.1.1:1", "2.2.2.2:1", "[::2]:1", "[::3]:1"),
    "[::1] 1.1.1.1 [::2] 2.2.2.2 [::3]",
  );
});

Deno.test("TestPickFirstLeaf_InterleavingUnknownPreferred: names and paths are a family of their own", () => {
  assertEquals(
    order("a.test:1", "1.1.1.1:1", "[::1]:1", "b.test:1", "unix:/s"),
    "a.test 1.1.1.1 [::1] b.test unix:/s",
  );
});

Deno.test("TestPickFirstLeaf_SimpleResolverUpdate_DuplicateAddrs: each address is tried once", () => {
  assertEquals(order("1.1.1.1:1", "1.1.1.1:1", "2.2.2.2:1", "1.1.1.1:1"), "1.1.1.1 2.2.2.2");
  assertEquals(order(), "");
});
