/** Whether the judge notices: reports of real rounds, each with one thing in it that never happened. */
import { assert, assertEquals } from "@std/assert";
import { STORE } from "../../../support/etcd.ts";
import { peerTest } from "../../../support/peers.ts";
import { JUDGE, judge, JUDGED_ETCD } from "./judge.ts";
import {
  type ClientRecord,
  type EventRecord,
  type KeyRecord,
  type LookRecord,
  type Operation,
  type ResponseRecord,
  valueOf,
  type WatchRecord,
  writeReport,
} from "./record.ts";
import { playRound } from "./round.ts";

const needs = [
  [
    "kv_judge",
    JUDGE,
    "run tests/conformance/kv/fetch.sh FOLDER/bin 3.7.3, set SLUICE_PEERS=FOLDER",
  ],
  ["etcd 3.6 or 3.7", JUDGED_ETCD, "the same"],
] as const;

/** Changes a report. Returns whether it had what is changed. */
type Plant = (clients: readonly ClientRecord[]) => boolean;

/** Changes the first thing that fits. */
function first<T>(things: Iterable<T>, change: (thing: T) => boolean): boolean {
  for (const thing of things) if (change(thing)) return true;
  return false;
}

function* operations(clients: readonly ClientRecord[]): Iterable<Operation> {
  for (const { operations } of clients) yield* operations;
}

/** Reads that found something; of the past or of the present. */
function* reads(clients: readonly ClientRecord[], past: boolean): Iterable<Operation> {
  for (const operation of operations(clients)) {
    const { Input, Output } = operation;
    if (Input.Type !== "range" || Output.Range === undefined || !Output.Range.KVs[0]) continue;
    if (Input.Range.KeysOnly === true) continue;
    const asked = Input.Range.Revision ?? 0;
    if (past ? asked > 0 && asked < Output.Revision! : asked === 0) yield operation;
  }
}

/** Scans. */
function* scans(clients: readonly ClientRecord[]): Iterable<Operation> {
  for (const operation of operations(clients)) {
    const { Input, Output } = operation;
    if (Input.Type !== "range" || !Output.Range?.KVs[1]) continue;
    if (Input.Range.Revision !== undefined && Input.Range.Revision === Output.Revision) {
      yield operation;
    }
  }
}

/** What caches showed. */
function* looks(clients: readonly ClientRecord[]): Iterable<LookRecord> {
  for (const { looks } of clients) yield* looks.filter(({ Range }) => Range.KVs[1] !== undefined);
}

function* watches(clients: readonly ClientRecord[]): Iterable<WatchRecord> {
  for (const { watches } of clients) {
    for (const watch of watches) {
      if (watch.Responses.filter(({ Events }) => Events.length > 0).length >= 5) yield watch;
    }
  }
}

function* responses(clients: readonly ClientRecord[]): Iterable<ResponseRecord> {
  for (const { Responses } of watches(clients)) {
    yield* Responses.filter(({ Events }) => Events.length > 0).slice(1, -1);
  }
}

function* events(clients: readonly ClientRecord[]): Iterable<EventRecord> {
  for (const { Events } of responses(clients)) yield* Events;
}

