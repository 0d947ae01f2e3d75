// deno-lint-ignore-file no-console
/**
 * A long life in short: mixed requests over both versions, with and without TLS, with aborts,
 * redirects, codings, uploads and streams. Fails if memory, open files or pools grow.
 *
 * deno run -A tests/soak/http.ts [requests]
 */
import { gzipSync } from "node:zlib";
import { type Client, listen, newClient, type ServerStream } from "../../http/mod.ts";
import { makeCertificate } from "../../support/certificate.ts";

const total = Number(Deno.args[0] ?? 1_000_000);
const CONCURRENCY = 64;
/** Heap after the first quarter may grow by this much to the end. */
const MAX_HEAP_GROWTH = 16 << 20;

const coded = gzipSync("hello coded world ".repeat(200));

async function handler(stream: ServerStream): Promise<void> {
  switch (stream.path) {
    case "/redirect":
      await stream.respond(307, { location: "/echo" });
      stream.closeWrite();
      return;
    case "/gzip":
      await stream.respond(200, { "content-encoding": "gzip" });
      stream.closeWrite(coded);
      return;
    case "/stream":
      await stream.respond(200);
      for (let i = 0; i < 4; i++) await stream.write("piece ");
      stream.closeWrite();
      return;
    case "/slow":
      await new Promise((resolve) => setTimeout(resolve, 20));
      await stream.respond(200);
      stream.closeWrite("slow");
      return;
    case "/close":
      await stream.respond(200, {}, true);
      return;
    default: {
      const body = await stream.readAll();
      await stream.respond(200, { "content-type": "text/plain" });
      stream.closeWrite(body || "empty");
    }
  }
}

await using files = await makeCertificate();
const plain = listen({ addr: "127.0.0.1:0", handler });
const secure = listen({ addr: "127.0.0.1:0", handler, tls: true, certs: [files] });
const clients: [Client, string][] = [];
for (const protocol of ["http/1.1", "h2"]) {
  const client = newClient({ alpnProtos: [protocol], caCerts: [files.ca], maxIdlePerHost: 16 });
  clients.push([client, `http://127.0.0.1:${plain.port}`]);
  clients.push([client, `https://127.0.0.1:${secure.port}`]);
}

const wrong: string[] = [];
function expect(what: string, got: string, wanted: string): void {
  if (got !== wanted && wrong.length < 10) wrong.push(`${what}: ${got.slice(0, 60)}`);
}

async function once(n: number): Promise<void> {
  const [client, url] = clients[n % clients.length]!;
  switch ((n / clients.length | 0) % 10) {
    case 0:
      return expect(
        "post",
        (await client.post(`${url}/echo`, null, `body ${n}`)).body,
        `body ${n}`,
      );
    case 1:
      return expect("redirect", (await client.post(`${url}/redirect`, null, "kept")).body, "kept");
    case 2:
      return expect("gzip", (await client.get(`${url}/gzip`)).body.slice(0, 11), "hello coded");
    case 3:
      return expect("stream", (await client.get(`${url}/stream`)).body, "piece ".repeat(4));
    case 4: {
      // Given up in the middle.
      if (n % 3 !== 0) break;
      const failed = await client.get(`${url}/slow`, null, { timeout: 5 }).then(
        () => "",
        () => "x",
      );
      return expect("abort", failed, "x");
    }
    case 5: {
      if (n % 7 !== 0) break;
      return expect("close", String((await client.get(`${url}/close`)).status), "200");
    }
    case 6: {
      using stream = await client.send("GET", `${url}/stream`);
      await stream.read();
      return;
    }
  }
  expect("get", (await client.get(`${url}/?n=${n % 100}`)).body, "empty");
}

const openFiles = () => [...Deno.readDirSync("/proc/self/fd")].length;

async function settle(): Promise<{ heap: number; files: number }> {
  for (const [client] of clients) client.closeIdle();
  // Connections given up while they were opened end with the server's timeouts.
  for (let i = 0; i < 40 && plain.connections + secure.connections > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  (globalThis as { gc?: () => void }).gc?.();
  return { heap: Deno.memoryUsage().heapUsed, files: openFiles() };
}

let next = 0;
let failed = 0;
async function quarter(end: number): Promise<void> {
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    while (next < end) {
      const n = next++;
      try {
        await once(n);
      } catch (error) {
        failed++;
        if (wrong.length < 10) wrong.push(String(error));
      }
    }
  }));
}

const begun = performance.now();
const marks: { heap: number; files: number }[] = [];
for (let i = 1; i <= 4; i++) {
  await quarter(Math.round(total * i / 4));
  const mark = await settle();
  marks.push(mark);
  const seconds = (performance.now() - begun) / 1000;
  console.log(
    `${next} requests, ${seconds.toFixed(0)} s, heap ${(mark.heap / (1 << 20)).toFixed(1)} MiB, ` +
      `rss ${Deno.memoryUsage().rss >> 20} MiB, ${mark.files} files, ` +
      `server connections ${plain.connections + secure.connections}, handlers ${
        plain.handlers + secure.handlers
      }`,
  );
}
for (const [client] of clients) await client.close();
await plain.close();
await secure.close();

const growth = marks[3]!.heap - marks[0]!.heap;
const opened = marks[3]!.files - marks[0]!.files;
console.log(`failed ${failed}, heap growth ${growth >> 10} KiB, files ${opened}`);
for (const line of wrong) console.log(line);
if (failed > 0 || wrong.length > 0 || growth > MAX_HEAP_GROWTH || opened > 4) Deno.exit(1);
