// deno run --allow-net examples/http_server.ts
// deno-lint-ignore-file no-console
/**
 * A server on HTTP/1.1 and HTTP/2, one port, no TLS.
 */
import { listen } from "@sluice/sluice/http";

const server = listen({
  addr: Deno.args[0] ?? "127.0.0.1:8080",
  handler: async (stream) => {
    console.log(stream.remoteAddr, stream.version, stream.method, stream.path);
    if (stream.method === "POST") {
      const body = await stream.readAll();
      await stream.respond(200, { "content-type": "text/plain" });
      stream.closeWrite(body.toUpperCase());
      return;
    }
    await stream.respond(200, { "content-type": "text/plain" });
    stream.closeWrite(`Hello ${stream.query["name"] ?? "stranger"}\n`);
  },
  limits: { maxBodyBytes: 1 << 20 },
  onError: (error) => console.error("handler failed:", error),
});

console.log(`http://${server.addr}/?name=Deno`);
Deno.addSignalListener("SIGINT", () => server.close().then(() => Deno.exit()));
