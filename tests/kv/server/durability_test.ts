/**
 * What outlives a store: kills, damage, full disks, and a second store on the same folder.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { kv } from "@sluice/sluice";
import { listen } from "../../../kv/server/mod.ts";
import { StoreDamagedError } from "../../../kv/server/log/error.ts";
import { Journal } from "../../../kv/server/log/journal.ts";
import type { JournalRecord } from "../../../kv/server/log/records.ts";
import { setImmediate } from "node:timers";
import { Random } from "../../../support/random.ts";
import { peerTest } from "../../../support/peers.ts";
import { Process, run, which } from "../../../support/process.ts";
import { killAgainAndAgain, START_MS, storeCommand, StoreProcess } from "./durability.ts";

/** A temporary folder. */
async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.makeTempDir({ prefix: "store" });
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

Deno.test("what was acknowledged is there after kills at random moments, and nothing by half", async () => {
  await using temporary = await folder();
  const { writes, wrong } = await killAgainAndAgain(
    `${temporary.path}/data`,
    new Random(2),
    4,
    1_200,
  );
  assertEquals(wrong, []);
  assert(writes > 0);
});

/** Fills a store and gives what each revision put. */
async function fill(path: string, steps: number): Promise<string[]> {
  await using store = listen({ path });
  await using client = kv.newClient({ endpoints: [store.addr] });
  const random = new Random(9);
  const put: string[] = ["", ""];
  for (let i = 0; i < steps; i++) {
    const value = `${i}`.repeat(1 + random.below(200));
    await client.put({ key: `k${random.below(10)}`, value });
    put.push(value);
  }
  return put;
}

/** Opens a store and says up to which revision it has everything; throws what it throws. */
async function read(path: string, put: readonly string[]): Promise<number> {
  await using store = listen({ path });
  await using client = kv.newClient({ endpoints: [store.addr] });
  const { header, kvs } = await client.get({ key: "", prefix: true });
  for (const { modRevision, value } of kvs) assertEquals(value, put[Number(modRevision)]);
  return Number(header.revision);
}

Deno.test("files that are torn or have a wrong bit are reported, or nothing of them is missing", async () => {
  await using temporary = await folder();
  const path = `${temporary.path}/data`;
  const put = await fill(path, 150);
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  for await (const { name } of Deno.readDir(path)) {
    if (name !== "lock") files.set(name, await Deno.readFile(`${path}/${name}`));
  }
  const names = [...files.keys()];
  const random = new Random(10);
  let reported = 0;
  for (let i = 0; i < 200; i++) {
    const name = i % 20 === 0 ? names.find((one) => one.endsWith(".mark"))! : "journal-1";
    const whole = files.get(name)!;
    const damaged = whole.slice();
    const at = random.below(whole.length);
    damaged[at]! ^= 1 << random.below(8);
    const bytes = i % 3 === 0 ? whole.subarray(0, at) : damaged;
    for (const [other, content] of files) await Deno.writeFile(`${path}/${other}`, content);
    await Deno.writeFile(`${path}/${name}`, bytes);
    try {
      assertEquals(await read(path, put), put.length - 1, `${name} at ${at}`);
    } catch (error) {
      if (!(error instanceof StoreDamagedError)) throw error;
      assertMatch(error.message, /is damaged at byte \d+/);
      reported++;
    }
  }
  assert(reported > 150, `${reported} reported`);
});

Deno.test("a store that is open is refused to a second one", async () => {
  await using temporary = await folder();
  const path = `${temporary.path}/data`;
  await using _store = listen({ path });
  assertThrows(() => listen({ path }), Deno.errors.AddrInUse, "is in use by another");
  await using other = await StoreProcess.start(path).then(
    () => undefined,
    (error) => ({ error, [Symbol.asyncDispose]: () => Promise.resolve() }),
  );
  assertMatch(String(other!.error), /is in use by another/);
});

Deno.test("a store whose disk is full refuses, says so, and keeps what it acknowledged", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using temporary = await folder();
  const path = `${temporary.path}/data`;
  let acknowledged = 0;
  {
    // Files of at most so many blocks; the signal for more is ignored, so that writes fail instead.
    await using store = await StoreProcess.start(path, "trap '' XFSZ; ulimit -f 400;");
    await using client = kv.newClient({ endpoints: [store.endpoint], retry: 0, timeout: 5 });
    for (;;) {
      const [, error] = await kv.attempt(
        client.put({ key: `k${acknowledged}`, value: "x".repeat(2_000) }),
      );
      if (error !== undefined) break;
      acknowledged++;
    }
    const [, again] = await kv.attempt(client.put({ key: "more", value: "x" }));
    assert(again !== undefined, "a store that failed took another write");
    const [, seen] = await kv.attempt(client.get({ key: "k0" }));
    assert(seen !== undefined, "a store that failed answered a read");
    await store.process.waitFor(/cannot be written any more/);
  }
  assert(acknowledged > 10, `${acknowledged} writes`);
  await using store = listen({ path });
  await using client = kv.newClient({ endpoints: [store.addr] });
  const { count } = await client.get({ key: "k", prefix: true, countOnly: true });
  assert(Number(count) >= acknowledged, `${count} of ${acknowledged} are there`);
});

