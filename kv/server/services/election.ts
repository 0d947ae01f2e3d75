// The service `v3electionpb.Election`.

import type { Handlers } from "../../../grpc/mod.ts";
import type { Caller } from "../auth/guard.ts";
import type { Node } from "../node.ts";
import { type Candidate, type Contender, Contests, plain } from "./contest.ts";

interface LeaderKey {
  readonly name: Uint8Array;
  readonly key: Uint8Array;
  readonly rev: bigint;
  readonly lease: bigint;
}

interface WithLeader {
  readonly leader?: LeaderKey;
}

interface Named {
  readonly name: Uint8Array;
}

const NONE = new Uint8Array(0);

function entryOf({ leader }: WithLeader): Candidate {
  if (leader === undefined) throw plain('"leader" field must be provided');
  return { key: leader.key, revision: Number(leader.rev), lease: leader.lease };
}

/** Handlers of `Election`. */
export function electionHandlers(node: Node): Handlers {
  const contests = new Contests(node);
  const header = () => node.header(node.state.mvcc.revision);
  return {
    Campaign: async (
      { name, lease, value }: Named & { lease: bigint; value: Uint8Array },
      caller: Contender,
    ) => {
      const { key, revision, lease: held, since } = await contests.campaign(
        name,
        lease,
        value,
        caller,
      );
      // Like etcd: of when it began, not of when it won.
      return {
        header: node.header(since),
        leader: { name, key, rev: BigInt(revision), lease: held },
      };
    },
    Proclaim: async (request: WithLeader & { value: Uint8Array }, caller: Caller) => {
      const entry = entryOf(request);
      const value = {
        key: entry.key,
        value: request.value,
        lease: entry.lease,
        prevKv: false,
        ignoreValue: false,
        ignoreLease: false,
      };
      const op = { request: { case: "requestPut", value } } as const;
      const { succeeded } = await contests.ifStill(entry, op, caller);
      if (!succeeded) throw plain("election: not leader");
      return { header: header() };
    },
    Resign: async (request: WithLeader, caller: Caller) => {
      const entry = entryOf(request);
      const value = { key: entry.key, rangeEnd: NONE, prevKv: false };
      await contests.ifStill(entry, { request: { case: "requestDeleteRange", value } }, caller);
      return { header: header() };
    },
    Leader: ({ name }: Named, caller: Caller) =>
      node.answer(() => {
        const kv = contests.leader(name, caller);
        if (kv === undefined) throw plain("election: no leader");
        return { header: header(), kv };
      }),
    Observe: async function* ({ name }: Named, caller: Contender) {
      for await (const kv of contests.observe(name, caller)) yield { header: header(), kv };
    },
  };
}
