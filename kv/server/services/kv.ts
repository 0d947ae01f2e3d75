// The service `etcdserverpb.KV`.

import { Code, ConnectError, type Handlers } from "../../../grpc/mod.ts";
import type {
  CompactMessage,
  DeleteMessage,
  PutMessage,
  RangeMessage,
  RequestOpMessage,
  TxnMessage,
} from "../../wire.ts";
import type { Caller } from "../auth/guard.ts";
import { ServerFault } from "../fault.ts";
import type { Node } from "../node.ts";
import { checkDelete, checkPut, checkRange, checkTxn } from "../store/requests.ts";
import { bytesOfKey } from "../store/key_text.ts";
import { isReadOnly } from "../store/txn.ts";

/** Bytes of keys and values a chunk of a streamed range has at most, unless a single key has more. */
const CHUNK_BYTES = 512 * 1024;

const sizeOfPut = ({ key, value }: PutMessage): number => key.length + value.length + 16;

/** Bytes a transaction has about, as it is sent. */
function sizeOfTxn({ compare, success, failure }: TxnMessage): number {
  let size = 0;
  for (const { key, rangeEnd, targetUnion: { value } } of compare) {
    size += key.length + rangeEnd.length + (value instanceof Uint8Array ? value.length : 0) + 16;
  }
  for (const op of [...success, ...failure]) size += sizeOfOp(op);
  return size;
}

function sizeOfOp({ request }: RequestOpMessage): number {
  if (request.case === "requestPut") return sizeOfPut(request.value);
  if (request.case === "requestTxn") return sizeOfTxn(request.value);
  if (request.case === undefined) return 0;
  return request.value.key.length + request.value.rangeEnd.length + 16;
}

/** Whether a transaction may put something. */
function puts({ success, failure }: TxnMessage): boolean {
  return [...success, ...failure].some(({ request }) =>
    request.case === "requestPut" || (request.case === "requestTxn" && puts(request.value))
  );
}

/** Handlers of `KV`. */
export function kvHandlers(node: Node): Handlers {
  const { guard, limits, state, space, work } = node;
  const latest = () => node.header(state.mvcc.revision);
  const checkSize = (size: number): void => {
    if (size > limits.maxRequestBytes) throw new ServerFault("REQUEST_TOO_LARGE");
  };
  return {
    Range: (request: RangeMessage, caller: Caller) =>
      node.answer(() => {
        checkRange(request);
        guard.range(caller, request);
        const header = latest();
        const answer = work.read(state.range(request));
        return answer instanceof Promise
          ? answer.then((answer) => ({ header, ...answer }))
          : { header, ...answer };
      }),
    RangeStream: async function* (request: RangeMessage, caller: Caller) {
      yield* rangeStream(node, request, caller);
    },
    Put: (request: PutMessage, caller: Caller) =>
      node.answer(() => {
        space.check(sizeOfPut(request));
        checkPut(request);
        guard.token(caller);
        checkSize(sizeOfPut(request));
        space.checkOpen();
        guard.put(caller, request);
        const { header: { revision }, ...answer } = state.put(request);
        return { header: node.header(revision), ...answer };
      }),
    DeleteRange: (request: DeleteMessage, caller: Caller) =>
      node.answer(() => {
        checkDelete(request);
        guard.token(caller);
        checkSize(request.key.length + request.rangeEnd.length);
        space.checkSound();
        guard.deleteRange(caller, request);
        const { header: { revision }, ...answer } = state.deleteRange(request);
        return { header: node.header(revision), ...answer };
      }),
    Txn: (request: TxnMessage, caller: Caller) =>
      node.answer(() => {
        const size = sizeOfTxn(request);
        const storing = puts(request);
        if (storing) space.check(size);
        checkTxn(request, limits.maxTxnOps);
        if (!isReadOnly(request)) {
          guard.token(caller);
          checkSize(size);
          if (storing) space.checkOpen();
          else space.checkSound();
        }
        guard.txn(caller, request);
        const { header: { revision }, ...answer } = state.txn(request);
        return { header: node.header(revision), ...answer };
      }),
    Compact: (request: CompactMessage, caller: Caller) =>
      node.answer(() => {
        guard.root(caller);
        space.checkSound();
        state.compact(request);
        const answer = { header: latest() };
        return work.sweep()?.then(() => answer) ?? answer;
      }),
  };
}

const unimplemented = (what: string): ConnectError =>
  new ConnectError(`RangeStream does not support ${what}`, Code.Unimplemented);

/** A range at one revision in chunks. The last one says how many keys there are, and at what revision. */
async function* rangeStream(
  node: Node,
  request: RangeMessage,
  caller: Caller,
): AsyncGenerator<unknown> {
  checkRange(request);
  const { sortOrder, sortTarget } = request;
  if (sortOrder !== 0 && !(sortOrder === 1 && sortTarget === 0)) {
    throw unimplemented("custom sort orders");
  }
  const bounds = ["minModRevision", "maxModRevision", "minCreateRevision", "maxCreateRevision"];
  if (bounds.some((name) => request[name as "minModRevision"] !== 0n)) {
    throw unimplemented("revision filters");
  }
  node.guard.range(caller, request);
  const { state, work } = node;
  const pinned = await node.answer(() => state.mvcc.revision);
  const revision = request.revision > 0n ? request.revision : BigInt(pinned);
  const whole = await work.read(state.range({ ...request, revision, countOnly: true, limit: 0n }));
  let left = request.limit > 0n ? request.limit : whole.count;
  let { key } = request;
  while (!request.countOnly && left > 0n) {
    // As many keys as fit: a few at first, then what their size suggests.
    const { kvs, more } = await chunk(node, { ...request, key, revision }, left);
    if (kvs.length === 0) break;
    left -= BigInt(kvs.length);
    yield { rangeResponse: { kvs } };
    if (!more) break;
    key = bytesOfKey(`${String.fromCharCode(...kvs.at(-1)!.key)}\0`);
  }
  yield {
    rangeResponse: {
      header: node.header(pinned),
      more: request.limit > 0n && request.limit < whole.count && !request.countOnly,
      count: whole.count,
    },
  };
}

async function chunk(node: Node, request: RangeMessage, left: bigint) {
  for (let limit = 1_000n;; limit /= 2n) {
    const most = limit < left ? limit : left;
    const work = node.state.range({ ...request, limit: most < 1n ? 1n : most });
    const { kvs, more } = await node.work.read(work);
    const size = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    if (size <= CHUNK_BYTES || kvs.length <= 1) return { kvs, more };
  }
}
