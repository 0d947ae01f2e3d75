// The service `etcdserverpb.KV`.

import type { Handlers } from "../../../grpc/mod.ts";
import type {
  CompactMessage,
  DeleteMessage,
  PutMessage,
  RangeMessage,
  TxnMessage,
} from "../../wire.ts";
import type { Node } from "../node.ts";

/** Handlers of `KV`. */
export function kvHandlers(node: Node): Handlers {
  const { state } = node;
  const latest = () => node.header(state.mvcc.revision);
  return {
    Range: (request: RangeMessage) =>
      node.answer(() => {
        const answer = state.range(request);
        return { header: latest(), ...answer };
      }),
    Put: (request: PutMessage) =>
      node.answer(() => {
        const { header: { revision }, ...answer } = state.put(request);
        return { header: node.header(revision), ...answer };
      }),
    DeleteRange: (request: DeleteMessage) =>
      node.answer(() => {
        const { header: { revision }, ...answer } = state.deleteRange(request);
        return { header: node.header(revision), ...answer };
      }),
    Txn: (request: TxnMessage) =>
      node.answer(() => {
        const { header: { revision }, ...answer } = state.txn(request);
        return { header: node.header(revision), ...answer };
      }),
    Compact: (request: CompactMessage) =>
      node.answer(() => {
        state.compact(request);
        return { header: latest() };
      }),
  };
}
