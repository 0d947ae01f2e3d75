/**
 * A store that speaks etcd's API, in this process: for development, tests and demos.
 *
 * Files import downwards only:
 *
 * ```text
 * mod   the door
 * cli   the command
 * listen   a store on a port
 * services   a file a service of etcd
 * node   a store at work: state, watches, time
 * log  watch  snapshot   changes on disk; changes as events; all of it as a file
 * space   whether there is room
 * auto_compaction   history that is not kept
 * state   requests to changes
 * auth   who asks, and whether they may
 * lease   when leases end
 * store   keys and their history
 * fault  limits  clock  headers   refusals; bounds; time; who answers
 * ```
 *
 * @module
 */
export { type KeptHistory } from "./auto_compaction.ts";
export { listen, Store, type StoreOptions } from "./listen.ts";
export { type StoreLimits } from "./limits.ts";

if (import.meta.main) {
  const { main } = await import("./cli/command.ts");
  await main();
}
