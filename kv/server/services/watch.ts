// The service `etcdserverpb.Watch`.

import type { Handlers } from "../../../grpc/mod.ts";
import type { WatchMessage } from "../../wire.ts";
import type { Node } from "../node.ts";
import { ServerWatchStream } from "../watch/stream.ts";

/** Handlers of `Watch`. */
export function watchHandlers(node: Node): Handlers {
  return {
    Watch: async function* (requests: AsyncIterable<WatchMessage>) {
      const stream = new ServerWatchStream({
        hub: node.watches,
        permit: () => undefined,
        fragmentSize: node.limits.maxRequestBytes + GRPC_OVERHEAD_BYTES,
        maxWatches: node.limits.maxWatches,
      });
      const leave = node.join(stream);
      const following = stream.follow(requests);
      following.catch(() => {});
      try {
        for await (const { revision, ...response } of stream.responses()) {
          yield { header: node.header(revision), ...response };
        }
        await following;
      } finally {
        leave();
      }
    },
  };
}

/** What etcd allows for the frame around a request. */
const GRPC_OVERHEAD_BYTES = 512 * 1024;
