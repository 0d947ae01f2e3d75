// The service `etcdserverpb.Watch`.

import type { Handlers } from "../../../grpc/mod.ts";
import type { WatchCreateMessage, WatchMessage } from "../../wire.ts";
import type { Caller } from "../auth/guard.ts";
import { ServerFault } from "../fault.ts";
import type { Node } from "../node.ts";
import type { Contender } from "./contest.ts";
import { ServerWatchStream } from "../watch/stream.ts";

/** Handlers of `Watch`. */
export function watchHandlers(node: Node): Handlers {
  return {
    Watch: async function* (requests: AsyncIterable<WatchMessage>, caller: Contender) {
      const needsLeader = caller.requestHeader.get("hasleader") === "true";
      const stream = new ServerWatchStream({
        hub: node.watches,
        permit: (request) => refusal(node, caller, request),
        fragmentSize: node.limits.maxRequestBytes + GRPC_OVERHEAD_BYTES,
        maxWatches: node.limits.maxWatches,
        progressFrozen: () => node.progressFrozen,
      });
      const leave = node.join(stream, needsLeader);
      const onAbort = (): void => stream.close();
      caller.signal.addEventListener("abort", onAbort);
      stream.follow(requests);
      try {
        for await (const { revision, ...response } of stream.responses()) {
          yield { header: node.header(revision), ...response };
        }
      } finally {
        caller.signal.removeEventListener("abort", onAbort);
        leave();
      }
    },
  };
}

/** Bytes etcd allows for the frame around a request. */
const GRPC_OVERHEAD_BYTES = 512 * 1024;

/** Why someone may not watch, in Go's words for an error; undefined if they may. */
function refusal(node: Node, caller: Caller, request: WatchCreateMessage): string | undefined {
  try {
    const key = request.key.length === 0 ? new Uint8Array(1) : request.key;
    node.guard.range(caller, { key, rangeEnd: request.rangeEnd });
    return undefined;
  } catch (error) {
    if (!(error instanceof ServerFault)) throw error;
    return `rpc error: code = ${GO_CODES[error.code] ?? "Unknown"} desc = ${error.rawMessage}`;
  }
}

/** Names Go has for codes, of the refusals there are. */
const GO_CODES: Readonly<Record<number, string>> = {
  3: "InvalidArgument",
  7: "PermissionDenied",
  16: "Unauthenticated",
};
