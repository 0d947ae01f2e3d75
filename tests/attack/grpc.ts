/** Attacks by gRPC calls, on the service of `tests/interop/echo.proto`. */
import { concat, data, EMPTY, frame, headers } from "../../support/frames.ts";
import { FrameType } from "../../http/h2/frame.ts";
import { type Attack, H2 } from "./shape.ts";

const call = (method: string, ...more: string[]) => [
  ":method",
  "POST",
  ":scheme",
  "http",
  ":path",
  `/sluice.test.v1.Echo/${method}`,
  ":authority",
  "x",
  "content-type",
  "application/grpc",
  "te",
  "trailers",
  ...more,
];

const prefix = (length: number) =>
  Uint8Array.of(0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255);

/** Streams one after the other, as many at once as servers allow, over several connections. */
function calls(name: string, size: number, each: (id: number) => Uint8Array): Attack {
  return {
    name,
    protocol: "gRPC",
    size,
    async run(port, n) {
      const connections = Math.ceil(n / 1000);
      const all = await Promise.all(Array.from({ length: connections }, () => H2.open(port)));
      await Promise.all(all.map(async (h2, i) => {
        const mine = Math.min(1000, n - i * 1000);
        const parts = Array.from({ length: mine }, (_, k) => each(1 + 2 * k));
        for (let k = 0; k < mine && h2.going; k += 100) {
          await h2.send(concat(...parts.slice(k, k + 100)));
        }
        await h2.close(3000);
      }));
    },
  };
}

/** Request of BidiStream whose answer takes 20 s: the server reads nothing more meanwhile. */
const LATE = concat(prefix(4), Uint8Array.of(40, 160, 156, 1));

/** Messages on one stream of a method that reads them, or that waits behind the first. */
function messages(
  name: string,
  method: "ClientStream" | "BidiStream",
  size: number,
  payload: Uint8Array,
  first: Uint8Array | null = null,
): Attack {
  return {
    name,
    protocol: "gRPC",
    size,
    async run(port, n) {
      const h2 = await H2.open(port);
      await h2.send(headers(1, call(method)));
      if (first !== null) await h2.send(data(1, first));
      const per = Math.max(1, Math.floor(16_000 / payload.length));
      const many = concat(...Array.from({ length: per }, () => payload));
      await h2.dataFrames(1, Math.ceil(n / per), many);
      await h2.close();
    },
  };
}

export const GRPC_ATTACKS: readonly Attack[] = [
  calls(
    "4 MiB announced, 1 byte sent",
    1000,
    (id) =>
      concat(headers(id, call("Unary")), data(id, concat(prefix(4 << 20), Uint8Array.of(10)))),
  ),
  calls(
    "100 KB announced, 1 byte sent",
    1000,
    (id) =>
      concat(headers(id, call("Unary")), data(id, concat(prefix(100_000), Uint8Array.of(10)))),
  ),
  calls("calls without a message", 1000, (id) => headers(id, call("Unary"))),
  calls("metadata outside ASCII that is echoed", 100, (id) =>
    concat(
      frame(
        FrameType.HEADERS,
        4,
        id,
        concat(blockOf(call("Unary")), literal("x-echo-trailer-a", 0xe9)),
      ),
      data(id, prefix(0), true),
    )),
  calls(
    "long names that are echoed",
    100,
    (id) => headers(id, call(`${"x".repeat(8000)}`), { end: true }),
  ),
  messages("empty messages", "ClientStream", 1_000_000, prefix(0)),
  messages("empty messages nobody reads", "BidiStream", 1_000_000, prefix(0), LATE),
  messages("messages of 2 bytes", "ClientStream", 500_000, concat(prefix(2), Uint8Array.of(40, 1))),
  messages("empty messages, echoed and unread", "BidiStream", 250_000, prefix(0)),
  {
    name: "a message in 1-byte DATA",
    protocol: "gRPC",
    size: 100_000,
    async run(port, n) {
      const h2 = await H2.open(port);
      await h2.send(headers(1, call("ClientStream")));
      await h2.send(data(1, prefix(n)));
      await h2.dataFrames(1, n, Uint8Array.of(0));
      await h2.send(data(1, EMPTY, true));
      await h2.close();
    },
  },
  {
    name: "prefixes byte by byte",
    protocol: "gRPC",
    size: 50_000,
    async run(port, n) {
      const h2 = await H2.open(port);
      await h2.send(headers(1, call("ClientStream")));
      await h2.dataFrames(1, n, Uint8Array.of(0));
      await h2.close();
    },
  },
  {
    name: "responses nobody takes",
    protocol: "gRPC",
    size: 10,
    async run(port, n) {
      const h2 = await H2.open(port, { entries: [[4, 0]] });
      // response_size 1 MiB, response_count 1,000
      const request = Uint8Array.of(24, 128, 128, 64, 32, 232, 7);
      for (let i = 0; i < n; i++) {
        await h2.send(headers(1 + 2 * i, call("ServerStream")));
        await h2.send(data(1 + 2 * i, concat(prefix(request.length), request), true));
      }
      await h2.close(3000);
    },
  },
];

function blockOf(fields: readonly string[]): Uint8Array {
  return headers(1, fields).subarray(9);
}

/** A literal field without indexing whose value is one byte. */
function literal(name: string, byte: number): Uint8Array {
  return concat(
    Uint8Array.of(0, name.length),
    new TextEncoder().encode(name),
    Uint8Array.of(1, byte),
  );
}
