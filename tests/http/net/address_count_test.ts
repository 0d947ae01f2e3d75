import { assert, assertEquals, assertFalse } from "@std/assert";
import { AddressCount, addressKey } from "../../../http/net/address_count.ts";

Deno.test("addressKey() is the IPv4 address, however it is written, or the /64", () => {
  const cases: [string, string][] = [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::6", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:db8::6", "2001:db8:0:0::/64"],
    ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64%eth0"],
  ];
  for (const [address, key] of cases) assertEquals(addressKey(address), key, address);
});

Deno.test("AddressCount counts each client by itself and forgets those that are gone", () => {
  const count = new AddressCount(2);
  assert(count.enter("192.0.2.7"));
  assert(count.enter("::ffff:192.0.2.7"));
  assertFalse(count.enter("192.0.2.7"));
  assert(count.enter("192.0.2.8"));
  assert(count.enter("2001:db8::1"));
  assert(count.enter("2001:db8::2"));
  assertFalse(count.enter("2001:db8::3"));
  count.leave("192.0.2.7");
  assert(count.enter("192.0.2.7"));
  assertFalse(count.enter("192.0.2.7"));
});

Deno.test("AddressCount of 0 lets everybody in", () => {
  const count = new AddressCount(0);
  for (let i = 0; i < 1000; i++) assert(count.enter("192.0.2.7"));
  for (let i = 0; i < 1000; i++) count.leave("192.0.2.7");
});
