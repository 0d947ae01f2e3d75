/** The recorded calls about leases and watches, in their order. */
import type { Calls } from "./keys.ts";
import type { Answer, Fields, Player } from "./player.ts";

/** Calls of `Lease`. */
export function leaseCalls(player: Player): Calls {
  const ask = (method: string, fields: Fields) => player.ask("Lease", `Lease${method}`, fields);
  const put = (key: string, more: Fields = {}) =>
    player.ask("KV", "Put", { key, value: "1", ...more });
  const grant = async (TTL: number) => {
    const { header: _, ID: __, ...answer } = await ask("Grant", { TTL });
    return answer;
  };
  const timeToLive = (ID: number, keys = false) => ask("TimeToLive", { ID, keys });
  const keysOf = async (ID: number) => (await timeToLive(ID, true)).keys;
  const revision = async () => (await player.ask("KV", "Range", { key: "a" })).header.revision;
  let before: string;
  let after: string;
  return {
    "grant TTL 0": () => grant(0),
    "grant TTL -1": () => grant(-1),
    "grant TTL 1": () => grant(1),
    "grant TTL 2": () => grant(2),
    "grant TTL 3": () => grant(3),
    "grant too large": () => ask("Grant", { TTL: 9_000_000_001 }),
    "grant max": async () => (await grant(9_000_000_000)).TTL,
    "grant ID 77": () => ask("Grant", { ID: 77, TTL: 60 }),
    "grant ID 77 again": () => ask("Grant", { ID: 77, TTL: 60 }),
    "grant ID -5": () => ask("Grant", { ID: -5, TTL: 60 }),
    "ttl keys": async () => {
      await put("l/1", { lease: 77 });
      await put("l/2", { lease: 77 });
      const answer = await timeToLive(77, true);
      return { ...answer, keys: answer.keys.sort() };
    },
    "ttl after 1.2s": () => timeToLive(77),
    "ttl missing": () => timeToLive(4242),
    "revoke missing": () => ask("Revoke", { ID: 4242 }),
    "ttl ID 0": () => timeToLive(0),
    "revoke ID 0": () => ask("Revoke", { ID: 0 }),
    "revoke 77": async () => {
      before = await revision();
      const answer = await ask("Revoke", { ID: 77 });
      after = await revision();
      return answer;
    },
    "rev before/after revoke of 2 keys": () => Promise.resolve([Number(before), Number(after)]),
    "revoke lease w/o keys header": async () => {
      await ask("Grant", { ID: 78, TTL: 60 });
      const before = await revision();
      const answer = await ask("Revoke", { ID: 78 });
      return [before, answer, await revision()];
    },
    "switch lease: keys of old": async () => {
      for (const ID of [90, 91]) await ask("Grant", { ID, TTL: 60 });
      await put("sw", { lease: 90 });
      await put("sw", { lease: 91 });
      return await keysOf(90);
    },
    "put w/o lease detaches: keys of 91": async () => {
      await put("sw");
      return await keysOf(91);
    },
    "ignore_lease keeps": async () => {
      await put("sw", { lease: 90 });
      await put("sw", { ignoreLease: true });
      return await keysOf(90);
    },
    "leases": async () => {
      const { leases, header } = await ask("Leases", {});
      return { leases: leases.length, header };
    },
    "keepalive stream [90, missing, 0]": async () => {
      const stream = await player.open("Lease", "LeaseKeepAlive");
      for (const ID of [90, 4242, 0]) await stream.send({ ID });
      const answers = await stream.answers(3);
      await stream.close();
      return [...answers, "end"];
    },
  };
}

