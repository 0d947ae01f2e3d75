import { assert, assertEquals } from "@std/assert";
import { concat, data, headers } from "../../../support/frames.ts";
import { printed } from "../../../support/console.ts";
import { Harness } from "../../../support/h2_peer.ts";

Deno.test("a fault of this side is printed, and the peer learns nothing of it", async () => {
  const harness = new Harness();
  harness.receive(headers(1));
  harness.streams[0]!.onData = () => {
    throw new Error("secret");
  };
  harness.sent();
  let bytes = new Uint8Array();
  const output = await printed(() => {
    const frame = concat(data(1, "x"));
    harness.connection.receive(frame, 0, frame.length);
    const { out } = harness.connection.writer;
    bytes = out.take().slice();
    out.release();
  });
  assert(harness.fatal !== null && harness.connection.phase.kind === "failed");
  const text = new TextDecoder().decode(bytes);
  assert(text.includes("fault of this side") && !text.includes("secret"), text);
  assertEquals(output.length, 1);
  assert(output[0]!.includes("secret"), output[0]);
});
