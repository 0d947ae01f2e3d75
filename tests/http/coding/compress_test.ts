import { assert, assertEquals } from "@std/assert";
import { chooseCoding } from "../../../http/coding/compress.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";

Deno.test("chooseCoding() takes what the client prefers, and br, zstd, gzip in a tie", () => {
  for (
    const [accept, coding] of [
      [undefined, null],
      ["", null],
      ["identity", null],
      ["gzip", "gzip"],
      ["x-gzip", "gzip"],
      ["ZSTD", "zstd"],
      ["gzip, deflate, br, zstd", "br"],
      ["gzip, zstd", "zstd"],
      ["*", "br"],
      ["br;q=0, *", "zstd"],
      ["gzip;q=1.0, br;q=0.9, zstd;q=0.8", "gzip"],
      ["gzip;q=0.001", "gzip"],
      ["gzip;q=0", null],
      ["gzip;q=0.000, zstd;Q=0.5", "zstd"],
      // Weights that are none count as 0.
      ["gzip;q=2, zstd;q=abc, br;q=-1", null],
      ["gzip;q=0.1234", null],
      // Who prefers no coding gets none; at equal weight a coding is as good.
      ["identity, gzip;q=0.5", null],
      ["identity;q=0.5, gzip;q=0.5", "gzip"],
      ["identity;q=0, *;q=0", null],
      ["deflate, compress", null],
      ["__proto__, constructor", null],
    ] as const
  ) {
    assertEquals(chooseCoding(accept), coding, accept);
  }
});

for (const transport of TRANSPORTS) {
  Deno.test(`HEAD has the fields of GET when responses are compressed (${transport.name})`, async () => {
    const body = "compress me ".repeat(500);
    await using p = await pair(transport, async (stream) => {
      const type = { "content-type": "text/plain", etag: '"1"' };
      if (stream.path === "/response") return new Response(body, { headers: type });
      if (stream.path === "/304") {
        await stream.respond(304, { etag: '"1"' });
        return stream.closeWrite();
      }
      const long = { ...type, "content-length": body.length };
      if (stream.path === "/declared") {
        await stream.respond(200, long);
        return stream.closeWrite(stream.method === "HEAD" ? null : body);
      }
      await stream.respond(200, stream.path === "/length" ? long : type);
      stream.closeWrite(stream.path === "/short" ? "short" : body);
    }, { compress: true });
    for (
      const accept of ["gzip", "br", "zstd", "gzip, br, zstd", "identity", "gzip;q=0, *;q=0.1"]
    ) {
      for (const path of ["/", "/length", "/short", "/response", "/304"]) {
        const headers = { "accept-encoding": accept };
        const get = await p.client.get(p.url + path, headers, { decompress: false });
        const head = await p.client.head(p.url + path, headers, { decompress: false });
        const where = `${path} ${accept}`;
        assertEquals({ ...head.header, date: "" }, { ...get.header, date: "" }, where);
        assertEquals(head.bytes.length, 0);
        assertEquals(get.header["vary"], path === "/short" ? undefined : "accept-encoding", where);
        if (path !== "/304") {
          assertEquals(get.header["content-length"], String(get.bytes.length), where);
        }
      }
      // Without the body only its coding is known.
      const declared = await p.client.head(`${p.url}/declared`, { "accept-encoding": accept });
      const coding = chooseCoding(accept);
      assertEquals(declared.header["content-encoding"], coding ?? undefined);
      assertEquals(
        declared.header["content-length"],
        coding === null ? String(body.length) : undefined,
      );
      const decoded = await p.client.get(p.url, { "accept-encoding": accept });
      assertEquals(decoded.body, body);
      assert(coding === null || Number(decoded.header["content-length"]) < 1000);
    }
  });
}
