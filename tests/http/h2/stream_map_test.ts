import { assertEquals } from "@std/assert";
import { Stream } from "../../../http/h2/stream.ts";
import { StreamMap } from "../../../http/h2/stream_map.ts";
import type { EngineRecord } from "../../../http/h2/stream_record.ts";
import { Random } from "../../../support/random.ts";

class Dummy extends Stream {
  constructor(id: number) {
    super();
    (this as EngineRecord).id = id;
  }
  onHeaders(): void {}
  onData(): void {}
  onEnd(): void {}
  onReset(): void {}
}

Deno.test("StreamMap does what a Map does, whatever comes and goes", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = new Random(seed);
    const map = new StreamMap();
    const model = new Map<number, Stream>();
    let id = 1;
    for (let step = 0; step < 2000; step++) {
      if (random.next() < (model.size < 100 ? 0.6 : 0.4)) {
        // Now and then far ahead, so that old and new ids meet in the same slots.
        id += random.next() < 0.02 ? 2 * random.below(100_000) : 2;
        const stream = new Dummy(id);
        map.add(id, stream);
        model.set(id, stream);
      } else {
        const victim = random.next() < 0.9 && model.size > 0
          ? random.pick([...model.keys()])
          : 2 * random.below(id) + 1;
        assertEquals(map.delete(victim), model.delete(victim));
      }
      assertEquals(map.size, model.size);
      const asked = 2 * random.below(id) + 1;
      assertEquals(map.get(asked) === model.get(asked), true);
    }
    for (const [known, stream] of model) assertEquals(map.get(known) === stream, true);
    assertEquals(map.list().map((one) => one.id).sort(), [...model.keys()].sort());
  }
});
