/**
 * Commands on members: member, move-leader, downgrade.
 *
 * @module
 */
import type { Member } from "../cluster/types.ts";
import type { DowngradeRequest } from "../maintenance/types.ts";
import { type Flags, hexId, UsageError } from "./arguments.ts";
import { type Cli, type Commands, show, showChange } from "./command_table.ts";
import { field, headerFields, headerJson, omitEmpty } from "./format.ts";

const hex = (ID: bigint): string => ID.toString(16);

const peerUrls: Flags = {
  "peer-urls": { type: "string", about: "where other members reach it, commas between" },
};

const MEMBER_TITLES = ["ID", "STATUS", "NAME", "PEER ADDRS", "CLIENT ADDRS", "IS LEARNER"];

function memberRow({ ID, name, peerURLs, clientURLs, isLearner }: Member): string[] {
  const status = name === "" ? "unstarted" : "started";
  return [hex(ID), status, name, peerURLs.join(","), clientURLs.join(","), String(isLearner)];
}

function memberJson({ ID, name, peerURLs, clientURLs, isLearner }: Member): unknown {
  return omitEmpty({ ID, name, peerURLs, clientURLs, isLearner });
}

/** Commands on members. */
export const MEMBER_COMMANDS: Commands = {
  "member list": {
    usage: "",
    about: "Lists all members in the cluster",
    args: [0, 0],
    async run(cli) {
      const { header, members } = await cli.client.cluster.memberList({}, cli.timeout);
      await show(cli, {
        simple: () => members.map((one) => `${memberRow(one).join(", ")}\n`).join(""),
        json: () => ({ header: headerJson(header), members: members.map(memberJson) }),
        fields: () =>
          headerFields(header) +
          members.map((one) =>
            field("ID", one.ID) + field("Name", one.name) +
            one.peerURLs.map((url) => field("PeerURL", url)).join("") +
            one.clientURLs.map((url) => field("ClientURL", url)).join("") +
            field("IsLearner", one.isLearner) + "\n"
          ).join(""),
        table: () => [MEMBER_TITLES, members.map(memberRow)],
      });
    },
  },
  "member add": {
    usage: "<memberName> [options]",
    about: "Adds a member into the cluster",
    flags: { ...peerUrls, "learner": { type: "boolean", about: "without a vote" } },
    args: [1, 1],
    async run(cli) {
      const { client, args: [name], given, timeout } = cli;
      const request = { peerURLs: urls(given.text("peer-urls")) };
      const { header, member, members } = given.has("learner")
        ? await client.cluster.memberAddAsLearner(request, timeout)
        : await client.cluster.memberAdd(request, timeout);
      const cluster = members.flatMap((one) => {
        const its = one.ID === member.ID ? name! : one.name;
        return its === "" ? [] : one.peerURLs.map((url) => `${its}=${url}`);
      });
      await show(cli, {
        simple: () =>
          `Member ${hex(member.ID).padStart(16)} added to cluster ${
            hex(header.clusterId).padStart(16)
          }\n\nETCD_NAME=${JSON.stringify(name)}\nETCD_INITIAL_CLUSTER=${
            JSON.stringify(cluster.join(","))
          }\nETCD_INITIAL_ADVERTISE_PEER_URLS=${
            JSON.stringify(member.peerURLs.join(","))
          }\nETCD_INITIAL_CLUSTER_STATE="existing"\n`,
        json: () => ({
          header: headerJson(header),
          member: memberJson(member),
          members: members.map(memberJson),
        }),
      });
    },
  },
  "member remove": {
    usage: "<memberID>",
    about: "Removes a member from the cluster",
    args: [1, 1],
    async run(cli) {
      const ID = hexId("member", cli.args[0]!);
      const { header, members } = await cli.client.cluster.memberRemove({ ID }, cli.timeout);
      await show(cli, changed(ID, "removed from", header.clusterId, members, headerJson(header)));
    },
  },
  "member update": {
    usage: "<memberID> [options]",
    about: "Updates a member in the cluster",
    flags: peerUrls,
    args: [1, 1],
    async run(cli) {
      const ID = hexId("member", cli.args[0]!);
      const peerURLs = urls(cli.given.text("peer-urls"));
      const { header, members } = await cli.client.cluster.memberUpdate(
        { ID, peerURLs },
        cli.timeout,
      );
      await show(cli, changed(ID, "updated in", header.clusterId, members, headerJson(header)));
    },
  },
  "member promote": {
    usage: "<memberID>",
    about: "Promotes a non-voting member in the cluster",
    args: [1, 1],
    async run(cli) {
      const ID = hexId("member", cli.args[0]!);
      const { header, members } = await cli.client.cluster.memberPromote({ ID }, cli.timeout);
      await show(cli, changed(ID, "promoted in", header.clusterId, members, headerJson(header)));
    },
  },
  "move-leader": {
    usage: "<transferee-member-id>",
    about: "Transfers leadership to another etcd cluster member.",
    args: [1, 1],
    async run(cli) {
      const { client, timeout } = cli;
      const targetID = hexId("member", cli.args[0]!);
      const { leader } = await client.maintenance.status({}, timeout);
      const { header } = await client.maintenance.moveLeader({ targetID }, timeout);
      await showChange(
        cli,
        `Leadership transferred from ${hex(leader)} to ${hex(targetID)}`,
        header,
      );
    },
  },
  "downgrade validate": {
    usage: "<TARGET_VERSION>",
    about: "Validate downgrade capability before starting downgrade",
    args: [1, 1],
    run: (cli) => downgrade(cli, { action: "VALIDATE", version: cli.args[0]! }),
  },
  "downgrade enable": {
    usage: "<TARGET_VERSION>",
    about: "Start a downgrade action to cluster",
    args: [1, 1],
    run: (cli) => downgrade(cli, { action: "ENABLE", version: cli.args[0]! }),
  },
  "downgrade cancel": {
    usage: "",
    about: "Cancel the ongoing downgrade action to cluster",
    args: [0, 0],
    run: (cli) => downgrade(cli, { action: "CANCEL" }),
  },
};

async function downgrade(cli: Cli, request: DowngradeRequest): Promise<void> {
  const { header, version } = await cli.client.maintenance.downgrade(request, cli.timeout);
  await show(cli, {
    simple: () => `Downgrade ${request.action.toLowerCase()} success, cluster version ${version}\n`,
    json: () => ({ header: headerJson(header), version }),
    fields: () => headerFields(header) + field("Version", version),
  });
}

function changed(
  ID: bigint,
  what: string,
  clusterId: bigint,
  members: readonly Member[],
  header: unknown,
) {
  const sentence = `Member ${hex(ID).padStart(16)} ${what} cluster ${
    hex(clusterId).padStart(16)
  }\n`;
  return { simple: () => sentence, json: () => ({ header, members: members.map(memberJson) }) };
}

function urls(text: string | undefined): readonly string[] {
  if (text !== undefined && text !== "") return text.split(",");
  throw new UsageError("member peer urls not provided: use --peer-urls");
}
