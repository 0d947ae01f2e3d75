/** Our client by gRPC-Web and Connect: to our server, to connect-node's, and through foreign proxies. */
import { toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Buffer } from "node:buffer";
import { grpc, http } from "@sluice/sluice";
import { Http1Proxy } from "../../support/http1_proxy.ts";
import { inPeers, type Need, peerTest } from "../../support/peers.ts";
import { freePort } from "../../support/ports.ts";
import { Process, which } from "../../support/process.ts";
import { echoFile, EchoService } from "./echo.ts";
import { FULL_DUPLEX, runChecks } from "./echo_checks.ts";

const WAYS: readonly Partial<grpc.ClientOptions>[] = [
  { protocol: "grpc-web" },
  { protocol: "grpc-web", format: "text" },
  { protocol: "connect" },
  { protocol: "connect", format: "json", compress: true },
];
const VERSIONS = ["1.1", "2"] as const;

/** JSON has more bytes than the message it stands for, and takes its time where they are many. */
const NOT_IN_JSON = [
  "unary_largest",
  "request_too_large",
  "response_too_large",
  "slow_reader_beside_others",
  "server_stream_large",
  "client_stream_large",
];
/** One of each protocol. */
const BINARY = WAYS.filter(({ format }) => format === undefined);

function nameOf({ protocol, format = "binary" }: Partial<grpc.ClientOptions>): string {
  return `${protocol} in ${format}`;
}

/** Checks that are not for a way over a version. */
function without(way: Partial<grpc.ClientOptions>, httpVersion: string): string[] {
  return [
    ...(httpVersion === "1.1" ? FULL_DUPLEX : []),
    ...(way.format === "json" ? NOT_IN_JSON : []),
  ];
}

function listen(service: EchoService): http.HttpServer {
  return http.listen({
    addr: "127.0.0.1:0",
    // Streams may be longer than most bodies.
    limits: { maxBodyBytes: 0 },
    registrar: grpc.mount({ registrar: service.registrar(), compress: true }),
  });
}

for (const way of WAYS) {
  for (const httpVersion of VERSIONS) {
    Deno.test(`our server by ${nameOf(way)} over HTTP/${httpVersion}: our client passes all checks`, async (t) => {
      const service = new EchoService();
      await using server = listen(service);
      const target = `http://127.0.0.1:${server.port}`;
      await runChecks(t, { target, httpVersion, ...way }, without(way, httpVersion));
      await service.idle();
    });
  }
}

for (const way of BINARY) {
  Deno.test(`behind a proxy of HTTP/1.1 without trailers, by ${nameOf(way)}: our client passes all checks`, async (t) => {
    const service = new EchoService();
    await using server = listen(service);
    await using proxy = await Http1Proxy.start(server.port);
    const target = `http://127.0.0.1:${proxy.port}`;
    await runChecks(t, { target, ...way }, without(way, "1.1"));
    await service.idle();
  });
}

const NGINX: Need = ["nginx", await which("nginx"), "install nginx-light"];

/** nginx in front of a server, under a prefix; upstream it speaks HTTP/1.1. */
async function nginx(port: number): Promise<{ url: string } & AsyncDisposable> {
  const folder = await Deno.makeTempDir();
  const own = freePort();
  await Deno.writeTextFile(
    `${folder}/nginx.conf`,
    `daemon off; pid ${folder}/pid; worker_processes 1;
     error_log stderr notice;
     events { worker_connections 1024; }
     http {
       access_log off;
       ${
      ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")
    }
       client_max_body_size 64m;
       server {
         listen 127.0.0.1:${own};
         location /api/ {
           proxy_pass http://127.0.0.1:${port}/;
           proxy_http_version 1.1;
           proxy_set_header Connection "";
           proxy_buffering off;
           proxy_request_buffering off;
         }
       }
     }`,
  );
  const process = new Process({
    command: NGINX[1]!,
    args: ["-c", `${folder}/nginx.conf`, "-p", folder, "-e", "stderr"],
  });
  const stop = async (): Promise<void> => {
    await process.stop();
    await Deno.remove(folder, { recursive: true });
  };
  try {
    await process.waitFor(/start worker process/);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${own}/api`, [Symbol.asyncDispose]: stop };
}

/**
 * What is answered before the request is there: whether nginx passes the answer on, or tells of a request
 * it could not send, is a race of its own.
 */
const NOT_NGINX = ["request_too_large"];

for (const way of BINARY) {
  peerTest(
    `behind nginx, by ${nameOf(way)}: our client passes all checks`,
    { needs: [NGINX] },
    async (t) => {
      const service = new EchoService();
      await using server = listen(service);
      await using proxy = await nginx(server.port);
      await runChecks(t, { target: proxy.url, ...way }, [...without(way, "1.1"), ...NOT_NGINX]);
      await service.idle();
    },
  );
}

const CONNECT_NODE: readonly Need[] = [
  ["node", await which("node"), "put Node on PATH"],
  [
    "@connectrpc/connect-node",
    inPeers("node_modules/@connectrpc/connect-node"),
    "set SLUICE_PEERS to the folder that .ci/run fills",
  ],
];

/** It has no way to send its head first. */
const NOT_CONNECT_NODE = ["header_first"];
/**
 * Over HTTP/1.1 it answers calls that stream both ways with 505, and cuts connections whose requests
 * are too large, with what it has answered.
 */
const NOT_CONNECT_NODE_1 = ["bidi_empty", "metadata", "request_too_large"];

for (const way of WAYS) {
  // It does not know gRPC-Web in text.
  if (way.format === "text") continue;
  for (const httpVersion of VERSIONS) {
    peerTest(
      `connect-node by ${nameOf(way)} over HTTP/${httpVersion}: our client passes all checks`,
      {
        needs: CONNECT_NODE,
      },
      async (t) => {
        const descriptor = Buffer.from(toBinary(FileDescriptorProtoSchema, echoFile.proto))
          .toString("base64");
        const program = new URL("peers/connect_node/server.mjs", import.meta.url).pathname;
        await using server = new Process({
          command: "node",
          args: [program, httpVersion, descriptor],
        });
        const [, port] = await server.waitFor(/^port=(\d+)$/m);
        await runChecks(
          t,
          { target: `http://127.0.0.1:${port}`, httpVersion, ...way },
          [
            ...without(way, httpVersion),
            ...NOT_CONNECT_NODE,
            ...(httpVersion === "1.1" ? NOT_CONNECT_NODE_1 : []),
          ],
        );
      },
    );
  }
}
