// deno run --allow-net --allow-read examples/http_tls.ts a.pem a.key b.pem b.key
// deno-lint-ignore-file no-console
/**
 * TLS with two names on one port: the client's server name chooses the certificate, and new ones
 * replace them without a restart.
 */
import { listen } from "@sluice/sluice/http";

function certificates(): { cert: string; key: string }[] {
  const certs = [];
  for (let i = 0; i + 1 < Deno.args.length; i += 2) {
    certs.push({
      cert: Deno.readTextFileSync(Deno.args[i]!),
      key: Deno.readTextFileSync(Deno.args[i + 1]!),
    });
  }
  return certs;
}

const server = listen({
  addr: ":8443",
  tls: true,
  certs: certificates(),
  alpnProtos: ["h2", "http/1.1"],
  handler: async (stream) => {
    await stream.respond(200, { "content-type": "text/plain" });
    stream.closeWrite(`${stream.authority} by ${stream.version}\n`);
  },
});
console.log(`https://localhost:${server.port}/`);

Deno.addSignalListener("SIGHUP", () => {
  server.setCerts(certificates());
  console.log("certificates replaced");
});
Deno.addSignalListener("SIGINT", () => server.close().then(() => Deno.exit()));
