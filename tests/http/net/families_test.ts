import { assertEquals, assertRejects } from "@std/assert";
import { listen, newClient } from "../../../http/mod.ts";

/** Whether this machine has IPv6 at all. */
const IPV6 = (() => {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    return false;
  }
})();

Deno.test("an address without a host is every IPv4 interface, and no other", async () => {
  await using server = listen({ addr: ":0", handler: (stream) => new Response(stream.remoteAddr) });
  assertEquals(server.addr, `0.0.0.0:${server.port}`);
  await using client = newClient();
  const { body } = await client.get(`http://127.0.0.1:${server.port}/`);
  assertEquals(body.replace(/:\d+$/, ""), "127.0.0.1");
  await assertRejects(() => client.get(`http://[::1]:${server.port}/`));
});

Deno.test({
  name: "[::] is every interface of both families",
  ignore: !IPV6,
  fn: async () => {
    for (const engine of ["own", "deno"] as const) {
      await using server = listen({
        addr: "[::]:0",
        engine,
        handler: (stream) => new Response(stream.remoteAddr),
      });
      assertEquals(server.addr, `[::]:${server.port}`);
      await using client = newClient();
      for (const host of ["127.0.0.1", "[::1]"]) {
        const { body } = await client.get(`http://${host}:${server.port}/`);
        assertEquals(body.replace(/:\d+$/, ""), host);
      }
    }
  },
});
