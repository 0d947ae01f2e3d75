/**
 * A store that speaks etcd's API, in this process: for development, tests and demos.
 *
 * Files import downwards only:
 *
 * ```text
 * mod   the door
 * cli   the command
 * listen   a store on a port, or in memory
 * gateway  faults   requests in JSON; what goes wrong when a test wants it
 * services   a file a service of etcd
 * node   a store at work: state, watches, time
 * log  watch  snapshot   changes on disk; changes as events; all of it as a file
 * space  long_work   whether there is room; work that others have their turns in
 * options   what a store is told
 * auto_compaction   history that is not kept
 * state   requests to changes
 * auth   who asks, and whether they may
 * lease   when leases end
 * store   keys and their history
 * fault  limits  clock  duration  headers  counts   refusals; bounds; time; spans; who answers; figures
 * ```
 *
 * @module
 */
export { type KeptHistory } from "./auto_compaction.ts";
export { type Duration } from "./duration.ts";
export { type Faults } from "./faults.ts";
export { listen, Store } from "./listen.ts";
export { type StoreLimits } from "./limits.ts";
export { type StoreOptions } from "./options.ts";

if (import.meta.main) {
  const { main } = await import("./cli/command.ts");
  await main();
}
