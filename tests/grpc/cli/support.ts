/** The command in this process, grpcurl beside it, and servers that echo for both. */
import { create, type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { fromBinary } from "@bufbuild/protobuf";
import { grpc, protoc } from "@sluice/sluice";
import { run } from "../../../grpc/cli/command.ts";
import type { World } from "../../../grpc/cli/world.ts";
import { inPeers, type Need } from "../../../support/peers.ts";
import { Process, run as runProgram, which } from "../../../support/process.ts";

/** Folder of the proto files. */
export const PROTOS: string = new URL("protos", import.meta.url).pathname;
const NAME = "test/all.proto";

const SET_PEERS = "set SLUICE_PEERS to the folder that .ci/run fills";
const grpcurl = Deno.env.get("GRPCURL") ?? inPeers("bin/grpcurl") ?? await which("grpcurl");
/** For `peerTest`. */
export const GRPCURL: Need = ["grpcurl", grpcurl, SET_PEERS];
const goPeer = inPeers("bin/grpc_reflect_peer");
/** For `peerTest`. */
export const GO_PEER: Need = ["grpc_reflect_peer", goPeer, SET_PEERS];

/** What a command did. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a command finds. */
export interface Given {
  readonly stdin?: string | AsyncIterable<string>;
  readonly env?: Readonly<Record<string, string>>;
  readonly interrupted?: AbortSignal;
  readonly onPrint?: (text: string) => void;
  readonly onComplain?: (line: string) => void;
}

/** Runs the command in this process. */
export async function ours(args: readonly string[], given: Given = {}): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  const { stdin = "", env = {}, interrupted = new AbortController().signal } = given;
  const world: World = {
    env: (name) => env[name],
    print: (text) => {
      stdout += text;
      given.onPrint?.(text);
      return Promise.resolve();
    },
    complain: (line) => {
      stderr += `${line}\n`;
      given.onComplain?.(line);
    },
    input: async function* () {
      const encoder = new TextEncoder();
      if (typeof stdin === "string") yield encoder.encode(stdin);
      else for await (const piece of stdin) yield encoder.encode(piece);
    },
    read: (path) => Deno.readFile(path),
    write: (path, content) => Deno.writeFile(path, content),
    load: (path) => import(new URL(path, `file://${Deno.cwd()}/`).href),
    interrupted,
  };
  const code = await run(args, world);
  return { code, stdout, stderr };
}

/** Runs grpcurl. */
export async function theirs(args: readonly string[], stdin = ""): Promise<Ran> {
  const { code, stdout, stderr } = await runProgram({ command: grpcurl!, args: [...args], stdin });
  return { code, stdout, stderr };
}

const loader = new protoc.Loader({ retainOptions: true });
/** The file of the services. */
export const FILE: DescFile = await loader.loadFile(NAME, { roots: [PROTOS] });

/** The file with its imports, as protoc writes them. */
export function descriptorSet(): Uint8Array {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file.proto.name)) return;
    file.dependencies.forEach(add);
    files.set(file.proto.name, file);
  };
  add(FILE);
  const file = [...files.keys()].map((name) =>
    fromBinary(FileDescriptorProtoSchema, loader.bytes(name))
  );
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}

/** A server and its address. */
export interface Server extends AsyncDisposable {
  readonly addr: string;
}

/** The server of grpc-go. */
export async function goServer(tls: readonly string[] = []): Promise<Server> {
  const folder = await Deno.makeTempDir();
  await Deno.writeFile(`${folder}/set.binpb`, descriptorSet());
  const process = new Process({ command: goPeer!, args: [`${folder}/set.binpb`, ...tls] });
  const stop = async () => {
    await process.stop();
    await Deno.remove(folder, { recursive: true });
  };
  try {
    const [, port] = await process.waitFor(/^port=(\d+)$/m);
    return { addr: `127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Ends a call as its metadata asks, with the metadata that they bring along. */
function end({ requestHeader, responseHeader, responseTrailer }: grpc.CallContext): void {
  for (const name of ["x-header", "x-header-bin"]) {
    const value = requestHeader.get(name);
    if (value !== null) responseHeader.set(name, value);
  }
  for (const name of ["x-trailer", "x-trailer-bin"]) {
    const value = requestHeader.get(name);
    if (value !== null) responseTrailer.set(name, value);
  }
  const code = requestHeader.get("x-code");
  if (code === null) return;
  throw new grpc.ConnectError(`as asked: <${code}>`, Number(code), responseTrailer);
}

/** The same server of this library. */
export function ownServer(options: Partial<grpc.ServerOptions> = {}): grpc.GrpcServer {
  const registrar = new grpc.Registrar();
  grpc.reflection(registrar);
  // deno-lint-ignore no-explicit-any
  type Any = any;
  const unary = (request: Any, context: grpc.CallContext) => {
    end(context);
    return request;
  };
  registrar.register(FILE.services[0]!, {
    Unary: unary,
    Old: unary,
    Nothing: unary,
    Time: unary,
    async *Down(request: Any, context: grpc.CallContext) {
      for (let i = 0; i < 3; i++) yield await Promise.resolve(request);
      end(context);
    },
    async Up(requests: AsyncIterable<Any>, context: grpc.CallContext) {
      let last = {};
      for await (const request of requests) last = request;
      end(context);
      return last;
    },
    async *Both(requests: AsyncIterable<Any>, context: grpc.CallContext) {
      for await (const request of requests) yield request;
      end(context);
    },
  } as grpc.Handlers as never);
  return grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200, ...options });
}
