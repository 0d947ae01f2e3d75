/**
 * Answers that are given before the client has sent everything, and words of farewell: none is
 * overtaken by a reset, whatever the client still sends.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { listen, newClient, type ServerOptions, type ServerStream } from "../../../http/mod.ts";
import { ErrorCode } from "../../../http/message/error_code.ts";
import { makeCertificate, OPENSSL } from "../../../support/certificate.ts";
import { concat, data, goAway, headers, ping } from "../../../support/frames.ts";
import { type Need, peerTest } from "../../../support/peers.ts";
import { run, which } from "../../../support/process.ts";
import { RawH2 } from "../../../support/raw_h2.ts";

const CURL: Need = ["curl", await which("curl"), "put curl on PATH"];
const NODE: Need = ["node", await which("node"), "put node on PATH"];

const MB = 1_000_000;
const SIZES = [5, 10, 20];
const ROUNDS = 5;
const LONG_ANSWER = "x".repeat(6 << 20);

function refuse(stream: ServerStream): void {
  stream.respond(403);
  stream.closeWrite(stream.path === "/long" ? LONG_ANSWER : "no");
}

/** A server that refuses everything, plain and over TLS. */
async function refusing(options: Partial<ServerOptions> = {}): Promise<
  AsyncDisposable & { readonly urls: readonly string[]; readonly ca: string }
> {
  const files = await makeCertificate();
  const settings = { addr: "127.0.0.1:0", handler: refuse, ...options };
  const plain = listen(settings);
  const secure = listen({ ...settings, tls: true, certs: [files] });
  return {
    ca: files.ca,
    urls: [`http://127.0.0.1:${plain.port}`, `https://127.0.0.1:${secure.port}`],
    async [Symbol.asyncDispose]() {
      await Promise.all([plain.close(), secure.close()]);
      await files[Symbol.asyncDispose]();
    },
  };
}

/** Sends a whole request, looking at nothing before it is out, then reads to the end. */
async function uploadFirst(
  { ca }: { readonly ca: string },
  url: string,
  path: string,
  bytes: number,
): Promise<string> {
  const { port, protocol } = new URL(url);
  const to = { port: Number(port), hostname: "localhost" };
  const conn = protocol === "https:"
    ? await Deno.connectTls({ ...to, caCerts: [ca] })
    : await Deno.connect(to);
  try {
    const send = async (part: Uint8Array) => {
      for (let at = 0; at < part.length;) at += await conn.write(part.subarray(at));
    };
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`;
    await send(new TextEncoder().encode(head));
    await send(new Uint8Array(bytes));
    let answer = "";
    const decoder = new TextDecoder();
    const buf = new Uint8Array(64 << 10);
    for (let n = await conn.read(buf); n !== null; n = await conn.read(buf)) {
      answer += decoder.decode(buf.subarray(0, n));
    }
    return answer;
  } finally {
    conn.close();
  }
}

peerTest("an early answer reaches a client that uploads first and reads then", {
  needs: [OPENSSL],
}, async () => {
  await using server = await refusing({ limits: { maxBodyBytes: 15 * MB } });
  for (const url of server.urls) {
    for (const size of SIZES) {
      for (let i = 0; i < ROUNDS; i++) {
        const answer = await uploadFirst(server, url, "/", size * MB);
        assertStringIncludes(answer, `HTTP/1.1 ${size > 15 ? 413 : 403} `, `${url} ${size} MB`);
      }
    }
  }
});

peerTest("a long answer and a long upload do not wait for each other", {
  needs: [OPENSSL],
}, async () => {
  await using server = await refusing({ limits: { maxBodyBytes: 0 } });
  for (const url of server.urls) {
    const answer = await uploadFirst(server, url, "/long", 20 * MB);
    assert(answer.endsWith(LONG_ANSWER), answer.slice(0, 200));
  }
});

peerTest("an early answer reaches this module's client on both versions", {
  needs: [OPENSSL],
}, async () => {
  await using server = await refusing();
  for (const url of server.urls) {
    for (const alpnProtos of [["h2"], ["http/1.1"]]) {
      await using client = newClient({ alpnProtos, caCerts: [server.ca] });
      for (const size of SIZES) {
        const response = await client.post(`${url}/`, null, new Uint8Array(size * MB));
        assertEquals([response.status, response.body], [
          size > 16 ? 413 : 403,
          size > 16 ? "" : "no",
        ]);
      }
    }
  }
});

peerTest("an early answer reaches curl on both versions", {
  needs: [OPENSSL, CURL],
}, async () => {
  await using server = await refusing({ limits: { maxBodyBytes: 0 } });
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeFile(file, new Uint8Array(20 * MB));
    for (const url of server.urls) {
      for (const version of ["--http1.1", "--http2", "--http2-prior-knowledge"]) {
        for (let i = 0; i < ROUNDS; i++) {
          const { code, stdout, stderr } = await run({
            command: "curl",
            args: ["-sSk", version, "-w", " %{http_code}", "-H", "expect:", "--data-binary"]
              .concat(`@${file}`, url),
          });
          assertEquals([code, stdout, stderr], [0, "no 403", ""], `${version} ${url}`);
        }
      }
    }
  } finally {
    await Deno.remove(file);
  }
});

const NODE_CLIENT = `
  import http from "node:http";
  import https from "node:https";
  const [size, rounds, ...urls] = process.argv.slice(1);
  for (const url of urls) {
    for (let i = 0; i < Number(rounds); i++) {
      const answer = await new Promise((resolve) => {
        const { request } = url.startsWith("https") ? https : http;
        const headers = { "content-length": Number(size) };
        request(url, { method: "POST", headers, rejectUnauthorized: false }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode)).on("error", resolve);
        }).on("error", (error) => resolve(error.code)).end(Buffer.alloc(Number(size)));
      });
      console.log(answer);
    }
  }
  process.exit(0);
