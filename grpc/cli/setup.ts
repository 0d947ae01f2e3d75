/**
 * A server, and the descriptors of what it serves, as the flags say.
 *
 * @module
 */
import { reflectSettings } from "../reflect/options.ts";
import { ServerSchema } from "../reflect/server_schema.ts";
import { connect, CONNECT_FLAGS, type Dialled } from "./connect.ts";
import { type Flags, type Given, UsageError } from "./arguments.ts";
import { metadataOf } from "./headers.ts";
import { BothSchemas, type FileSchema, filesOf, type Schema, ServedSchema } from "./schema.ts";
import type { World } from "./world.ts";

/** Flags of descriptors. */
const SOURCE_FLAGS: Flags = {
  proto: { type: "list", value: "FILE", words: "files", about: "proto file with the services" },
  "import-path": {
    type: "list",
    value: "FOLDER",
    words: "folders",
    about: "folder that imports are relative to (.)",
  },
  protoset: { type: "list", value: "FILE", words: "files", about: "set of descriptors of protoc" },
  "use-reflection": {
    type: "boolean",
    about: "asks the server for descriptors, besides those of files",
  },
};

/** Flags of whatever talks to a server. */
export const SERVER_FLAGS: Flags = {
  ...CONNECT_FLAGS,
  ...SOURCE_FLAGS,
  H: { type: "list", value: "HEADER", about: "'name: value' to send, to reflection too" },
  "reflect-header": { type: "list", value: "HEADER", about: "to send to reflection alone" },
  "expand-headers": {
    type: "boolean",
    about: "replaces ${NAME} in headers by variables of the environment",
  },
  "max-time": { type: "string", value: "SECONDS", about: "time for all of it" },
};

/** See the module. */
export interface Setup extends AsyncDisposable {
  readonly source: Schema;
  /** Connects, if that was not done for the descriptors. */
  connected(): Promise<Dialled>;
  /** Says why there was never a connection, if that is why something failed. */
  dialFault(error: unknown): Error | null;
}

/** Reads the descriptors of files, or connects and asks the server. */
export async function setUp(
  target: string | undefined,
  given: Given,
  world: World,
  timeLeft: () => number,
): Promise<Setup> {
  const files = await filesOf(given, world);
  const reflects = given.said("use-reflection") ? given.has("use-reflection") : files === null;
  if (!reflects && files === null) {
    throw new UsageError("give -proto or -protoset files if -use-reflection is false");
  }
  if (target === undefined && reflects) {
    throw new UsageError("an address is missing: give host:port, -proto FILE or -protoset FILE");
  }
  let connection: Dialled | null = null;
  const connected = async (): Promise<Dialled> => {
    return connection ??= await connect(target!, given, world);
  };
  const source = sourceOf(reflects ? await connected() : null, files, given, world, timeLeft);
  return {
    source,
    connected,
    dialFault: (error) => connection?.dialFault(error) ?? null,
    [Symbol.asyncDispose]: async () => await connection?.[Symbol.asyncDispose](),
  };
}

function sourceOf(
  connected: Dialled | null,
  files: FileSchema | null,
  given: Given,
  world: World,
  timeLeft: () => number,
): Schema {
  if (connected === null) return files!;
  const settings = reflectSettings({
    headers: metadataOf(["H", "reflect-header"], given, world),
    timeout: timeLeft(),
  });
  const server = new ServedSchema(new ServerSchema(connected.conn, settings));
  return files === null ? server : new BothSchemas(server, files);
}
