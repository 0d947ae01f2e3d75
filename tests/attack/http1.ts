/** Attacks over HTTP/1.1. */
import { type Attack, bytesOf, Raw } from "./shape.ts";

function upload(name: string, path: string, size: number): Attack {
  return {
    name,
    protocol: "HTTP/1.1",
    size,
    async run(port, n) {
      const raw = await Raw.open(port);
      await raw.send(
        bytesOf(`POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`),
      );
      await raw.repeat(bytesOf("1\r\nA\r\n"), n);
      await raw.send(bytesOf("0\r\n\r\n"));
      await raw.close();
    },
  };
}

export const HTTP1_ATTACKS: readonly Attack[] = [
  upload("1-byte chunks, read whole", "/whole", 250_000),
  upload("1-byte chunks, read late", "/late", 250_000),
  upload("1-byte chunks, never read", "/never", 250_000),
  upload("1-byte chunks, read in pieces", "/pieces", 250_000),
  {
    name: "chunks with long extensions",
    protocol: "HTTP/1.1",
    size: 2500,
    async run(port, n) {
      const raw = await Raw.open(port);
      await raw.send(
        bytesOf("POST /whole HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"),
      );
      await raw.repeat(bytesOf(`1;a="${"b".repeat(100)}"\r\nA\r\n`), n);
      await raw.close();
    },
  },
  {
    name: "lengths announced, nothing sent",
    protocol: "HTTP/1.1",
    size: 50,
    async run(port, n) {
      const raws = await Promise.all(Array.from({ length: n }, () => Raw.open(port)));
      await Promise.all(
        raws.map((raw) =>
          raw.send(bytesOf("POST /whole HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n\r\nA"))
        ),
      );
      await Promise.all(raws.map((raw) => raw.close()));
    },
  },
  {
    name: "pipelined requests, answers unread",
    protocol: "HTTP/1.1",
    size: 5000,
    async run(port, n) {
      const raw = await Raw.open(port, { reads: false });
      await raw.repeat(bytesOf("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), n);
      await raw.close();
    },
  },
  {
    name: "downloads nobody reads",
    protocol: "HTTP/1.1",
    size: 4,
    async run(port, n) {
      const raws = await Promise.all(
        Array.from({ length: n }, () => Raw.open(port, { reads: false })),
      );
      await Promise.all(
        raws.map((raw) => raw.send(bytesOf("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n"))),
      );
      await Promise.all(raws.map((raw) => raw.close(3000)));
    },
  },
  {
    name: "blanks inside a value that is echoed",
    protocol: "HTTP/1.1",
    size: 10_000,
    async run(port, n) {
      const raw = await Raw.open(port);
      const body = ` a${" ".repeat(n)}b`;
      await raw.send(
        bytesOf(
          `POST /echo-header HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        ),
      );
      await raw.close(3000);
    },
  },
  {
    name: "heads of many short fields",
    protocol: "HTTP/1.1",
    size: 10_000,
    async run(port, n) {
      const raw = await Raw.open(port);
      await raw.send(bytesOf("GET / HTTP/1.1\r\nHost: x\r\n"));
      await raw.repeat(bytesOf("a:\r\n"), n);
      await raw.close();
    },
  },
  {
    name: "bytes of a request one by one",
    protocol: "HTTP/1.1",
    size: 20,
    async run(port, n) {
      const raws = await Promise.all(Array.from({ length: n }, () => Raw.open(port)));
      const request = bytesOf("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      for (const byte of request) {
        await Promise.all(raws.map((raw) => raw.send(Uint8Array.of(byte))));
      }
      await Promise.all(raws.map((raw) => raw.close()));
    },
  },
];
