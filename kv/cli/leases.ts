/**
 * Commands on leases.
 *
 * @module
 */
import { systemClock } from "../clock.ts";
import { KvError } from "../errors.ts";
import { FAILURE, hexId, UsageError } from "./arguments.ts";
import { type Commands, show, showChange } from "./command_table.ts";
import { base64, field, headerFields, headerJson, omitEmpty } from "./format.ts";

const hex = (ID: bigint): string => BigInt.asUintN(64, ID).toString(16).padStart(16, "0");

/** Commands on leases. */
export const LEASE_COMMANDS: Commands = {
  "lease grant": {
    usage: "<ttl>",
    about: "Creates leases",
    args: [1, 1],
    async run(cli) {
      const { client, args: [text], timeout } = cli;
      if (!/^-?\d+$/.test(text!)) throw new UsageError(`bad TTL (${JSON.stringify(text)})`);
      // It is to outlive this command.
      const { header, ID, TTL } = await client.grant(
        { TTL: BigInt(text!), keepAlive: false },
        timeout,
      );
      await show(cli, {
        simple: () => `lease ${hex(ID)} granted with TTL(${TTL}s)\n`,
        json: () => ({ ...headerJson(header), ID, TTL, Error: "" }),
        fields: () => headerFields(header) + field("ID", ID) + field("TTL", TTL),
      });
    },
  },
  "lease revoke": {
    usage: "<leaseID>",
    about: "Revokes leases",
    args: [1, 1],
    async run(cli) {
      const ID = hexId("lease", cli.args[0]!);
      const { header } = await cli.client.revoke({ ID }, cli.timeout);
      await showChange(cli, `lease ${hex(ID)} revoked`, header);
    },
  },
  "lease timetolive": {
    usage: "<leaseID> [options]",
    about: "Get lease information",
    flags: { "keys": { type: "boolean", about: "also the keys that hang on it" } },
    args: [1, 1],
    async run(cli) {
      const { client, args, given, timeout } = cli;
      const ID = hexId("lease", args[0]!);
      const withKeys = given.has("keys");
      const { header, TTL, grantedTTL, keys, keysBytes } = await client.ttl(
        { ID, keys: withKeys },
        timeout,
      );
      await show(cli, {
        simple: () => {
          if (grantedTTL === 0 && TTL === -1) return `lease ${hex(ID)} already expired\n`;
          const attached = withKeys ? `, attached keys([${keys.join(" ")}])` : "";
          return `lease ${
            hex(ID)
          } granted with TTL(${grantedTTL}s), remaining(${TTL}s)${attached}\n`;
        },
        json: () => ({
          ...headerJson(header),
          id: ID,
          ttl: TTL,
          "granted-ttl": grantedTTL,
          keys: withKeys && keysBytes.length > 0 ? keysBytes.map(base64) : null,
        }),
        fields: () =>
          headerFields(header) + field("ID", ID) + field("TTL", TTL) +
          field("GrantedTTL", grantedTTL) + keysBytes.map((key) => field("Key", key)).join(""),
      });
    },
  },
  "lease list": {
    usage: "",
    about: "List all active leases",
    args: [0, 0],
    async run(cli) {
      const { header, leases } = await cli.client.leases(cli.timeout);
      await show(cli, {
        simple: () =>
          `found ${leases.length} leases\n${leases.map(({ ID }) => `${hex(ID)}\n`).join("")}`,
        json: () => ({
          ...headerJson(header),
          leases: leases.map(({ ID }) => omitEmpty({ id: ID })),
        }),
        fields: () => headerFields(header) + leases.map(({ ID }) => field("ID", ID)).join(""),
      });
    },
  },
  "lease keep-alive": {
    usage: "[options] <leaseID>",
    about: "Keeps leases alive (renew)",
    flags: { "once": { type: "boolean", about: "renew it once, and end" } },
    args: [1, 1],
    async run(cli) {
      const { client, args, given, timeout, world } = cli;
      const ID = hexId("lease", args[0]!);
      for (;;) {
        const [renewed, error] = await renew(client.keepAliveOnce(ID, timeout));
        if (error !== undefined) {
          world.complain(`lease ${hex(ID)} expired or revoked.`);
          return FAILURE;
        }
        const { header, TTL } = renewed;
        await show(cli, {
          simple: () => `lease ${hex(ID)} keepalived with TTL(${TTL})\n`,
          json: () => ({ ...headerJson(header), ID, TTL }),
          fields: () => headerFields(header) + field("ID", ID) + field("TTL", TTL),
        });
        if (given.has("once")) return;
        await pause(TTL * 1_000 / 3, world.interrupted);
        if (world.interrupted.aborted) return;
      }
    },
  },
};

async function renew<T>(promise: Promise<T>): Promise<[T, undefined] | [undefined, KvError]> {
  try {
    return [await promise, undefined];
  } catch (error) {
    if (error instanceof KvError && error.reason === "LEASE_NOT_FOUND") return [undefined, error];
    throw error;
  }
}

/** Waits; ends early when the user ends it. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return systemClock.sleep(ms, signal).catch(() => {});
}