`;

peerTest("an early answer reaches Node's client, 20 times of 20", {
  needs: [OPENSSL, NODE],
}, async () => {
  await using server = await refusing({ limits: { maxBodyBytes: 0 } });
  for (const size of SIZES) {
    const { stdout, stderr } = await run({
      command: "node",
      args: ["--input-type=module", "-e", NODE_CLIENT, String(size * MB), "20", ...server.urls],
    });
    assertEquals(stdout, "403\n".repeat(40), `${size} MB ${stderr}`);
  }
});

peerTest("a farewell is answered by an end, not by a reset, whatever follows it", {
  needs: [OPENSSL],
}, async () => {
  await using files = await makeCertificate();
  const settings = { addr: "127.0.0.1:0", handler: refuse };
  await using plain = listen(settings);
  await using secure = listen({ ...settings, tls: true, certs: [files] });
  for (let i = 0; i < 20; i++) {
    const conn = i % 2 === 0
      ? await Deno.connect({ port: plain.port })
      : await Deno.connectTls({ port: secure.port, caCerts: [files.ca], alpnProtocols: ["h2"] });
    const raw = await RawH2.open(conn);
    await raw.send(goAway(0, 255), ping(), new Uint8Array(20_000));
    await raw.send(ping()).catch(() => {});
    assertEquals(await raw.end(), "eof");
    await raw.close();
  }
});

Deno.test("a client that floods is told why it is sent away", async () => {
  await using server = listen({ addr: "127.0.0.1:0", handler: refuse });
  for (let i = 0; i < 5; i++) {
    const raw = await RawH2.open(server.port);
    // It reads while it floods, but hears of nothing before everything is sent.
    const flood = concat(...Array.from({ length: 2000 }, () => ping()));
    for (let n = 0; n < 50; n++) await raw.send(flood);
    assertEquals(await raw.line("GOAWAY"), `GOAWAY 0 0 ${ErrorCode.ENHANCE_YOUR_CALM}`);
    assertEquals(await raw.end(), "eof");
    await raw.close();
  }
});

Deno.test("an HTTP/2 stream answered early takes the rest of its upload, then ends", async () => {
  await using server = listen({ addr: "127.0.0.1:0", handler: refuse });
  const raw = await RawH2.open(server.port);
  await raw.send(headers(1));
  await raw.line("DATA 1 END_STREAM");
  for (let i = 0; i < 10; i++) await raw.send(data(1, new Uint8Array(1000), i === 9));
  await raw.send(ping());
  await raw.line("PING 0 ACK");
  assert(!raw.lines.some((line) => /RST_STREAM|GOAWAY/.test(line)));
  await raw.close();
});

Deno.test("server.close() lets an answer that is on its way arrive whole (HTTP/1.1)", async () => {
  const server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      await stream.respond(200);
      stream.closeWrite(LONG_ANSWER);
    },
  });
  const conn = await Deno.connect({ port: server.port });
  await conn.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
  const buf = new Uint8Array(64 << 10);
  let received = (await conn.read(buf))!;
  const closed = server.close();
  for (let n = await conn.read(buf); n !== null; n = await conn.read(buf)) received += n;
  assert(received > LONG_ANSWER.length);
  conn.close();
  await closed;
});
