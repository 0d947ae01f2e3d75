// The service `v3lockpb.Lock`.

import type { Handlers } from "../../../grpc/mod.ts";
import type { Caller } from "../auth/guard.ts";
import type { Node } from "../node.ts";
import { type Contender, Contests } from "./contest.ts";

const NONE = new Uint8Array(0);

/** Handlers of `Lock`. */
export function lockHandlers(node: Node): Handlers {
  const contests = new Contests(node);
  const header = () => node.header(node.state.mvcc.revision);
  return {
    Lock: async ({ name, lease }: { name: Uint8Array; lease: bigint }, caller: Contender) => {
      const { key, since } = await contests.lock(name, lease, caller);
      return { header: node.header(since), key };
    },
    Unlock: ({ key }: { key: Uint8Array }, caller: Caller) =>
      node.answer(() => {
        const request = { key, rangeEnd: NONE, prevKv: false };
        node.guard.deleteRange(caller, request);
        node.state.deleteRange(request);
        return { header: header() };
      }),
  };
}