const PLANTS: Readonly<Record<string, Plant>> = {
  "a stale read": (clients) =>
    first(reads(clients, false), ({ Output }) => {
      Output.Range!.KVs[0]!.Value = valueOf("never written");
      return true;
    }),
  "a read of a state that is over": (clients) => {
    // What one read found, given as the answer of a later one.
    const seen = new Map<string, Operation>();
    return first(reads(clients, false), (later) => {
      const key = JSON.stringify(later.Input);
      const earlier = seen.get(key);
      seen.set(key, earlier ?? later);
      if (earlier === undefined || earlier.Output.Revision === later.Output.Revision) return false;
      if (earlier.Return >= later.Call) return false;
      later.Output = structuredClone(earlier.Output);
      return true;
    });
  },
  "a wrong revision": (clients) =>
    first(operations(clients), ({ Input, Output }) => {
      if (Input.Type !== "txn" || Output.Txn === undefined || Output.Revision! < 10) return false;
      Output.Revision! += 1;
      return true;
    }),
  "a write that was never carried out": (clients) =>
    first(operations(clients), ({ Input, Output }) => {
      const put = Input.Type === "txn" ? Input.Txn.OperationsOnSuccess[0] : undefined;
      if (put?.Type !== "put-operation" || Output.Txn === undefined) return false;
      put.Put.Value = valueOf("lost");
      return true;
    }),
  "a write that was carried out though it failed": (clients) =>
    first(clients, ({ operations }) => {
      const at = operations.findIndex(({ Input, Output }) =>
        Input.Type === "txn" && Input.Txn.OperationsOnSuccess[0]?.Type === "put-operation" &&
        Input.Txn.Conditions.length === 0 && Output.Txn !== undefined
      );
      if (at >= 0) operations.splice(at, 1);
      return at >= 0;
    }),
  "a condition that did not hold": (clients) =>
    first(operations(clients), ({ Input, Output }) => {
      if (Input.Type !== "txn" || Output.Txn?.Failure !== false) return false;
      if (Input.Txn.Conditions.length === 0) return false;
      Output.Txn.Failure = true;
      return true;
    }),
  "a lost first event": (clients) =>
    first(watches(clients), ({ Request, Responses }) => {
      if (Request.Revision === 0) return false;
      const { Events } = Responses.find(({ Events }) => Events.length > 0)!;
      return Events.splice(0, 1).length === 1;
    }),
  "a lost middle event": (clients) =>
    first(responses(clients), ({ Events }) => Events.splice(0, 1).length === 1),
  "a lost response": (clients) =>
    first(watches(clients), ({ Responses }) => {
      const at = Responses.findIndex(({ Events }, i) => i > 0 && Events.length > 0);
      return Responses.splice(at, 1).length === 1;
    }),
  "two events in the wrong order": (clients) =>
    first(watches(clients), ({ Responses }) => {
      const [one, other] = Responses.filter(({ Events }) => Events.length > 0);
      [one!.Events, other!.Events] = [other!.Events, one!.Events];
      return true;
    }),
  "an event twice": (clients) =>
    first(responses(clients), (response) => {
      response.Events.push(structuredClone(response.Events.at(-1)!));
      return true;
    }),
  "a response twice": (clients) =>
    first(watches(clients), ({ Responses }) => {
      const at = Responses.findIndex(({ Events }, i) => i > 0 && Events.length > 0);
      Responses.splice(at, 0, structuredClone(Responses[at]!));
      return true;
    }),
  "a revision that is torn apart": (clients) =>
    first(watches(clients), ({ Responses }) => {
      const at = Responses.findIndex(({ Events }) =>
        Events.length > 1 && Events[0]!.Revision === Events[1]!.Revision
      );
      if (at < 0) return false;
      const whole = Responses[at]!;
      Responses.splice(at, 0, { ...whole, Events: whole.Events.splice(0, 1) });
      return true;
    }),
  "an event of a foreign key": (clients) =>
    first(events(clients), (event) => {
      event.Key = "foreign";
      return true;
    }),
  "an event with another value": (clients) =>
    first(events(clients), (event) => {
      if (event.Type !== "put-operation") return false;
      event.Value = valueOf("other");
      return true;
    }),
  "a wrong previous value": (clients) =>
    first(events(clients), ({ PrevValue }) => {
      if (PrevValue === undefined) return false;
      PrevValue.Value = valueOf("other");
      return true;
    }),
  "a previous value of a key that was not there": (clients) =>
    first(watches(clients), ({ Request, Responses }) =>
      Request.WithPrevKV && first(
        Responses.flatMap(({ Events }) => Events),
        (event) => {
          if (!event.IsCreate) return false;
          event.PrevValue = { Value: valueOf("x"), ModRevision: 2, Version: 1 };
          return true;
        },
      )),
  "an update told as a creation": (clients) =>
    first(events(clients), (event) => {
      if (event.Type !== "put-operation" || event.IsCreate) return false;
      return event.IsCreate = true;
    }),
  "progress ahead of an event": (clients) =>
    first(watches(clients), ({ Responses }) => {
      const at = Responses.findIndex(({ Events }, i) => i > 0 && Events.length > 0);
      const Revision = Responses[at]!.Events.at(-1)!.Revision;
      Responses.splice(at, 0, { Events: [], IsProgressNotify: true, Revision, Time: 1 });
      return true;
    }),
  "a scan that misses a key": (clients) =>
    first(scans(clients), ({ Output }) => {
      Output.Range!.KVs.splice(1, 1);
      Output.Range!.Count -= 1;
      return true;
    }),
  "a cache that misses a key": (clients) =>
    first(looks(clients), ({ Range }) => {
      Range.KVs.splice(1, 1);
      Range.Count -= 1;
      return true;
    }),
  "a cache with a value of another time": (clients) =>
    first(looks(clients), ({ Range }) => {
      Range.KVs[1]!.ModRevision -= 1;
      return true;
    }),
  "a wrong read of the past": (clients) =>
    first(reads(clients, true), ({ Output }) => {
      Output.Range!.KVs[0]!.Version += 1;
      return true;
    }),
  "a read of the past that misses a key": (clients) =>
    first(reads(clients, true), ({ Output }) => {
      Output.Range!.KVs.splice(0, 1) satisfies KeyRecord[];
      Output.Range!.Count -= 1;
      return true;
    }),
};

peerTest("judge", { needs }, async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-report" });
  // Without faults no outcome is open: then a fault that is planted is found at once.
  const options = { etcd: JUDGED_ETCD!, seed: 7, members: 1, faults: 0 };
  const { clients } = await playRound(options, folder);
  try {
    await t.step("accepts what a real round did", async () => {
      const { held, text } = await judge(JUDGE!, folder);
      assert(held, text);
    });
    for (const [name, plant] of Object.entries(PLANTS)) {
      await t.step(`refuses ${name}`, async () => {
        const planted = structuredClone(clients);
        assert(plant(planted), "the round had nothing to change");
        await writeReport(folder, planted);
        assertEquals((await judge(JUDGE!, folder)).held, false);
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

peerTest("a round on the store, which is killed meanwhile, is judged to hold", {
  needs: [needs[0]],
}, async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-report" });
  try {
    const { faults } = await playRound({ etcd: STORE, seed: 3, members: 1, faults: 4 }, folder);
    assert(faults.includes("kill"), faults.join());
    const { held, text } = await judge(JUDGE!, folder);
    assert(held, text);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
