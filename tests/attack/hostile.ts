/**
 * Servers that attack their clients, by scripts: bytes as a broken or wicked server would send them.
 *
 * @module
 */
import { Flag, FrameType, PREFACE } from "../../http/h2/frame.ts";
import { block, EMPTY, frame, headers, ping, settings } from "../../support/frames.ts";
import { bytesOf, H2, Raw } from "./shape.ts";

/** What a victim does: how it asks, and how it reads. */
export type Mode = "HTTP/1.1" | "HTTP/2" | "gRPC";

/** One attack on clients. */
export interface Response {
  readonly name: string;
  readonly mode: Mode;
  /** Whether the client reads in pieces, pausing first, instead of taking the whole body. */
  readonly late?: boolean;
  readonly size: number;
  /** Answers one connection. */
  answer(conn: Deno.TcpConn, n: number): Promise<void>;
}

/** The server's end of a connection: {@linkcode Raw} after the first bytes of the request. */
class Accepted extends Raw {
  static async of(conn: Deno.TcpConn): Promise<Accepted> {
    const raw = new Accepted(conn);
    const first = Promise.withResolvers<void>();
    raw.read(() => first.resolve()).then(() => first.resolve());
    await first.promise;
    return raw;
  }
}

function h1(
  name: string,
  size: number,
  head: string,
  unit: string,
  tail = "",
  late = false,
): Response {
  return {
    name,
    mode: "HTTP/1.1",
    size,
    late,
    async answer(conn, n) {
      const raw = await Accepted.of(conn);
      await raw.send(bytesOf(head));
      await raw.repeat(bytesOf(unit), n);
      await raw.send(bytesOf(tail));
      await raw.close(2000);
    },
  };
}

/** HTTP/2: settings, the first stream's answer, then what `send` says. */
function h2(
  name: string,
  mode: "HTTP/2" | "gRPC",
  size: number,
  send: (h2: Served, n: number) => Promise<void>,
  late = false,
): Response {
  return {
    name,
    mode,
    size,
    late,
    async answer(conn, n) {
      const served = await Served.of(conn);
      await send(served, n);
      await served.close(2000);
    },
  };
}

/** The server's end of an HTTP/2 connection whose client has asked on stream 1. */
class Served extends H2 {
  static async of(conn: Deno.TcpConn): Promise<Served> {
    const served = new Served(conn);
    const asked = Promise.withResolvers<void>();
    let skip = PREFACE.length;
    served.read((bytes) => {
      const drop = Math.min(skip, bytes.length);
      skip -= drop;
      served.take(bytes.subarray(drop));
      if (served.asked) asked.resolve();
    }).then(() => asked.resolve());
    await served.send(settings());
    await asked.promise;
    await served.send(frame(FrameType.SETTINGS, Flag.ACK, 0, EMPTY));
    return served;
  }
}

const OK = [":status", "200"];
const GRPC_OK = [...OK, "content-type", "application/grpc"];
const A = Uint8Array.of(65);

export const RESPONSES: readonly Response[] = [
  h1(
    "1-byte chunks",
    250_000,
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "1\r\nA\r\n",
    "0\r\n\r\n",
  ),
  h1(
    "1-byte chunks, read late",
    250_000,
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "1\r\nA\r\n",
    "0\r\n\r\n",
    true,
  ),
  h1("a head without end", 250_000, "HTTP/1.1 200 OK\r\n", "a: b\r\n"),
  h1("interim responses without end", 50_000, "", "HTTP/1.1 103 Early Hints\r\n\r\n"),
  h1("a length of terabytes", 1, "HTTP/1.1 200 OK\r\nContent-Length: 9000000000000\r\n\r\n", "A"),
  h1(
    "trailers without end",
    250_000,
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
    "a: b\r\n",
  ),
  h2("1-byte DATA", "HTTP/2", 100_000, async (s, n) => {
    await s.send(headers(1, OK));
    await s.dataFrames(1, n, A);
    await s.send(frame(FrameType.DATA, Flag.END_STREAM, 1, EMPTY));
  }),
  h2("1-byte DATA, read late", "HTTP/2", 100_000, async (s, n) => {
    await s.send(headers(1, OK));
    await s.dataFrames(1, n, A);
    await s.send(frame(FrameType.DATA, Flag.END_STREAM, 1, EMPTY));
  }, true),
  h2("empty DATA", "HTTP/2", 100_000, async (s, n) => {
    await s.send(headers(1, OK));
    await s.dataFrames(1, n, EMPTY);
  }),
  h2(
    "interim responses without end",
    "HTTP/2",
    50_000,
    (s, n) => s.repeat(headers(1, [":status", "103"]), n),
  ),
  h2("PING without end", "HTTP/2", 100_000, (s, n) => s.repeat(ping(), n)),
  h2("SETTINGS without end", "HTTP/2", 100_000, (s, n) => s.repeat(settings(), n)),
  h2("CONTINUATION of 1 byte", "HTTP/2", 25_000, async (s, n) => {
    await s.send(headers(1, OK, { endHeaders: false }));
    await s.repeat(frame(FrameType.CONTINUATION, 0, 1, Uint8Array.of(0x88)), n);
  }),
  h2("a header list of megabytes", "HTTP/2", 250, async (s, n) => {
    await s.send(headers(1, OK, { endHeaders: false }));
    await s.repeat(frame(FrameType.CONTINUATION, 0, 1, block(["x", "y".repeat(16_000)])), n);
  }),
  h2("empty messages", "gRPC", 1_000_000, async (s, n) => {
    await s.send(headers(1, GRPC_OK));
    await s.dataFrames(1, Math.ceil(n / 3200), new Uint8Array(16_000));
  }),
  h2("empty messages, read late", "gRPC", 1_000_000, async (s, n) => {
    await s.send(headers(1, GRPC_OK));
    await s.dataFrames(1, Math.ceil(n / 3200), new Uint8Array(16_000));
  }, true),
  h2("a message in 1-byte DATA", "gRPC", 100_000, async (s, n) => {
    await s.send(headers(1, GRPC_OK));
    await s.send(frame(FrameType.DATA, 0, 1, Uint8Array.of(0, n >>> 24, n >> 16, n >> 8, n)));
    await s.dataFrames(1, n, Uint8Array.of(0));
  }),
  h2("a long grpc-message", "gRPC", 16_000, (s, n) =>
    s.send(frame(
      FrameType.HEADERS,
      Flag.END_HEADERS | Flag.END_STREAM,
      1,
      block([...GRPC_OK, "grpc-status", "5", "grpc-message", "%25".repeat(n).slice(0, 16_000)]),
    ))),
];
