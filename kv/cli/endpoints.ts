/**
 * Commands on endpoints, one after the other or all at once: endpoint, alarm, defrag, snapshot.
 *
 * @module
 */
import type { Client } from "../client.ts";
import { systemClock } from "../clock.ts";
import type { StatusResponse } from "../maintenance/types.ts";
import { FAILURE, type Flags, UsageError } from "./arguments.ts";
import { type Cli, type Commands, show } from "./command_table.ts";
import { field, headerFields, headerJson, humanBytes, omitEmpty, table } from "./format.ts";
import { pause } from "./leases.ts";
import { onScreen } from "./live.ts";

const hex = (ID: bigint): string => ID.toString(16);

const CLUSTER_FLAG: Flags = {
  "cluster": { type: "boolean", about: "all endpoints that the members tell" },
};

/** Milliseconds between two looks of the live view. */
const LIVE_INTERVAL_MS = 1_000;

const STATUS_TITLES = [
  ...["ENDPOINT", "ID", "VERSION", "DB SIZE", "IS LEADER", "IS LEARNER", "RAFT TERM"],
  ...["RAFT INDEX", "RAFT APPLIED INDEX", "ERRORS"],
];

/** One endpoint with what it answered. */
interface Answered<T> {
  readonly endpoint: string;
  readonly answer: T;
}

/** Asks every endpoint; what fails is complained of. */
async function askAll<T>(
  { client, given, timeout, world }: Cli,
  ask: (endpoint: string) => Promise<T>,
): Promise<{ answered: Answered<T>[]; failed: boolean }> {
  const endpoints = given.has("cluster") ? await members(client, timeout) : client.endpoints;
  let failed = false;
  const answers = await Promise.all(endpoints.map(async (endpoint) => {
    try {
      return [{ endpoint, answer: await ask(endpoint) }];
    } catch (error) {
      failed = true;
      const reason = error instanceof Error ? error.message : String(error);
      world.complain(`Failed to get the answer of endpoint ${endpoint} (${reason})`);
      return [];
    }
  }));
  return { answered: answers.flat(), failed };
}

async function members(client: Client, timeout: number): Promise<readonly string[]> {
  return (await client.cluster.memberList({}, timeout)).members.flatMap(({ clientURLs }) =>
    clientURLs
  );
}

function statusRow({ endpoint, answer }: Answered<StatusResponse>): string[] {
  const { header, version, dbSize, leader, isLearner, raftTerm, raftIndex } = answer;
  return [
    endpoint,
    hex(header.memberId),
    version,
    humanBytes(dbSize),
    String(leader === header.memberId),
    String(isLearner),
    String(raftTerm),
    String(raftIndex),
    String(answer.raftAppliedIndex),
    answer.errors.join(", "),
  ];
}

function statusJson({ endpoint, answer }: Answered<StatusResponse>): unknown {
  const { header, version, dbSize, leader, raftIndex, raftTerm, raftAppliedIndex } = answer;
  return {
    Endpoint: endpoint,
    Status: {
      header: headerJson(header),
      ...omitEmpty({
        version,
        dbSize,
        leader,
        raftIndex,
        raftTerm,
        raftAppliedIndex,
        errors: answer.errors,
        dbSizeInUse: answer.dbSizeInUse,
        isLearner: answer.isLearner,
        storageVersion: answer.storageVersion,
        dbSizeQuota: answer.dbSizeQuota,
      }),
    },
  };
}

function statusFields({ endpoint, answer }: Answered<StatusResponse>): string {
  return headerFields(answer.header) + field("Version", answer.version) +
    field("DBSize", answer.dbSize) + field("Leader", answer.leader) +
    field("IsLearner", answer.isLearner) + field("RaftIndex", answer.raftIndex) +
    field("RaftTerm", answer.raftTerm) + field("RaftAppliedIndex", answer.raftAppliedIndex) +
    field("Errors", answer.errors) + field("Endpoint", endpoint) + "\n";
}

async function status(cli: Cli): Promise<number> {
  const ask = (endpoint: string) => cli.client.maintenance.status({ endpoint }, cli.timeout);
  if (cli.given.has("live")) {
    await onScreen(cli, async (draw) => {
      while (!cli.world.interrupted.aborted) {
        const lines: string[] = [];
        const world = { ...cli.world, complain: (line: string) => void lines.push(line) };
        const { answered } = await askAll({ ...cli, world }, ask);
        await draw(table(STATUS_TITLES, answered.map(statusRow)) + lines.join("\n"));
        await pause(LIVE_INTERVAL_MS, cli.world.interrupted);
      }
    });
    return 0;
  }
  const { answered, failed } = await askAll(cli, ask);
  await show(cli, {
    simple: () => answered.map((one) => `${statusRow(one).join(", ")}\n`).join(""),
    json: () => answered.map(statusJson),
    fields: () => answered.map(statusFields).join(""),
    table: () => [STATUS_TITLES, answered.map(statusRow)],
  });
  return failed ? FAILURE : 0;
}

const STATUS_FLAGS: Flags = {
  ...CLUSTER_FLAG,
  "live": { type: "boolean", about: "again each second, on the whole terminal" },
};

