import { assert, assertEquals } from "@std/assert";
import { BodyReader } from "../../../http/h1/body.ts";
import { Input } from "../../../http/h1/input.ts";
import { nextPiece } from "../../../http/h1/next_piece.ts";
import { memorySocketPair } from "../../../http/net/memory_socket.ts";
import { Random } from "../../../support/random.ts";
import { systemClock } from "../../../http/time/clock.ts";

const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

/** Reads a body whose octets come as `wire` says, cut into `cuts`. */
function readAll(framing: number | "chunked" | "eof", wire: Uint8Array, cuts: number[]) {
  const body = new BodyReader(framing);
  const pieces: Uint8Array[] = [];
  let input = new Input(memorySocketPair()[0], systemClock);
  let from = 0;
  for (const to of [...cuts, wire.length]) {
    const rest = input.buf.slice(input.start, input.end);
    input = new Input(
      memorySocketPair()[0],
      systemClock,
      new Uint8Array([...rest, ...wire.slice(from, to)]),
    );
    from = to;
    for (let piece = nextPiece(body, input); piece !== null; piece = nextPiece(body, input)) {
      pieces.push(piece);
    }
  }
  return { body, pieces, input };
}

Deno.test("nextPiece() gives every octet of a chunked body, wherever chunks and reads begin", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = new Random(seed);
    let sent = "";
    let wire = "";
    const count = random.below(200);
    for (let i = 0; i < count; i++) {
      const chunk = String.fromCharCode(65 + i % 26).repeat(
        random.pick([1, 1, 1, 2, 15, 16, 17, 300, 9000]),
      );
      sent += chunk;
      wire += `${chunk.length.toString(16)}${random.below(9) ? "" : ";x=y"}\r\n${chunk}\r\n`;
    }
    wire += "0\r\nx-sum: 7\r\n\r\n";
    const cuts = Array.from({ length: random.below(6) }, () => random.below(wire.length)).sort((
      a,
      b,
    ) => a - b);
    const { body, pieces, input } = readAll("chunked", bytes(wire + "next"), cuts);
    assertEquals(
      pieces.map((piece) => String.fromCharCode(...piece)).join("") === sent,
      true,
      `seed ${seed}`,
    );
    assert(body.done);
    assertEquals(body.trailers, ["x-sum", "7"]);
    assertEquals(input.end - input.start, 4);
  }
});

Deno.test("nextPiece() joins chunks of one octet", () => {
  const chunks = 10_000;
  const { pieces } = readAll("chunked", bytes("1\r\nA\r\n".repeat(chunks) + "0\r\n\r\n"), []);
  assertEquals(pieces.reduce((sum, piece) => sum + piece.length, 0), chunks);
  assert(pieces.length < 60, `${pieces.length} pieces`);
  for (const piece of pieces) assert(piece.buffer.byteLength <= 2 * piece.length);
});

Deno.test("nextPiece() gives what little there is as it came", () => {
  const { pieces } = readAll("chunked", bytes("5\r\nfirst\r\n4\r\nlast\r\n0\r\n\r\n"), []);
  assertEquals(pieces.map((piece) => String.fromCharCode(...piece)), ["first", "last"]);
  assertEquals(readAll(3, bytes("abcd"), [1]).pieces.map((piece) => piece.length), [1, 2]);
  assertEquals(readAll("eof", bytes("abcd"), [1]).pieces.map((piece) => piece.length), [1, 3]);
});
