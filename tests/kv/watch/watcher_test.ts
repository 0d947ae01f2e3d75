/** What may wait for readers of watches. */
import { assertEquals } from "@std/assert";
import type { kv } from "@sluice/sluice";
import { SYSTEM_TIME } from "../../../http/time/time.ts";
import { Watcher, type WatchHost } from "../../../kv/watch/watcher.ts";
import { WatchState } from "../../../kv/watch/watch_state.ts";
import type { EventMessage, WatchCreateMessage } from "../../../kv/wire.ts";
import { header } from "../../../support/fake_etcd.ts";

const request: WatchCreateMessage = {
  key: new Uint8Array(1),
  rangeEnd: new Uint8Array(0),
  startRevision: 1n,
  progressNotify: false,
  filters: [],
  prevKv: false,
  fragment: false,
};

/** A host that notes what watches ask of it. */
class Host implements WatchHost {
  readonly time = SYSTEM_TIME;
  readonly asked: string[] = [];
  backlog = 0;
  attach(): void {
    this.asked.push("attach");
  }
  detach(): void {
    this.asked.push("detach");
  }
  askProgress(): void {
    this.asked.push("progress");
  }
}

function event(bytes: number): EventMessage {
  const value = new Uint8Array(bytes);
  const rest = { createRevision: 1n, modRevision: 1n, version: 1n, lease: 0n };
  return { type: 0, kv: { key: request.key, value, ...rest } };
}

/** `count` events of `bytes` bytes, as they come from the stream. */
function give(watcher: Watcher, bytes: number, count = 1): void {
  const events = Array.from({ length: count }, () => event(bytes));
  const result = { header: header(1n) } as Parameters<Watcher["onAnswer"]>[0];
  watcher.take({ kind: "events", events, result } as unknown as Parameters<Watcher["take"]>[0], 0);
}

Deno.test("a watch is suspended beyond 16 MiB, and goes on when half is read", async () => {
  const host = new Host();
  const notices: kv.WatchNotice[] = [];
  const watcher = new Watcher(host, {
    request,
    state: new WatchState(1n, 0n, 0n),
    onNotice: (notice) => notices.push(notice),
  });
  // A value counts twice, as bytes and as text.
  for (let i = 0; i < 9; i++) give(watcher, 1 << 20);
  assertEquals([host.asked, notices], [["detach"], [{ kind: "suspended" }]]);
  for (let i = 0; i < 5; i++) await watcher.read();
  assertEquals(host.asked, ["detach"]);
  await watcher.read();
  assertEquals([host.asked, host.backlog], [["detach", "attach"], 1]);
  for (let i = 0; i < 3; i++) await watcher.read();
  assertEquals(host.backlog, 0);
});

Deno.test("all watches of a client share 256 MiB", async () => {
  const host = new Host();
  const watchers = Array.from(
    { length: 256 },
    () => new Watcher(host, { request, state: new WatchState(1n, 0n, 0n) }),
  );
  for (const watcher of watchers) give(watcher, 100);
  assertEquals([host.asked, host.backlog], [[], 256]);
  // Each may hold 1 MiB now.
  for (const watcher of watchers.slice(0, 100)) give(watcher, 600_000);
  assertEquals(host.asked.length, 100);
  for (const watcher of watchers) watcher.close();
  assertEquals(host.backlog, 0);
  give(watchers[0]!, 600_000);
  assertEquals([host.backlog, await watchers[0]!.read()], [0, null]);
  // One that ended may never be read to its end.
  const ended = new Watcher(host, { request, state: new WatchState(1n, 0n, 0n) });
  give(ended, 100);
  ended.finish(new Error("ended"));
  assertEquals(host.backlog, 0);
  assertEquals((await ended.read())?.events.length, 1);
  assertEquals(host.backlog, 0);
});

Deno.test("a watch that got too much in large events asks for pieces from then on", () => {
  for (const [bytes, count, pieces] of [[1 << 20, 20, true], [100, 50_000, false]] as const) {
    const watcher = new Watcher(new Host(), { request, state: new WatchState(1n, 0n, 0n) });
    give(watcher, bytes, count);
    assertEquals(watcher.fragment, pieces);
  }
});
