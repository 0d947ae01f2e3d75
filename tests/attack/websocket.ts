/** Attacks over WebSocket, on a server that sends back every message. */
import { type Attack, bytesOf, Raw } from "./shape.ts";

const HANDSHAKE = "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

/** A masked frame (mask 0) of some bytes. */
function wsFrame(first: number, payload: number): Uint8Array {
  const out = new Uint8Array(6 + payload);
  out[0] = first;
  out[1] = 0x80 | payload;
  out.fill(65, 6);
  return out;
}

function frames(
  name: string,
  size: number,
  unit: Uint8Array,
  begin: Uint8Array | null,
  reads = true,
): Attack {
  return {
    name,
    protocol: "WebSocket",
    size,
    async run(port, n) {
      const raw = await Raw.open(port, { reads });
      await raw.send(bytesOf(HANDSHAKE));
      if (begin !== null) await raw.send(begin);
      await raw.repeat(unit, n);
      await raw.close();
    },
  };
}

const [TEXT, MORE, PING, FIN] = [1, 0, 9, 0x80];

export const WEBSOCKET_ATTACKS: readonly Attack[] = [
  frames("messages of 1 byte", 100_000, wsFrame(FIN | TEXT, 1), null),
  frames("messages of 1 byte, answers unread", 100_000, wsFrame(FIN | TEXT, 1), null, false),
  frames("empty fragments", 100_000, wsFrame(MORE, 0), wsFrame(TEXT, 0)),
  frames("fragments of 1 byte", 100_000, wsFrame(MORE, 1), wsFrame(TEXT, 1)),
  frames("pings, answers unread", 100_000, wsFrame(FIN | PING, 100), null, false),
  frames(
    "messages of 2^62 bytes announced",
    1,
    Uint8Array.of(0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    null,
  ),
];
