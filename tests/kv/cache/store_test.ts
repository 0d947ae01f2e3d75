import { assert, assertEquals } from "@std/assert";
import { binaryOf, bytesOf } from "../../../kv/binary.ts";
import { EventQueue } from "../../../kv/cache/event_queue.ts";
import { RevisionWaits } from "../../../kv/cache/revision_waits.ts";
import { Entry, KeyStore } from "../../../kv/cache/store.ts";
import { type KeyValue, keyValueOf } from "../../../kv/key_value.ts";
import { Random } from "../../../support/random.ts";

const encoder = new TextEncoder();

function kvOf(key: Uint8Array, value: Uint8Array, revision: bigint): KeyValue {
  return keyValueOf({
    key,
    value,
    createRevision: 1n,
    modRevision: revision,
    version: 3n,
    lease: 2n ** 62n + revision,
  });
}

function entryOf(key: string, value = "", revision = 1n): Entry {
  return new Entry(kvOf(bytesOf(key), encoder.encode(value), revision));
}

/** A key of few bytes, among them the least and the greatest. */
function someKey(random: Random, letters: number): string {
  const length = 1 + random.below(4);
  return String.fromCharCode(
    ...Array.from({ length }, () => random.pick([0, 97, 98, 255, random.below(letters)])),
  );
}

for (const [seed, letters, steps] of [[1, 3, 4_000], [2, 256, 30_000], [3, 40, 30_000]] as const) {
  Deno.test(`a store holds what a sorted list would (seed ${seed})`, () => {
    const random = new Random(seed);
    const store = new KeyStore();
    const model = new Map<string, Entry>();
    const sorted = () => [...model.keys()].sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
    const check = () => {
      const keys = sorted();
      const range = (from: string, end: string | null, reverse: boolean) =>
        [...store.range({ from, end, reverse })].map(({ key }) => key);
      assertEquals(range("", null, false), keys);
      for (let i = 0; i < 5; i++) {
        const from = someKey(random, letters);
        const end = random.below(4) === 0 ? null : someKey(random, letters);
        const expected = keys.filter((key) => key >= from && (end === null || key < end));
        assertEquals(range(from, end, false), expected);
        assertEquals(range(from, end, true), expected.reverse());
      }
    };
    for (let step = 0; step < steps; step++) {
      const key = someKey(random, letters);
      // It grows and shrinks in turn.
      if (random.below(10) < (Math.floor(step / (steps / 4)) % 2 === 0 ? 8 : 2)) {
        const entry = entryOf(key, "v".repeat(random.below(20)), BigInt(step));
        assert(store.put(entry) === model.get(key));
        model.set(key, entry);
      } else {
        assert(store.delete(key) === model.get(key));
        model.delete(key);
      }
      const other = someKey(random, letters);
      assert(store.get(other) === model.get(other));
      assertEquals(store.size, model.size);
      if (step % (steps / 8) === 0) check();
    }
    check();
    assertEquals(store.bytes, [...model.values()].reduce((sum, { bytes }) => sum + bytes, 0));
    for (const key of sorted()) store.delete(key);
    assertEquals([store.size, store.bytes, [
      ...store.range({ from: "", end: null, reverse: false }),
    ]], [
      0,
      0,
      [],
    ]);
  });

  Deno.test(`a store that changes while it is gone through gives each key once (seed ${seed})`, () => {
    const random = new Random(seed);
    for (let round = 0; round < 30; round++) {
      const store = new KeyStore();
      for (let i = 0; i < 1_500; i++) store.put(entryOf(someKey(random, letters)));
      const reverse = round % 2 === 1;
      const before = [...store.range({ from: "", end: null, reverse })].map(({ key }) => key);
      const touched = new Set<string>();
      const seen: string[] = [];
      for (const { key } of store.range({ from: "", end: null, reverse })) {
        seen.push(key);
        if (random.below(3) > 0) continue;
        const other = someKey(random, letters);
        touched.add(other);
        if (random.below(2) === 0) {
          store.delete(random.below(4) === 0 ? (touched.add(key), key) : other);
        } else store.put(entryOf(other));
      }
      for (let i = 1; i < seen.length; i++) {
        assert(reverse ? seen[i]! < seen[i - 1]! : seen[i]! > seen[i - 1]!, "out of order");
      }
      const untouched = before.filter((key) => !touched.has(key));
      const given = new Set(seen);
      assertEquals(untouched.filter((key) => !given.has(key)), []);
    }
  });
}

