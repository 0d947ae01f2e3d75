/**
 * The programs that speak Echo with other implementations of gRPC: how they are started, and what
 * they need.
 *
 * @module
 */
import { inPeers, type Need } from "../../support/peers.ts";
import { Process, type ProcessOptions, run, which } from "../../support/process.ts";

/** What a program does: Echo as server or client, or a server that fails as a request's script says. */
type Role = "server" | "client" | "scripted";

/** An implementation of gRPC that is not ours. */
export interface Foreign {
  /** Its name, for test names. */
  readonly name: string;
  /** What has to be installed. */
  readonly needs: readonly Need[];
  /** The program and its arguments up to the role. */
  command(role: Role): ProcessOptions;
}

const here = new URL("peers/", import.meta.url).pathname;

const SET_PEERS = "set SLUICE_PEERS to the folder that .ci/run fills";

const node: Need = ["node", await which("node"), "put Node on PATH"];

function fileOf(role: Role): string {
  return role === "scripted" ? "scripted_server" : `echo_${role}`;
}

/** grpc-js on Node. */
export const grpcJs: Foreign = {
  name: "grpc-js",
  needs: [node, ["@grpc/grpc-js", inPeers("node_modules/@grpc/grpc-js"), SET_PEERS]],
  command: (role) => ({ command: "node", args: [`${here}grpc_js/${fileOf(role)}.mjs`] }),
};

/** The Python that has gRPC's C-core, or undefined. Debian's own comes first: apt installs for it. */
async function pythonWithGrpc(): Promise<string | undefined> {
  for (const command of [Deno.env.get("SLUICE_PYTHON"), "/usr/bin/python3", "python3"]) {
    if (command === undefined) continue;
    // -I: a folder `grpc` in the working directory is not the package.
    const result = await run({ command, args: ["-I", "-c", "import grpc"] }).catch((error) => {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    });
    if (result?.code === 0) return command;
  }
}

const python = await pythonWithGrpc();

/** gRPC's C-core, by way of Python. */
export const grpcCore: Foreign = {
  name: "C-core",
  needs: [["Python with grpcio", python, "install python3-grpcio, or set SLUICE_PYTHON"]],
  command: (role) => ({
    command: python!,
    args: [`${here}python/${fileOf(role)}.py`],
    env: { PYTHONDONTWRITEBYTECODE: "1" },
  }),
};

const goPeer = inPeers("bin/grpc_go_peer");

/** grpc-go. */
export const grpcGo: Foreign = {
  name: "grpc-go",
  needs: [["grpc_go_peer", goPeer, SET_PEERS]],
  command: (role) => ({ command: goPeer!, args: [role] }),
};

/** All of them. */
export const FOREIGN: readonly Foreign[] = [grpcJs, grpcCore, grpcGo];

/** A foreign server of Echo, running. */
export interface ForeignServer extends AsyncDisposable {
  /** `127.0.0.1:port`. */
  readonly addr: string;
  /** Its process. */
  readonly process: Process;
}

/** Starts a server of an implementation, with TLS if files are given. */
export async function startServer(
  foreign: Foreign,
  tls?: { readonly certFile: string; readonly keyFile: string },
  role: "server" | "scripted" = "server",
): Promise<ForeignServer> {
  const base = foreign.command(role);
  const files = tls === undefined ? [] : [tls.certFile, tls.keyFile];
  const process = new Process({ ...base, args: [...base.args ?? [], ...files] });
  try {
    const [, port] = await process.waitFor(/^port=(\d+)$/m);
    return {
      addr: `127.0.0.1:${port}`,
      process,
      [Symbol.asyncDispose]: () => process.stop(),
    };
  } catch (error) {
    await process.stop();
    throw error;
  }
}

/** What a client said of one check. */
export interface ClientResult {
  /** Name of the check. */
  readonly name: string;
  /** Whether it passed. */
  readonly ok: boolean;
  /** If not, why. */
  readonly detail: string;
}

/** Milliseconds the client of an implementation has for all of its checks. */
const CLIENT_TIMEOUT = 60_000;

/** Runs the client of an implementation against a server and returns what it said. */
export async function runClient(
  foreign: Foreign,
  addr: string,
  caFile?: string,
): Promise<ClientResult[]> {
  const base = foreign.command("client");
  const args = [...base.args ?? [], addr, ...(caFile === undefined ? [] : [caFile])];
  const { code, stdout, stderr } = await run({ ...base, args }, CLIENT_TIMEOUT);
  if (code !== 0) throw new Error(`The client of ${foreign.name} failed: ${stderr}`);
  return JSON.parse(stdout);
}
