import { assertEquals } from "@std/assert";
import { Stream } from "../../../http/h2/stream.ts";
import type { EngineRecord } from "../../../http/h2/stream_record.ts";
import { StreamTable } from "../../../http/h2/stream_table.ts";

class Silent extends Stream {
  onHeaders(): void {}
  onData(): void {}
  onEnd(): void {}
  onReset(): void {}
}

function opened(table: StreamTable, id: number): EngineRecord {
  const stream: EngineRecord = new Silent();
  stream.id = id;
  stream.local = stream.remote = "body";
  table.open.add(id, stream);
  return stream;
}

Deno.test("StreamTable knows idle streams of either side", () => {
  const client = new StreamTable("client");
  assertEquals([client.takeId(), client.takeId()], [1, 3]);
  assertEquals([1, 3, 5].map((id) => client.isIdle(id)), [false, false, true]);
  const server = new StreamTable("server");
  server.lastPeerId = 7;
  assertEquals([2, 5, 7, 9].map((id) => server.isIdle(id)), [true, false, false, true]);
});

Deno.test("StreamTable closes a stream once; sides that did not end have failed", () => {
  const table = new StreamTable("server");
  const stream = opened(table, 1);
  stream.remote = "ended";
  assertEquals([table.has(stream), table.close(stream), table.close(stream)], [true, true, false]);
  assertEquals([stream.local, stream.remote, stream.closed], ["failed", "ended", true]);
  assertEquals([table.has(stream), table.open.size], [false, 0]);
});

Deno.test("StreamTable counts streams that were reset while their handler runs", () => {
  const table = new StreamTable("server");
  const [reset, answered] = [opened(table, 1), opened(table, 3)];
  reset.handlerRunning = answered.handlerRunning = true;
  table.close(reset);
  assertEquals(table.runningAfterReset, 1);
  table.handlerEnded(answered);
  table.close(answered);
  assertEquals(table.runningAfterReset, 1);
  table.handlerEnded(reset);
  table.handlerEnded(reset);
  assertEquals(table.runningAfterReset, 0);
});

Deno.test("StreamTable gives frames on streams it may have forgotten the benefit of the doubt", () => {
  const table = new StreamTable("server");
  for (let id = 1; id < 600; id += 2) table.rememberReset(id);
  for (let id = 1; id < 600; id += 2) assertEquals(table.wasReset(id), true);
  assertEquals(table.wasReset(601), false);
});