/** Calls of `Watch`. */
export function watchCalls(player: Player): Calls {
  const put = (key: string, value: string, more: Fields = {}) =>
    player.ask("KV", "Put", { key, value, ...more });
  const remove = (key: string) => player.ask("KV", "DeleteRange", { key });
  const lease = (method: string, fields: Fields) => player.ask("Lease", `Lease${method}`, fields);
  const W = { key: "w/", rangeEnd: "w0" };
  const watch = player.watch.bind(player);
  const progress = { progressRequest: {} };
  return {
    "watch create + put + del": (recorded) =>
      watch([W], recorded, async () => {
        await put("w/1", "A");
        await remove("w/1");
      }),
    "watch prev_kv": (recorded) =>
      watch([{ ...W, prevKv: true }], recorded, async () => {
        await put("w/2", "A");
        await put("w/2", "B");
        await remove("w/2");
      }),
    "watch compacted (start 1)": (recorded) => watch([{ ...W, startRevision: 1 }], recorded),
    "watch negative start": (recorded) => watch([{ ...W, startRevision: -1 }], recorded),
    "watch future start": (recorded) =>
      watch([{ ...W, startRevision: 34 }], recorded, async () => {
        for (const value of ["1", "2", "3", "4"]) await put("w/f", value);
      }),
    "watch wrong range (end<key)": (recorded) => watch([{ key: "b", rangeEnd: "a" }], recorded),
    "watch key==end": (recorded) => watch([{ key: "a", rangeEnd: "a" }], recorded),
    "watch empty key single": (recorded) => watch([{ key: "" }], recorded, () => put("w/x", "0")),
    'watch "" to \\0 (all)': (recorded) =>
      watch([{ key: "", rangeEnd: "\0" }], recorded, () => put("w/x", "1")),
    "watch ids: two auto + dup explicit": (recorded) =>
      watch(
        [W, W, { ...W, watchId: 7 }, { ...W, watchId: 7 }, W],
        recorded,
        () => put("w/1", "m"),
      ),
    "watch cancel": (recorded) =>
      watch([W], recorded, (send) => send({ cancelRequest: { watchId: 0 } })),
    "progress no watcher": (recorded) => watch([], recorded, (send) => send(progress)),
    "progress 1 watcher": (recorded) => watch([W], recorded, (send) => send(progress)),
    "progress 2 watchers": (recorded) => watch([W, W], recorded, (send) => send(progress)),
    "progress right after unsynced create": (recorded) =>
      watch([{ ...W, key: "none", rangeEnd: "none2", startRevision: 19 }], recorded, async (
        send,
      ) => {
        await send(progress);
        await send(progress);
      }),
    "filters NOPUT": (recorded) =>
      watch([{ ...W, filters: [0] }], recorded, async () => {
        await put("w/3", "A");
        await remove("w/3");
      }),
    "filters both": (recorded) =>
      watch([{ ...W, filters: [0, 1] }], recorded, async () => {
        await put("w/3", "A");
        await remove("w/3");
      }),
    "txn events one response": (recorded) =>
      watch([{ key: "tx/", rangeEnd: "tx0" }], recorded, () =>
        player.ask("KV", "Txn", {
          success: ["tx/b", "tx/a"].map((key) => ({ requestPut: { key, value: "v" } })),
        })),
    "lease revoke events": (recorded) =>
      watch([{ key: "lr/", rangeEnd: "lr0" }], recorded, async () => {
        await lease("Grant", { ID: 100, TTL: 60 });
        await put("lr/b", "1", { lease: 100 });
        await put("lr/a", "1", { lease: 100 });
        await lease("Revoke", { ID: 100 });
      }),
    "lease expiry (TTL 1 asked)": (recorded) =>
      watch([{ key: "le/", rangeEnd: "le0" }], recorded, async () => {
        await lease("Grant", { ID: 101, TTL: 1 });
        await put("le/1", "1", { lease: 101 });
      }),
    "history replay batches": async (recorded) => {
      await put("h/1", "a");
      await put("h/1", "b");
      await put("h/2", "c");
      await remove("h/1");
      return await watch([{ key: "h/", rangeEnd: "h0", startRevision: 49 }], recorded);
    },
    "hasleader ok": (recorded: Answer) => watch([W], recorded, undefined, { hasleader: "true" }),
  };
}
