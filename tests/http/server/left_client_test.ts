/** Clients that leave while their request is served. */
import { assertEquals } from "@std/assert";
import { http } from "@sluice/sluice";

const encoder = new TextEncoder();

for (
  const [framing, head, parts] of [
    ["length", "content-length: 5", ["ab", "cde"]],
    ["chunks", "transfer-encoding: chunked", ["5\r\nabcde\r\n", "0\r\n\r\n"]],
  ] as const
) {
  for (const early of [false, true]) {
    Deno.test(
      `HTTP/1.1: a client that leaves is noticed when its body was read late, by ${framing}, ${
        early ? "behind" : "before"
      } the head of the answer`,
      async () => {
        const read = Promise.withResolvers<void>();
        const left = Promise.withResolvers<string>();
        await using server = http.listen({
          addr: "127.0.0.1:0",
          limits: { drainTimeout: 200 },
          onError: null,
          async handler(stream) {
            const gone = new Promise<void>((resolve) =>
              stream.signal.addEventListener("abort", () => resolve())
            );
            if (early) await stream.respond(200);
            let body = "";
            for await (const piece of stream) {
              body += new TextDecoder().decode(piece);
              read.resolve();
            }
            await gone;
            left.resolve(body);
          },
        });
        const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
        await conn.write(
          encoder.encode(`POST / HTTP/1.1\r\nhost: a\r\n${head}\r\n\r\n${parts[0]}`),
        );
        await read.promise;
        await conn.write(encoder.encode(parts[1]));
        conn.close();
        assertEquals(await left.promise, "abcde");
      },
    );
  }
}
