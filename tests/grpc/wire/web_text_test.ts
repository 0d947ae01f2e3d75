import { assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  binaryType,
  decodeText,
  encodeText,
  isWebText,
  textType,
} from "../../../grpc/wire/web_text.ts";
import { Random } from "../../../support/random.ts";

async function* piecesOf(text: string, sizes: () => number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let i = 0; i < bytes.length;) {
    const n = sizes();
    yield bytes.subarray(i, i + n);
    i += n;
    await Promise.resolve();
  }
}

async function decoded(text: string, sizes: () => number = () => text.length): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of decodeText(piecesOf(text, sizes))) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
}

Deno.test("decodeText() gives a body however its text was made and cut", async () => {
  const random = new Random(1);
  for (let i = 0; i < 300; i++) {
    // Runs that each have their own padding, as servers that answer piece by piece send them.
    const runs = Array.from(
      { length: random.below(5) },
      () => Uint8Array.from({ length: random.below(50) }, () => random.below(256)),
    );
    const text = runs.map(encodeText).join("");
    const whole = new Uint8Array(Buffer.concat(runs));
    assertEquals(await decoded(text, () => 1 + random.below(9)), whole);
  }
});

Deno.test("decodeText() refuses what is no base64, wherever it is cut", async () => {
  for (const text of ["A", "AA", "AAA", "AAAA=", "AA==A", "A===", "====", "AA-_", "AA A", "é==="]) {
    for (const size of [1, 3, 100]) {
      const error = await assertRejects(() => decoded(text, () => size), ConnectError, "base64");
      assertEquals(error.code, Code.InvalidArgument, text);
    }
  }
});

Deno.test("content types of text and bytes are told apart, and stand for each other", () => {
  for (
    const [text, bytes] of [
      ["application/grpc-web-text", "application/grpc-web"],
      ["application/grpc-web-text+proto", "application/grpc-web+proto"],
      ["application/grpc-web-text; charset=utf-8", "application/grpc-web; charset=utf-8"],
    ] as const
  ) {
    assertEquals([isWebText(text), isWebText(bytes)], [true, false]);
    assertEquals([binaryType(text), textType(bytes)], [bytes, text]);
  }
  assertEquals(isWebText("Application/gRPC-Web-Text"), true);
  for (const other of ["application/grpc", "application/grpc-web-texts", "application/json"]) {
    assertEquals([isWebText(other), binaryType(other), textType(other)], [false, other, other]);
  }
  assertEquals(isWebText(null), false);
});
