/**
 * Flags that all commands have, and the client they make.
 *
 * @module
 */
import { discoverEndpoints } from "../cluster/endpoints.ts";
import { type Client, newClient } from "../client.ts";
import type { ClientOptions, TlsOptions } from "../endpoints.ts";
import { duration, type Flags, Given, UsageError } from "./arguments.ts";
import { type Format, FORMATS } from "./format.ts";
import type { World } from "./world.ts";

/** Milliseconds a command may take, but for those that wait for something. */
const COMMAND_TIMEOUT = "5s";

const DEFAULT_ENDPOINT = "127.0.0.1:2379";

/** Flags of all commands. */
export const GLOBAL_FLAGS: Flags = {
  "endpoints": { type: "string", about: "members, with commas between them (127.0.0.1:2379)" },
  "discovery-srv": {
    type: "string",
    short: "d",
    about: "domain whose SRV records are the members",
  },
  "discovery-srv-name": { type: "string", about: "name of the cluster among those records" },
  "user": { type: "string", about: "name[:password] to log in with" },
  "password": { type: "string", about: "password, if --user has none" },
  "token": { type: "string", about: "token to send instead of logging in" },
  "cacert": { type: "string", about: "file with authorities to trust, for TLS" },
  "cert": { type: "string", about: "file with the client's certificate" },
  "key": { type: "string", about: "file with its private key" },
  "server-name": { type: "string", about: "name the members' certificates are for" },
  "insecure-transport": {
    type: "boolean",
    about: "without TLS; said by name, also passwords are sent so",
  },
  "command-timeout": { type: "string", about: `time for short commands (${COMMAND_TIMEOUT})` },
  "dial-timeout": { type: "string", about: "time for a connection (2s)" },
  "write-out": { type: "string", short: "w", about: `${FORMATS.join(", ")} (simple)` },
  "hex": { type: "boolean", about: "bytes in hexadecimal digits" },
  "help": { type: "boolean", short: "h", about: "this text" },
};

/** Flags of all commands, those that are not given by the environment: `ETCDCTL_WRITE_OUT`. */
export function withEnvironment(given: Given, world: World): Given {
  const values: Record<string, string | boolean | undefined> = {};
  for (const [name, { type }] of Object.entries(GLOBAL_FLAGS)) {
    if (name === "help") continue;
    const fromEnv = world.env(`ETCDCTL_${name.toUpperCase().replaceAll("-", "_")}`);
    values[name] = type === "string"
      ? given.text(name) ?? (fromEnv || undefined)
      : given.has(name) || fromEnv === "true" || fromEnv === "1";
  }
  return new Given(values);
}

/** The form of output asked for. */
export function formatOf(globals: Given): Format {
  const text = globals.text("write-out") ?? "simple";
  const format = FORMATS.find((one) => one === text);
  if (format !== undefined) return format;
  throw new UsageError(`unsupported output format: use one of ${FORMATS.join(", ")}`, 4);
}

/** Milliseconds a short command may take. */
export function timeoutOf(globals: Given): number {
  return duration("command-timeout", globals.text("command-timeout") ?? COMMAND_TIMEOUT);
}

/** Makes the client. */
export async function connect(globals: Given, world: World): Promise<Client> {
  const endpoints = await endpointsOf(globals);
  const tls = await tlsOf(globals, world);
  const auth = await authOf(globals, world);
  const options: ClientOptions = {
    endpoints,
    connectTimeout: duration("dial-timeout", globals.text("dial-timeout") ?? "2s"),
    ...(tls === undefined ? {} : { tls }),
    ...(auth === undefined ? {} : { auth }),
  };
  try {
    return newClient(options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(
      error.message.replace("auth: { allowPlaintext: true }", "--insecure-transport"),
    );
  }
}

async function endpointsOf(globals: Given): Promise<readonly string[]> {
  const domain = globals.text("discovery-srv");
  if (domain !== undefined && globals.text("endpoints") === undefined) {
    const serviceName = globals.text("discovery-srv-name");
    return await discoverEndpoints(domain, serviceName === undefined ? {} : { serviceName });
  }
  const text = globals.text("endpoints") ?? DEFAULT_ENDPOINT;
  return text.split(",").map((endpoint) => endpoint.trim()).filter((endpoint) => endpoint !== "");
}

async function tlsOf(globals: Given, world: World): Promise<TlsOptions | undefined> {
  const file = async (name: string) => {
    const path = globals.text(name);
    if (path === undefined) return undefined;
    try {
      return await world.read(path);
    } catch (error) {
      throw new UsageError(`--${name}: ${error instanceof Error ? error.message : error}`);
    }
  };
  const [ca, cert, key] = [await file("cacert"), await file("cert"), await file("key")];
  const serverName = globals.text("server-name");
  if ([ca, cert, key, serverName].every((one) => one === undefined)) return undefined;
  return {
    ...(ca === undefined ? {} : { caCerts: [ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

async function authOf(globals: Given, world: World): Promise<ClientOptions["auth"]> {
  const allowPlaintext = globals.has("insecure-transport");
  const token = globals.text("token");
  if (token !== undefined) return { token, allowPlaintext };
  const user = globals.text("user");
  if (user === undefined) return undefined;
  const colon = user.indexOf(":");
  if (colon > 0) {
    return { name: user.slice(0, colon), password: user.slice(colon + 1), allowPlaintext };
  }
  const password = globals.text("password") ?? await askPassword(world);
  return { name: user, password, allowPlaintext };
}

/** A password from the terminal, or the first line of standard input. */
export async function askPassword(world: World, prompt = "Password: "): Promise<string> {
  const password = await world.secret(prompt);
  if (password !== undefined) return password;
  throw new UsageError("no password was given: use --password, or write it to standard input");
}