Deno.test("every record is written, whoever asks for it to be durable and when", async () => {
  await using temporary = await folder();
  const path = `${temporary.path}/data`;
  const failed = (error: unknown): never => {
    throw error;
  };
  const random = new Random(12);
  const journal = Journal.open(path, () => {}, failed);
  let appended = 0;
  const append = (): Promise<void> => {
    journal.append({ kind: "grant", id: BigInt(++appended), ttl: 60 });
    return journal.durable();
  };
  // One comes in the very turn in which a sync has ended, before those who wait for the next one.
  const first = append();
  const after = first.then(async () => {
    const next = append();
    for (let i = 0; i < 20; i++) await Promise.resolve();
    await append();
    await next;
  });
  await Promise.all([append(), after]);
  await Promise.all(Array.from({ length: 40 }, async () => {
    for (let i = 0; i < 50; i++) {
      if (random.below(3) > 0) await new Promise((resolve) => setImmediate(resolve));
      await append();
    }
  }));
  const { length } = journal;
  await journal.close();
  let found = 0;
  const again = Journal.open(path, () => found++, failed);
  assertEquals([found, again.length], [appended, length]);
  await again.close();
});

Deno.test("a journal that is replaced again and again, and while it is, holds every record", async () => {
  await using temporary = await folder();
  const path = `${temporary.path}/data`;
  const failed = (error: unknown): never => {
    throw error;
  };
  const journal = Journal.open(path, () => {}, failed);
  let appended = 0;
  const append = (): void => journal.append({ kind: "grant", id: BigInt(++appended), ttl: 60 });
  const base = (last: number): Iterable<JournalRecord> =>
    Array.from({ length: last }, (_, i) => ({ kind: "grant", id: BigInt(i + 1), ttl: 60 }));
  for (let i = 0; i < 1_000; i++) append();
  await journal.durable();
  let replaced = 0;
  for (let round = 0; round < 20; round++) {
    let done = false;
    const first = journal.replace(base(appended)).then((value) => {
      done = true;
      return value;
    });
    // Others ask for the same at every moment, with more to write than it has.
    const others: Promise<boolean>[] = [];
    while (!done) {
      append();
      others.push(journal.replace(base(appended)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert(await first);
    replaced += 1 + (await Promise.all(others)).filter((value) => value).length;
    await journal.durable();
  }
  assert(replaced >= 20);
  await journal.close();
  const found: bigint[] = [];
  const again = Journal.open(path, (record) => {
    if (record.kind === "grant") found.push(record.id);
  }, failed);
  await again.close();
  assertEquals(found.length, appended);
  assertEquals(found, Array.from({ length: appended }, (_, i) => BigInt(i + 1)));
});

/** How a program gets mounts of its own: by a namespace of users, or as root without one. */
async function ownMounts(): Promise<readonly string[] | undefined> {
  if (await which("unshare") === undefined) return undefined;
  const mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", "/tmp"];
  for (const flags of ["-Urm", "-m"]) {
    if ((await run({ command: "unshare", args: [flags, ...mount] })).code === 0) {
      return ["unshare", flags];
    }
  }
  return undefined;
}

const mounts = await ownMounts();

peerTest(
  "a store on a small file system that fills up refuses, says so, and keeps what it acknowledged",
  {
    needs: [[
      "mounts of its own",
      mounts?.[1],
      "install util-linux, and allow namespaces of users",
    ]],
  },
  async () => {
    await using temporary = await folder();
    const { path } = temporary;
    // Once it has given up, there is room again, and another one is started in its place.
    await using process = new Process({
      command: mounts![0]!,
      args: [
        mounts![1]!,
        "sh",
        "-c",
        `mount -t tmpfs -o size=3m none ${path} && head -c 1500000 /dev/zero >${path}/ballast && ` +
        `${storeCommand(`${path}/data`)}; rm ${path}/ballast; exec ${storeCommand(`${path}/data`)}`,
      ],
    });
    const first = (await process.waitFor(/http:\/\/(\S+)/, START_MS))[1]!;
    let acknowledged = 0;
    {
      await using client = kv.newClient({ endpoints: [first], retry: 0, timeout: 5 });
      for (;;) {
        const [, error] = await kv.attempt(
          client.put({ key: `k${acknowledged}`, value: "x".repeat(2_000) }),
        );
        if (error !== undefined) break;
        acknowledged++;
      }
    }
    await process.waitFor(/cannot be written any more.*No space left/);
    assert(acknowledged > 100, `${acknowledged} writes`);
    const second = (await process.waitFor(/No space left[^]*http:\/\/(\S+)/, START_MS))[1]!;
    await using client = kv.newClient({ endpoints: [second] });
    const { count } = await client.get({ key: "k", prefix: true, countOnly: true });
    assert(Number(count) >= acknowledged, `${count} of ${acknowledged} are there`);
    await client.put({ key: "more", value: "x" });
  },
);
