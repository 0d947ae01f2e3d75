/**
 * Snapshots: written here and restored here, and exchanged with a real etcd.
 *
 * @module
 */
import { assertEquals, assertThrows } from "@std/assert";
import { kv } from "@sluice/sluice";
import { listen } from "../../../kv/server/mod.ts";
import { Etcd, findEtcd } from "../../../support/etcd.ts";
import { peerTest } from "../../../support/peers.ts";
import { Random } from "../../../support/random.ts";
import { ProgramMaker, Target } from "./programs.ts";

const needs = [
  ["etcd", await findEtcd(), "install etcd-server, or set ETCD to the program"],
] as const;

const HASH = { service: "Maintenance", method: "HashKV", request: { revision: 0n } } as const;

/** Runs a random program, and says up to which revision. */
async function run(endpoint: string, seed: number, steps: number): Promise<void> {
  await using target = new Target(endpoint);
  const maker = new ProgramMaker(new Random(seed));
  for (let i = 0; i < steps; i++) {
    const answer = await target.ask(maker.step());
    maker.revision = Number(/"header":\{"revision":"(\d+)"/.exec(answer)?.[1] ?? maker.revision);
  }
}

/** What a store holds: the checksum of its history, its leases, what can be read of it. */
async function held(endpoint: string): Promise<string[]> {
  await using target = new Target(endpoint);
  const { hash } = JSON.parse(await target.ask(HASH));
  const leases = await target.ask({ service: "Lease", method: "LeaseLeases", request: {} });
  const key = Uint8Array.of(0);
  const all = await target.ask({
    service: "KV",
    method: "Range",
    request: { key, rangeEnd: key },
  });
  return [String(hash), leases, all];
}

for (const [seed, steps] of [[1, 0], [2, 30], [3, 400], [4, 1_500]] as const) {
  Deno.test(`a snapshot of ${steps} steps is restored`, async () => {
    await using first = listen();
    await run(first.addr, seed, steps);
    await using second = listen({ snapshot: await first.snapshot() });
    assertEquals(await held(second.addr), await held(first.addr));
    await run(second.addr, seed + 100, 100);
    await using third = listen({ snapshot: await second.snapshot() });
    assertEquals(await held(third.addr), await held(second.addr));
  });
}

peerTest("a snapshot of etcd is restored", { needs }, async () => {
  await using etcd = await Etcd.start();
  await run(etcd.endpoint, 5, 800);
  await using client = kv.newClient({ endpoints: [etcd.endpoint] });
  const snapshot = await client.maintenance.snapshot();
  const bytes = await new Response(snapshot.body).bytes();
  await using store = listen({ snapshot: bytes });
  assertEquals(await held(store.addr), await held(etcd.endpoint));
});

Deno.test("a snapshot that is damaged is refused, wherever the damage is", async () => {
  await using store = listen();
  await run(store.addr, 6, 200);
  const bytes = await store.snapshot();
  const random = new Random(7);
  for (let i = 0; i < 200; i++) {
    const damaged = bytes.slice();
    damaged[random.below(damaged.length)]! ^= 1 << random.below(8);
    assertThrows(() => listen({ snapshot: damaged }), RangeError);
  }
  for (let i = 0; i < 50; i++) {
    assertThrows(
      () => listen({ snapshot: bytes.subarray(0, random.below(bytes.length)) }),
      RangeError,
    );
  }
});
