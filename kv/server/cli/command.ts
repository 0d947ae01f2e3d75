// The command: a store until it is told to end.

// deno-lint-ignore-file no-console
import { listen, VERSION } from "../listen.ts";
import { parseArguments, USAGE, UsageError } from "./arguments.ts";

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
  const { addr, name, path, history, limits } = parsed;
  const failed = Promise.withResolvers<unknown>();
  const store = listen({
    addr,
    name,
    ...(path === undefined ? {} : { path }),
    ...(history === undefined ? {} : { history }),
    limits,
    onFailed: (error) => {
      console.error(`The store cannot be written any more: ${error}`);
      failed.resolve(error);
    },
  });
  const where = path === undefined ? "in memory" : `in ${path}`;
  console.error(`Store ${where}, serving client traffic insecurely at http://${store.addr}`);
  const ended = Promise.withResolvers<undefined>();
  const end = (): void => ended.resolve(undefined);
  Deno.addSignalListener("SIGINT", end);
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", end);
  const error = await Promise.race([ended.promise, failed.promise]);
  await store.close();
  Deno.exit(error === undefined ? 0 : 1);
}
