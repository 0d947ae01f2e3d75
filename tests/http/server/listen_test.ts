import { assertEquals, assertThrows } from "@std/assert";
import { listen, newClient } from "../../../http/mod.ts";
import { answer } from "../contract.ts";
import { testCertificate } from "../../../support/transports.ts";

Deno.test("listen() chooses the certificate by the server name and replaces it", async () => {
  const one = await testCertificate();
  await using server = listen({
    addr: "127.0.0.1:0",
    tls: true,
    certs: [one],
    handler: answer(200, "ok"),
  });
  await using client = newClient({ caCerts: [one.ca], serverName: "localhost" });
  assertEquals((await client.get(`https://${server.addr}`)).body, "ok");
  server.setCerts([one]);
  await client.close();
  await using again = newClient({ caCerts: [one.ca], serverName: "localhost" });
  assertEquals((await again.get(`https://${server.addr}`)).body, "ok");
});

Deno.test("listen() with certs and without tls serves plain HTTP", async () => {
  const files = await testCertificate();
  await using server = listen({ addr: "127.0.0.1:0", certs: [files], handler: answer(200, "ok") });
  await using client = newClient();
  assertEquals((await client.get(`http://${server.addr}`)).body, "ok");
});

Deno.test("listen() refuses a configuration it cannot keep", () => {
  const handler = answer(200, "");
  const refused = (conf: unknown) => assertThrows(() => listen(conf as never), TypeError).message;
  refused({ addr: "127.0.0.1:0" });
  refused({ addr: "127.0.0.1:0", handler: 1 });
  refused({ addr: "127.0.0.1", handler });
  refused({ addr: "127.0.0.1:0", handler, tls: true });
  refused({ addr: "127.0.0.1:0", handler, alpnProtos: ["h3"] });
  refused({ addr: "127.0.0.1:0", handler, limits: { maxBodyBytes: -1 } });
  refused({ addr: "127.0.0.1:0", handler, limits: { nonsense: 1 } });
  refused({ addr: "127.0.0.1:0", handler, engine: "other" });
});

Deno.test("listen() throws when the port is in use", async () => {
  await using server = listen({ addr: "127.0.0.1:0", handler: answer(200, "") });
  assertThrows(() => listen({ addr: server.addr, handler: answer(200, "") }));
});
