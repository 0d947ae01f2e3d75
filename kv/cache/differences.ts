import type { CacheEvent } from "./event_queue.ts";
import type { KeyStore, KeyStoreRange } from "./store.ts";

/** All entries, in order. */
export const EVERYTHING: KeyStoreRange = { from: "", end: null, reverse: false };

/** Events that lead from one state of a store to another. */
export function* differences(
  before: KeyStore,
  after: KeyStore,
  revision: bigint,
): Generator<CacheEvent, void, undefined> {
  const olds = before.range(EVERYTHING);
  const news = after.range(EVERYTHING);
  let old = olds.next().value;
  let fresh = news.next().value;
  while (old || fresh) {
    if (!fresh || (old && old.key < fresh.key)) {
      yield { type: "delete", kv: old!.toKeyValue(), revision };
      old = olds.next().value;
    } else if (!old || fresh.key < old.key) {
      yield { type: "add", kv: fresh.toKeyValue(), revision };
      fresh = news.next().value;
    } else {
      if (old.modRevision !== fresh.modRevision) {
        yield { type: "update", kv: fresh.toKeyValue(), previous: old.toKeyValue(), revision };
      }
      old = olds.next().value;
      fresh = news.next().value;
    }
  }
}