/** Commands on endpoints. */
export const ENDPOINT_COMMANDS: Commands = {
  "endpoint status": {
    usage: "",
    about: "Prints out the status of endpoints specified in `--endpoints` flag",
    flags: STATUS_FLAGS,
    args: [0, 0],
    run: status,
  },
  "endpoint health": {
    usage: "",
    about: "Checks the healthiness of endpoints specified in `--endpoints` flag",
    flags: CLUSTER_FLAG,
    args: [0, 0],
    async run(cli) {
      // Health is what it is to ask for a key: also one that may not be read.
      const { answered, failed } = await askAll(cli, async (endpoint) => {
        const start = systemClock.now();
        const { errors } = await cli.client.maintenance.status({ endpoint }, cli.timeout);
        if (errors.length > 0) throw new Error(errors.join(", "));
        return systemClock.now() - start;
      });
      const took = (ms: number) => `${Number(ms.toFixed(6))}ms`;
      await show(cli, {
        simple: () =>
          answered.map(({ endpoint, answer }) =>
            `${endpoint} is healthy: successfully committed proposal: took = ${took(answer)}\n`
          ).join(""),
        json: () =>
          answered.map(({ endpoint, answer }) => ({ endpoint, health: true, took: took(answer) })),
        table: () => [
          ["ENDPOINT", "HEALTH", "TOOK", "ERROR"],
          answered.map(({ endpoint, answer }) => [endpoint, "true", took(answer), ""]),
        ],
      });
      return failed ? FAILURE : 0;
    },
  },
  "endpoint hashkv": {
    usage: "",
    about: "Prints the KV history hash for each endpoint in --endpoints",
    flags: { ...CLUSTER_FLAG, "rev": { type: "string", about: "up to this revision" } },
    args: [0, 0],
    async run(cli) {
      const revision = cli.given.integer("rev") ?? 0n;
      const { answered, failed } = await askAll(
        cli,
        (endpoint) => cli.client.maintenance.hashKV({ endpoint, revision }, cli.timeout),
      );
      const row = ({ endpoint, answer }: (typeof answered)[number]) => [
        endpoint,
        String(answer.hash),
      ];
      await show(cli, {
        simple: () => answered.map((one) => `${row(one).join(", ")}\n`).join(""),
        json: () =>
          answered.map(({ endpoint, answer }) => ({
            Endpoint: endpoint,
            HashKV: {
              header: headerJson(answer.header),
              ...omitEmpty({
                hash: answer.hash,
                compact_revision: answer.compactRevision,
                hash_revision: answer.hashRevision,
              }),
            },
          })),
        table: () => [["ENDPOINT", "HASH"], answered.map(row)],
      });
      return failed ? FAILURE : 0;
    },
  },
  "alarm list": {
    usage: "",
    about: "Lists all alarms",
    args: [0, 0],
    async run(cli) {
      const { header, alarms } = await cli.client.maintenance.alarmList(cli.timeout);
      await show(cli, alarmAnswer(headerJson(header), alarms));
    },
  },
  "alarm disarm": {
    usage: "",
    about: "Disarms all alarms",
    args: [0, 0],
    async run(cli) {
      const { header, alarms } = await cli.client.maintenance.alarmDisarm({}, cli.timeout);
      await show(cli, alarmAnswer(headerJson(header), alarms));
    },
  },
  "defrag": {
    usage: "",
    about: "Defragments the storage of the etcd members with given endpoints",
    flags: CLUSTER_FLAG,
    args: [0, 0],
    async run(cli) {
      const { client, given, timeout, world } = cli;
      const endpoints = given.has("cluster") ? await members(client, timeout) : client.endpoints;
      // One after the other: a member answers nobody meanwhile.
      for (const endpoint of endpoints) {
        await client.maintenance.defragment({ endpoint }, { signal: world.interrupted });
        await world.print(`Finished defragmenting etcd member[${endpoint}]\n`);
      }
    },
  },
  "snapshot save": {
    usage: "<filename>",
    about: "Stores an etcd node backend snapshot to a given file",
    args: [1, 1],
    async run({ client, args: [path], world }) {
      const [endpoint, ...more] = client.endpoints;
      if (more.length > 0) {
        throw new UsageError("snapshot must be requested to one selected node, not multiple");
      }
      const { body } = await client.maintenance.snapshot(
        { endpoint: endpoint! },
        { signal: world.interrupted },
      );
      await world.save(path!, body);
      await world.print(`Snapshot saved at ${path}\n`);
    },
  },
};

function alarmAnswer(
  header: Record<string, unknown>,
  alarms: readonly { readonly memberID: bigint; readonly alarm: string }[],
) {
  const types = ["NONE", "NOSPACE", "CORRUPT"];
  return {
    simple: () =>
      alarms.map(({ memberID, alarm }) => `memberID:${memberID} alarm:${alarm} \n`).join(""),
    json: () => ({
      ...(Object.keys(header).length === 0 ? {} : { header }),
      ...omitEmpty({
        alarms: alarms.map(({ memberID, alarm }) =>
          omitEmpty({ memberID, alarm: types.indexOf(alarm) })
        ),
      }),
    }),
  };
}
