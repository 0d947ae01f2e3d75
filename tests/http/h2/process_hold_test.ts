import { assertEquals } from "@std/assert";
import { ProcessHold } from "../../../http/h2/process_hold.ts";
import { memorySocketPair } from "../../../http/net/memory_socket.ts";
import type { Socket } from "../../../http/net/socket.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

/** A hold on a socket that writes down what is asked of it. */
function hold() {
  const clock = new FakeClock();
  const log: string[] = [];
  const state = { needed: false };
  const [plain] = memorySocketPair();
  const socket: Socket = Object.assign(Object.create(plain), {
    ref: () => log.push("ref"),
    unref: () => log.push("unref"),
  });
  return { clock, log, state, hold: new ProcessHold(socket, clock.time, () => state.needed) };
}

Deno.test("an idle socket is unref'd after a while, once, and ref'd when it is needed", async () => {
  const { clock, log, hold: held } = hold();
  held.releaseSoon();
  held.releaseSoon();
  await clock.advance(10);
  assertEquals([log, held.held], [[], true]);
  await clock.advance(20);
  assertEquals([log, held.held], [["unref"], false]);
  held.releaseSoon();
  await clock.advance(100);
  held.take();
  held.take();
  assertEquals([log, held.held], [["unref", "ref"], true]);
  held.stop();
});

Deno.test("a socket that is needed again in time, or is gone, is left alone", async () => {
  const { clock, log, state, hold: held } = hold();
  held.releaseSoon();
  state.needed = true;
  await clock.advance(100);
  assertEquals(log, []);
  state.needed = false;
  held.releaseSoon();
  held.stop();
  await clock.advance(100);
  assertEquals(log, []);
});
