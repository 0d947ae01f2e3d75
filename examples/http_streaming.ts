// deno run --allow-net examples/http_streaming.ts
// deno-lint-ignore-file no-console
/**
 * Bodies piece by piece, both ways: server-sent events, and an upload that is read as it comes.
 */
import { listen, newClient } from "@sluice/sluice/http";

await using server = listen({
  addr: "127.0.0.1:0",
  handler: async (stream) => {
    if (stream.path === "/events") {
      await stream.respond(200, { "content-type": "text/event-stream" });
      for (let i = 1; i <= 3 && !stream.signal.aborted; i++) {
        await stream.write(`data: ${i}\n\n`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      stream.closeWrite();
      return;
    }
    let length = 0;
    for await (const piece of stream) length += piece.length;
    await stream.respond(200);
    stream.closeWrite(`${length} octets\n`, { "x-checked": "yes" });
  },
});
const url = `http://${server.addr}`;
await using client = newClient({ alpnProtos: ["h2"] });

for await (const piece of await client.send("GET", `${url}/events`)) {
  console.log(new TextDecoder().decode(piece).trim());
}

async function* numbers(): AsyncGenerator<string> {
  for (let i = 0; i < 1000; i++) yield `${i}\n`;
}
const response = await client.post(url, null, numbers());
console.log(response.body.trim(), response.trailers["x-checked"]);