Deno.test("an entry gives back what was put in, byte by byte and number by number", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const large = new Uint8Array(300_000).map((_, i) => i * 7);
  for (const value of [new Uint8Array(0), bytes, large, encoder.encode("héllo ✓")]) {
    for (const revision of [1n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 61n]) {
      const kv = kvOf(bytes, value, revision);
      const back = new Entry(kv).toKeyValue();
      assertEquals(back.keyBytes, kv.keyBytes);
      assertEquals(back.valueBytes, value);
      assertEquals(
        [back.modRevision, back.createRevision, back.version, back.lease],
        [revision, 1n, 3, 2n ** 62n + revision],
      );
    }
  }
  const negative = keyValueOf({
    key: bytes,
    value: bytes,
    createRevision: 1n,
    modRevision: 1n,
    version: 1n,
    lease: -5n,
  });
  assertEquals(new Entry(negative).toKeyValue().lease, -5n);
});

Deno.test("binary texts order as bytes do", () => {
  for (const text of ["", "a", "é", "✓", "\u{1f600}", "\ufeffa", "\0", "a\xff"]) {
    assertEquals(bytesOf(binaryOf(text)), encoder.encode(text));
    assertEquals(binaryOf(encoder.encode(text)), binaryOf(text));
  }
  assert(binaryOf(Uint8Array.of(0x7f)) < binaryOf(Uint8Array.of(0x80)));
  assert(binaryOf(Uint8Array.of(0xff)) > binaryOf(Uint8Array.of(0xfe, 0xff)));
});

Deno.test("waits for revisions end in the order of revisions, each once, or by their signal", async () => {
  const random = new Random(5);
  const waits = new RevisionWaits();
  const done: bigint[] = [];
  const given = new AbortController();
  const never = new AbortController();
  const all: Promise<unknown>[] = [];
  for (let i = 0; i < 500; i++) {
    const revision = BigInt(random.below(100));
    const abandoned = i % 7 === 0;
    all.push(
      waits.wait(revision, abandoned ? given.signal : never.signal).then(
        () => done.push(revision),
        (error) => assertEquals([abandoned, error], [true, "enough"]),
      ),
    );
  }
  given.abort("enough");
  for (let revision = 0n; revision < 100n; revision += 10n) {
    waits.reach(revision);
    await Promise.resolve();
    assert(done.every((one) => one <= revision));
  }
  waits.reach(99n);
  await Promise.all(all);
  assertEquals(done, done.toSorted((a, b) => Number(a - b)));
  const failing = waits.wait(200n, never.signal).catch((error) => error);
  waits.fail("over");
  assertEquals(await failing, "over");
});

Deno.test("a queue of events that runs over tells so once, and goes on behind it", async () => {
  let revision = 7n;
  const queue = new EventQueue(3, () => revision);
  const event = (revision: bigint) =>
    ({ type: "add", kv: entryOf("a").toKeyValue(), revision }) as const;
  for (let i = 1n; i <= 3n; i++) queue.push(event(i));
  assertEquals((await queue.read())!.revision, 1n);
  queue.push(event(4n));
  queue.push(event(5n));
  queue.push(event(6n));
  revision = 9n;
  assertEquals(await queue.read(), { type: "resync", reason: "overflow", revision: 9n });
  const reading = queue.read();
  queue.push(event(10n));
  assertEquals((await reading)!.revision, 10n);
  for (let i = 0n; i < 100n; i++) {
    queue.push(event(i));
    assertEquals((await queue.read())!.revision, i);
  }
  queue.push(event(11n));
  queue.finish();
  assertEquals((await queue.read())!.revision, 11n);
  assertEquals(await queue.read(), null);
});
