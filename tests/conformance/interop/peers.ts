/** Foreign implementations of gRPC's interoperability programs, and how each is started. */
import { inPeers } from "../../../support/peers.ts";
import { type ProcessOptions, which } from "../../../support/process.ts";
import { CASES, COMPRESSION_CASES } from "../../interop/test_service.ts";

/** Files of certificates for a run over TLS. */
export interface Tls {
  /** Path of the authority's certificate. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Name in the certificates that calls are made to. */
export const SERVER_NAME = "foo.test.google.fr";

/** How messages are compressed. */
export type Encoding = "gzip" | "deflate" | "zstd";

/** Names of cases in which all of a large call is compressed. */
const inEach = (...encodings: Encoding[]) => encodings.map((encoding) => `large_unary_${encoding}`);

/** The encoding in the name of such a case. */
export function encodingOf(name: string): Encoding | null {
  return (name.match(/^large_unary_(.+)$/)?.[1] as Encoding | undefined) ?? null;
}

/** An implementation. */
export interface Peer {
  readonly name: string;
  /** Certificates that it insists on; without, any do. */
  readonly tls?: Tls;
  /** Its client's cases against a server, by name; "all" runs all that it knows, and prints a line for each. */
  readonly client: {
    readonly cases: readonly string[] | "all";
    command(port: number, tls: Tls | null, testCase: string): ProcessOptions;
  };
  /** Its server, and the names of our cases that it can take. */
  readonly server: {
    readonly cases: readonly string[];
    command(port: number, tls: Tls | null): ProcessOptions;
  } | null;
}

const USUAL = Object.keys(CASES);

/** What grpc-java's client can run without Google's cloud, cacheable requests (GET) and ORCA. */
const OF_JAVA = [
  ...USUAL,
  ...Object.keys(COMPRESSION_CASES),
  "client_compressed_unary_noprobe",
  "client_compressed_streaming_noprobe",
  "very_large_request",
  "pick_first_unary",
  "channel_soak",
];

/** A peer that is not there: what it needs, and whether that is a fault. */
export interface Missing {
  readonly what: string;
  readonly fault: boolean;
}

/** Implementations that are there, and those that are not. */
export async function peers(descriptors: string): Promise<{ found: Peer[]; missing: Missing[] }> {
  const found: Peer[] = [];
  const missing: Missing[] = [];
  const [java, certs] = [inPeers("interop/java"), inPeers("interop/certs")];
  if (java !== undefined && certs !== undefined && await which("java") !== undefined) {
    found.push(grpcJava(java, certs, "Netty"), grpcJava(java, certs, "OkHttp"));
  } else missing.push({ what: "grpc-java: run fetch.sh with java and mvn on PATH", fault: true });
  const python = Deno.env.get("SLUICE_PYTHON");
  if (python !== undefined) found.push(core(python, descriptors));
  else missing.push({ what: "C-core: set SLUICE_PYTHON", fault: true });
  const tonic = inPeers("interop/tonic/debug/tonic_peer");
  if (tonic !== undefined) found.push(tonicPeer(tonic));
  else {missing.push({
      what: "tonic: run fetch.sh with cargo on PATH",
      fault: await which("cargo") !== undefined,
    });}
  return { found, missing };
}

/**
 * grpc-java's own programs. The server does not look at how requests come, and compresses no stream. They
 * trust and show the certificates of gRPC's tests alone.
 */
function grpcJava(lib: string, certs: string, transport: "Netty" | "OkHttp"): Peer {
  const java = (program: string, ...args: string[]): ProcessOptions => ({
    command: "java",
    // Programs this short are done before better code would be.
    args: [
      "-XX:TieredStopAtLevel=1",
      "-cp",
      `${lib}/*`,
      `io.grpc.testing.integration.${program}`,
      ...args,
    ],
  });
  return {
    name: `grpc-java (${transport})`,
    tls: {
      caFile: `${certs}/ca.pem`,
      certFile: `${certs}/server1.pem`,
      keyFile: `${certs}/server1.key`,
    },
    client: {
      cases: OF_JAVA,
      command: (port, tls, testCase) =>
        java(
          "TestServiceClient",
          "--server_host=127.0.0.1",
          `--server_port=${port}`,
          `--test_case=${testCase}`,
          `--use_okhttp=${transport === "OkHttp"}`,
          `--use_tls=${tls !== null}`,
          ...(tls === null ? [] : ["--use_test_ca=true", `--server_host_override=${SERVER_NAME}`]),
        ),
    },
    server: transport === "OkHttp" ? null : {
      cases: [...USUAL, "server_compressed_unary", ...inEach("gzip")],
      command: (port, tls) =>
        java("TestServiceServer", `--port=${port}`, `--use_tls=${tls !== null}`),
    },
  };
}

/** Arguments of the programs in this folder. */
const serve = (port: number, tls: Tls | null): string[] => [
  "server",
  `127.0.0.1:${port}`,
  ...(tls === null ? [] : [tls.certFile, tls.keyFile]),
];
const call = (port: number, tls: Tls | null): string[] => [
  "client",
  `127.0.0.1:${port}`,
  ...(tls === null ? [] : [tls.caFile, SERVER_NAME]),
];

/** C-core by grpcio: its handlers do not see whether a message came compressed. */
function core(python: string, descriptors: string): Peer {
  const script = new URL("python/peer.py", import.meta.url).pathname;
  const peer = (args: string[]) => ({ command: python, args: [script, descriptors, ...args] });
  return {
    name: "C-core (grpcio)",
    client: { cases: "all", command: (port, tls) => peer(call(port, tls)) },
    server: {
      cases: [
        ...USUAL,
        "server_compressed_unary",
        "server_compressed_streaming",
        ...inEach("gzip", "deflate"),
      ],
      command: (port, tls) => peer(serve(port, tls)),
    },
  };
}

/** tonic, which compresses all messages of a stream or none. */
function tonicPeer(command: string): Peer {
  return {
    name: "tonic",
    client: { cases: "all", command: (port, tls) => ({ command, args: call(port, tls) }) },
    server: {
      cases: [...USUAL, "server_compressed_unary", ...inEach("gzip", "deflate", "zstd")],
      command: (port, tls) => ({ command, args: serve(port, tls) }),
    },
  };
}
