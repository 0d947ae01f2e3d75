/** Answers that are not those of the record: by the version, and by identities and clocks. */
import type { Answer } from "./player.ts";

/** An answer that another version gives: from which minor version on, and what. */
interface Changed {
  readonly since: number;
  readonly answer: (recorded: Answer) => Answer;
}

/** Bytes of the checksum behind a snapshot. */
const SNAPSHOT_CHECKSUM = 32;

const header = { revision: "61" };

const CHANGED: Readonly<Record<string, readonly Changed[]>> = {
  "watch negative start": [{
    since: 5,
    answer: () => [{
      rev: "31",
      id: "-1",
      created: true,
      canceled: true,
      cancel_reason: "etcdserver: mvcc: required revision has been compacted",
    }, "END"],
  }],
  "progress no watcher": [{ since: 5, answer: () => ["END"] }],
  "alarm get": [{ since: 5, answer: (recorded) => ({ ...recorded, header }) }],
  "authStatus (3.5+)": [{ since: 5, answer: () => ({ header, enabled: false }) }],
  "downgrade (3.5+)": [{
    since: 5,
    answer: () => ({ code: 3, msg: "etcdserver: wrong downgrade target version format" }),
  }],
  "bad token when auth disabled": [{
    since: 5,
    answer: () => ({
      kvs: [{
        key: "a",
        create_revision: "2",
        mod_revision: "14",
        version: "4",
        value: "new",
        lease: "0",
      }],
      header,
      more: false,
      count: "1",
    }),
  }],
  "gzip request": [{ since: 5, answer: () => "ok" }],
  "bob compact": [{
    since: 5,
    answer: () => ({ code: 7, msg: "etcdserver: permission denied" }),
  }],
  ...Object.fromEntries(
    ["status", "memberList", "leaseGrant", "leases", "alarm"].map((what) => [
      `no-token ${what}`,
      [{ since: 5, answer: () => ({ code: 3, msg: "etcdserver: user name is empty" }) }],
    ]),
  ),
};

/** The answer that a version gives where 3.4.23 gave the recorded one. */
export function changedSince(name: string, version: number, recorded: Answer): Answer {
  const found = (CHANGED[name] ?? []).findLast(({ since }) => version >= since);
  return found === undefined ? recorded : found.answer(recorded);
}

/** Answers without their identities and clocks. */
const BARE: Readonly<Record<string, (answer: Answer) => Answer>> = {
  "ttl keys": ({ TTL, ...rest }) => ({ ...rest, lives: TTL > 0 }),
  "ttl after 1.2s": ({ TTL, ...rest }) => ({ ...rest, lives: TTL > 0 }),
  // Which watch is told first is not said.
  "watch ids: two auto + dup explicit": (answer) => [
    ...answer.slice(0, 5),
    ...answer.slice(5, -1).toSorted((a: Answer, b: Answer) => a.id - b.id),
    answer.at(-1),
  ],
  // The client gives up, or the server says so first, in a text alone.
  "lock contended deadline 500ms": ({ code }) => ({ late: code === 4 || code === 2 }),
  "lock lease 0": (answer) => ({ ...answer, key: answer.key.replace(/[0-9a-f]+$/, "lease") }),
  "status": (
    { version: _, dbSize, leader, raftIndex, raftAppliedIndex, dbSizeInUse, ...rest },
  ) => ({
    ...rest,
    numbers: [dbSize, leader, raftIndex, raftAppliedIndex, dbSizeInUse].map((one) => one > 0),
  }),
  "memberList": ({ members, header }) => ({
    header,
    members: members.map(({ peerURLs, clientURLs, ID, name, isLearner }: Answer) => ({
      urls: [peerURLs.length, clientURLs.length],
      known: ID !== "" && name !== "",
      isLearner,
    })),
  }),
  // The file has as many pages as its writer takes.
  "snapshot": ({ msgs, bytes, first }) => ({
    pieces: msgs > 2,
    pages: (bytes - SNAPSHOT_CHECKSUM) % 4_096,
    blob: first.blob,
    rest: bytes - SNAPSHOT_CHECKSUM - first.blob - Number(first.remaining),
  }),
  // From 3.5 on it is told once the watch has caught up, which it may have by then.
  "progress right after unsynced create": (answer) =>
    answer.filter((one: Answer) => one.id !== "-1" || one.rev !== "38"),
  "token shape": (answer) => answer.replace(/\d+$/, "n"),
};

/** An answer without identities and clocks. */
export function comparable(name: string, answer: Answer): Answer {
  return BARE[name]?.(answer) ?? answer;
}
