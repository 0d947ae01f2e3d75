import { assertEquals, assertInstanceOf } from "@std/assert";
import { kv } from "@sluice/sluice";
import { WatchState } from "../../../kv/watch/watch_state.ts";
import type { WatchResult } from "../../../kv/wire.ts";
import { header, put } from "../../../support/fake_etcd.ts";

function response(fields: Partial<WatchResult>): WatchResult {
  return {
    header: header(10n),
    watchId: 0n,
    created: false,
    canceled: false,
    compactRevision: 0n,
    cancelReason: "",
    fragment: false,
    events: [],
    ...fields,
  };
}

Deno.test("advance() takes nothing but the cluster and the revision from created", () => {
  const state = new WatchState(5n, 0n, 0n);
  assertEquals(state.advance(response({ created: true })), { kind: "created", revision: 10n });
  assertEquals([state.next, state.seen, state.clusterId], [5n, 10n, 7n]);
});

Deno.test("advance() keeps the start of a watch of the future", () => {
  const state = new WatchState(50n, 0n, 0n);
  state.advance(response({ created: true }));
  assertEquals(state.advance(response({})).kind, "progress");
  assertEquals(state.next, 50n);
  assertEquals(state.advance(response({ events: [put("a", 11n)] })), { kind: "none" });
  assertEquals(state.next, 50n);
});

Deno.test("advance() goes on behind the last event", () => {
  const state = new WatchState(5n, 0n, 0n);
  const step = state.advance(response({ events: [put("a", 5n), put("b", 5n), put("a", 7n)] }));
  assertEquals(step.kind === "events" && step.events.length, 3);
  assertEquals([state.next, state.seen], [8n, 10n]);
});

Deno.test("advance() goes on behind the header's revision only after progress", () => {
  const state = new WatchState(5n, 0n, 0n);
  assertEquals(state.advance(response({})).kind, "progress");
  assertEquals(state.next, 11n);
  assertEquals(state.advance(response({ header: header(8n) })).kind, "progress");
  assertEquals(state.next, 11n);
});

Deno.test("advance() gives an event once", () => {
  const state = new WatchState(5n, 0n, 0n);
  const first = response({ events: [put("a", 5n)] });
  assertEquals(state.advance(first).kind, "events");
  assertEquals(state.advance(first), { kind: "none" });
});

Deno.test("advance() joins pieces, an empty last one too", () => {
  const state = new WatchState(5n, 0n, 0n);
  assertEquals(
    state.advance(response({ fragment: true, events: [put("a", 5n)] })),
    { kind: "none" },
  );
  assertEquals(state.next, 5n);
  const step = state.advance(response({}));
  assertEquals(step.kind === "events" && step.events.length, 1);
  assertEquals(state.next, 6n);
});

Deno.test("interrupt() forgets pieces", () => {
  const state = new WatchState(5n, 0n, 0n);
  state.advance(response({ fragment: true, events: [put("a", 5n)] }));
  state.interrupt();
  const step = state.advance(response({ events: [put("a", 5n), put("b", 6n)] }));
  assertEquals(step.kind === "events" && step.events.length, 2);
});

Deno.test("advance() tells that a member is behind, and compaction, and another cluster", () => {
  const state = new WatchState(21n, 20n, 7n);
  assertEquals(
    state.advance(response({ created: true })),
    { kind: "behind", revision: 10n },
  );
  const compacted = state.advance(
    response({ header: header(0n), canceled: true, compactRevision: 30n }),
  );
  if (compacted.kind !== "failed") throw new Error(compacted.kind);
  assertInstanceOf(compacted.error, kv.CompactedError);
  assertEquals(compacted.error.compactRevision, 30n);
  const moved = state.advance(response({ header: header(40n, 8n) }));
  if (moved.kind !== "failed") throw new Error(moved.kind);
  assertInstanceOf(moved.error, kv.HistoryLostError);
});

Deno.test("advance() knows a negative start that newer servers refuse as compacted", () => {
  const step = new WatchState(-1n, 0n, 0n).advance(response({
    watchId: -1n,
    created: true,
    canceled: true,
    cancelReason: "etcdserver: mvcc: required revision has been compacted",
  }));
  if (step.kind !== "failed") throw new Error(step.kind);
  assertInstanceOf(step.error, kv.CompactedError);
  assertEquals(step.error.compactRevision, 0n);
});
