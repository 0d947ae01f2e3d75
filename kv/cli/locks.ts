/**
 * The commands lock and elect.
 *
 * @module
 */
import { type Cli, type Commands, show } from "./command_table.ts";
import { field, kvFields, kvJson } from "./format.ts";
import { kvLines } from "./keys.ts";

/** The commands lock and elect. */
export const LOCK_COMMANDS: Commands = {
  "lock": {
    usage: "<lockname> [-- exec-command arg1 arg2 ...]",
    about: "Acquires a named lock",
    flags: { "ttl": { type: "string", about: "seconds it outlives this program (10)" } },
    args: [1, Infinity],
    runsProgram: true,
    async run(cli) {
      const { client, args: [name, ...program], given, world, rest = [] } = cli;
      const ttl = Number(given.integer("ttl") ?? 10n);
      const lock = await client.lock(name!, { ttl, signal: world.interrupted });
      try {
        const [command, ...args] = [...program, ...rest];
        if (command !== undefined) {
          return await world.execute(command, args, {
            ETCD_LOCK_KEY: lock.key,
            ETCD_LOCK_REV: String(lock.revision),
          });
        }
        await world.print(`${lock.key}\n`);
        return await held(cli, lock.signal);
      } finally {
        await lock.release({ timeout: cli.timeout });
      }
    },
  },
  "elect": {
    usage: "<election-name> [proposal]",
    about: "Observes and participates in leader election",
    flags: {
      "listen": { type: "boolean", short: "l", about: "only follow" },
      "ttl": { type: "string", about: "seconds it outlives this program (60)" },
    },
    args: [1, 2],
    async run(cli) {
      const { client, args: [name, proposal], given, world } = cli;
      const election = client.election(name!);
      if (given.has("listen") || proposal === undefined) {
        for await (const kv of election.observe({ signal: world.interrupted })) {
          await show(cli, {
            simple: () => kvLines(cli, [kv]),
            json: () => kvJson(kv),
            fields: () => kvFields(kv),
          });
        }
        return;
      }
      const ttl = Number(given.integer("ttl") ?? 60n);
      const leadership = await election.campaign(proposal, { ttl, signal: world.interrupted });
      try {
        await show(cli, {
          simple: () => `${leadership.key}\n${leadership.value}\n`,
          json: () => ({ key: leadership.key, value: leadership.value }),
          fields: () => field("Key", leadership.key) + field("Value", leadership.value),
        });
        return await held(cli, leadership.signal);
      } finally {
        await leadership.resign({ timeout: cli.timeout });
      }
    },
  },
};

/** Waits until the user ends it, 0, or what is held is lost, 1. */
function held({ world }: Cli, lost: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    const end = () => {
      if (lost.aborted) {
        const { reason } = lost;
        world.complain(`Error: ${reason instanceof Error ? reason.message : reason}`);
      }
      resolve(lost.aborted ? 1 : 0);
    };
    const either = AbortSignal.any([world.interrupted, lost]);
    if (either.aborted) end();
    else either.addEventListener("abort", end, { once: true });
  });
}
