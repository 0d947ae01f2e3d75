/** The ways a client reaches a server here: two versions, with and without TLS, by either engine. */
import { newClientAt } from "../http/client/client.ts";
import type { Client, ClientOptions, Handler, HttpServer, ServerOptions } from "../http/mod.ts";
import { listenAt } from "../http/server/listen.ts";
import { listenDeno } from "../http/server/serve_deno.ts";
import { SYSTEM_TIME } from "../http/time/time.ts";
import { type CertificateFiles, makeCertificate } from "./certificate.ts";
import type { FakeClock } from "./fake_clock.ts";

/** A way to reach a server. */
export interface Transport {
  readonly name: string;
  readonly version: "HTTP/1.1" | "HTTP/2";
  readonly tls: boolean;
  /** The side that runs on the platform's own primitives, if one does. */
  readonly platform?: "server" | "client";
}

/** Those of this module's engine. */
export const TRANSPORTS: readonly Transport[] = [
  { name: "HTTP/1.1", version: "HTTP/1.1", tls: false },
  { name: "HTTP/2", version: "HTTP/2", tls: false },
  { name: "HTTP/1.1 over TLS", version: "HTTP/1.1", tls: true },
  { name: "HTTP/2 over TLS", version: "HTTP/2", tls: true },
];

/** The same, with the server on `Deno.serve`. */
export const PLATFORM_SERVERS: readonly Transport[] = TRANSPORTS.map((transport) => ({
  ...transport,
  name: `${transport.name}, server on Deno.serve`,
  platform: "server",
}));

/** The same, with the client on `Deno.connect`, `Deno.startTls` and `Deno.connectTls`. */
export const PLATFORM_CLIENTS: readonly Transport[] = TRANSPORTS.map((transport) => ({
  ...transport,
  name: `${transport.name}, client on Deno.connect`,
  platform: "client",
}));

let certificate: Promise<CertificateFiles> | undefined;

/** A certificate for localhost and 127.0.0.1, made once. */
export function testCertificate(): Promise<CertificateFiles> {
  return certificate ??= makeCertificate().then(async (files) => {
    // What tests need is in memory.
    await files[Symbol.asyncDispose]();
    return files;
  });
}

/** A server and a client that reaches it. */
export interface Pair extends AsyncDisposable {
  readonly server: HttpServer;
  readonly client: Client;
  readonly url: string;
}

/** Starts a server with `handler` and makes a client for it; both go by `clock`, if it is given. */
export async function pair(
  transport: Transport,
  handler: Handler,
  options: Partial<ServerOptions> = {},
  clientOptions: ClientOptions = {},
  clock: FakeClock | null = null,
): Promise<Pair> {
  const time = clock?.time ?? SYSTEM_TIME;
  const files = transport.tls ? await testCertificate() : undefined;
  const serverOptions: ServerOptions = {
    addr: "127.0.0.1:0",
    handler,
    ...(files === undefined ? {} : { tls: true, certs: [files] }),
    ...options,
  };
  const server = transport.platform === "server"
    ? listenDeno(serverOptions, time) as HttpServer
    : listenAt(time, serverOptions);
  const client = newClientAt(time, {
    alpnProtos: [transport.version === "HTTP/2" ? "h2" : "http/1.1"],
    ...(files === undefined ? {} : { caCerts: [files.ca] }),
    ...(transport.platform === "client" ? { engine: "deno" } : {}),
    ...clientOptions,
  });
  return {
    server,
    client,
    url: `${transport.tls ? "https" : "http"}://${server.addr}`,
    async [Symbol.asyncDispose]() {
      const closing = client.close().then(() => server.close());
      if (clock === null) await closing;
      else await clock.until(closing);
    },
  };
}
