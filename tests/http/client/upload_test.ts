import { assertEquals, assertRejects } from "@std/assert";
import type { ClientExchange } from "../../../http/client/exchange.ts";
import { dropBody, upload } from "../../../http/client/upload.ts";
import { type BodyInput, requestBody } from "../../../http/message/body.ts";
import { ConnectionLostError } from "../../../http/mod.ts";
import { settle } from "../../../support/fake_clock.ts";

/** An exchange that keeps what is sent; `continued` is the answer to an expectation. */
class FakeExchange implements Pick<ClientExchange, "write" | "finish" | "continued" | "abort"> {
  onRequestOver: ((reason: Error) => void) | null = null;
  sent = "";
  ended = 0;
  aborted: unknown[] = [];
  /** What writes wait for. */
  room: Promise<void> | undefined;
  asked = Promise.resolve(true);

  write(piece: Uint8Array): Promise<void> | undefined {
    this.sent += new TextDecoder().decode(piece);
    return this.room;
  }

  finish(): void {
    this.ended++;
  }

  continued(): Promise<boolean> {
    return this.asked;
  }

  abort(reason: Error): void {
    this.aborted.push(reason);
  }
}

async function run(
  exchange: FakeExchange,
  input: BodyInput,
  expect = false,
  onUpload?: Parameters<typeof upload>[3],
): Promise<void> {
  await upload(exchange as unknown as ClientExchange, await requestBody(input), expect, onUpload);
}

/** A stream of `pieces` and what it was cancelled with. */
function source(pieces: (string | Uint8Array)[], { endless = false } = {}) {
  const cancelled: unknown[] = [];
  const stream = new ReadableStream<string | Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else if (!endless) controller.close();
    },
    cancel: (reason) => void cancelled.push(reason),
  }, { highWaterMark: 0 });
  return { stream, cancelled };
}

Deno.test("upload() sends every piece in order, waits for room, and ends the request", async () => {
  const exchange = new FakeExchange();
  const room = Promise.withResolvers<void>();
  exchange.room = room.promise;
  const { stream, cancelled } = source(["one", new TextEncoder().encode("two"), "three"]);
  const uploading = run(exchange, stream);
  await settle();
  assertEquals([exchange.sent, exchange.ended], ["one", 0]);
  room.resolve();
  await uploading;
  assertEquals([exchange.sent, exchange.ended, cancelled], ["onetwothree", 1, []]);
  assertEquals(exchange.onRequestOver, null);
});

Deno.test("upload() tells how far it is, of bytes that are at hand in parts", async () => {
  const exchange = new FakeExchange();
  const told: [number, number | undefined][] = [];
  const bytes = new Uint8Array(150_000);
  await run(exchange, bytes, false, ({ transferred, total }) => told.push([transferred, total]));
  assertEquals(told, [[65536, 150_000], [131072, 150_000], [150_000, 150_000]]);
  assertEquals([exchange.sent.length, exchange.ended], [150_000, 1]);
});

Deno.test("upload() cancels its source when the answer ends the request", async () => {
  const exchange = new FakeExchange();
  const { stream, cancelled } = source(["one"], { endless: true });
  const uploading = run(exchange, stream);
  await settle();
  const reason = new ConnectionLostError("answered", "maybe");
  exchange.onRequestOver!(reason);
  exchange.onRequestOver!(new Error("said once"));
  await uploading;
  assertEquals([cancelled, exchange.ended], [[reason], 0]);
});

Deno.test("upload() does without the body if the server answers before it asks for it", async () => {
  const exchange = new FakeExchange();
  exchange.asked = Promise.resolve(false);
  const { stream, cancelled } = source(["one"]);
  await run(exchange, stream, true);
  assertEquals([exchange.sent, exchange.ended, cancelled.length], ["", 0, 1]);
});

Deno.test("upload() rejects with what its source or its listener throws", async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: () => {
      throw new Error("source broke");
    },
  });
  await assertRejects(() => run(new FakeExchange(), broken), Error, "source broke");
  const { stream, cancelled } = source(["one", "two"]);
  const error = await assertRejects(
    () =>
      run(new FakeExchange(), stream, false, () => {
        throw new Error("listener broke");
      }),
    Error,
    "listener broke",
  );
  assertEquals(cancelled, [error]);
  const { stream: odd } = source([7 as unknown as string]);
  await assertRejects(() => run(new FakeExchange(), odd), TypeError, "body piece");
});

Deno.test("upload() aborts with what its listener rejects with later", async () => {
  const exchange = new FakeExchange();
  const late = new Error("later");
  const { stream } = source(["one"], { endless: true });
  const uploading = run(exchange, stream, false, () => Promise.reject(late));
  await settle();
  assertEquals(exchange.aborted, [late]);
  exchange.onRequestOver!(late);
  await uploading;
});

Deno.test("upload() takes the loss of its connection for an answer that is to come", async () => {
  const exchange = new FakeExchange();
  exchange.write = () => {
    throw new ConnectionLostError("gone", "maybe");
  };
  const { stream, cancelled } = source(["one"]);
  await run(exchange, stream);
  assertEquals([cancelled.length, exchange.ended], [1, 0]);
});

Deno.test("upload() gives up iterators by return(), whatever that does", async () => {
  let returned = 0;
  const pieces: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: () => {
        returned++;
        throw new Error("no");
      },
    }),
  };
  const exchange = new FakeExchange();
  const uploading = run(exchange, pieces);
  void uploading;
  await settle();
  exchange.onRequestOver!(new Error("over"));
  await settle();
  assertEquals(returned, 1);
});

Deno.test("dropBody() cancels a stream that nobody has begun to read, and nothing else", async () => {
  const { stream, cancelled } = source(["one"]);
  const reason = new Error("failed");
  dropBody(stream, reason);
  dropBody("text", reason);
  dropBody(null, reason);
  const locked = source(["one"]);
  locked.stream.getReader();
  dropBody(locked.stream, reason);
  await settle();
  assertEquals([cancelled, locked.cancelled], [[reason], []]);
});
