// The command: a store until it is told to end.

// deno-lint-ignore-file no-console
import { listen, VERSION } from "../listen.ts";
import type { StoreOptions } from "../options.ts";
import { parseArguments, type TlsFiles, USAGE, UsageError } from "./arguments.ts";

/** Options of TLS for `listen`. */
function tlsOptions({ cert, key, clientCa, requireClientCert }: TlsFiles): StoreOptions {
  const read = (path: string): string => Deno.readTextFileSync(path);
  return {
    tls: true,
    certs: [{ cert: read(cert), key: read(key) }],
    ...(clientCa === undefined ? {} : { clientCa: read(clientCa) }),
    requireClientCert,
  };
}

/** Runs the command. */
export async function main(args: readonly string[] = Deno.args): Promise<void> {
  let parsed;
  try {
    parsed = parseArguments(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nTry --help.`);
    Deno.exit(2);
  }
  if (parsed.help) return console.log(USAGE);
  if (parsed.version) return console.log(`etcd Version: ${VERSION}\nStore: sluice`);
  const { addr, name, path, history, cors, limits } = parsed;
  const tls = parsed.tls === undefined ? {} : tlsOptions(parsed.tls);
  const failed = Promise.withResolvers<unknown>();
  const store = listen({
    addr,
    name,
    cors,
    ...tls,
    ...(path === undefined ? {} : { path }),
    ...(history === undefined ? {} : { history }),
    limits,
    onFailed: (error) => {
      console.error(`The store cannot be written any more: ${error}`);
      failed.resolve(error);
    },
  });
  const where = path === undefined ? "in memory" : `in ${path}`;
  const traffic = parsed.tls === undefined ? "insecurely at http" : "securely at https";
  console.error(`Store ${where}, serving client traffic ${traffic}://${store.addr}`);
  const ended = Promise.withResolvers<undefined>();
  const end = (): void => ended.resolve(undefined);
  Deno.addSignalListener("SIGINT", end);
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", end);
  const error = await Promise.race([ended.promise, failed.promise]);
  await store.close();
  Deno.exit(error === undefined ? 0 : 1);
}
