import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { inPeers, type Need, peerTest } from "../../support/peers.ts";
import { run, which } from "../../support/process.ts";
import { makeCertificate, OPENSSL } from "../../support/certificate.ts";
import { EchoService } from "./echo.ts";

const onPath = async (name: string, debian: string): Promise<Need> => [
  name,
  await which(name),
  `install ${debian}`,
];

const NGHTTP = await onPath("nghttp", "nghttp2-client");
const H2LOAD = await onPath("h2load", "nghttp2-client");
const CURL = await onPath("curl", "curl");
const BUF: Need = [
  "buf",
  inPeers("node_modules/.bin/buf"),
  "set SLUICE_PEERS to the folder that .ci/run fills",
];

const UNARY = "/sluice.test.v1.Echo/Unary";
const SCHEMA = new URL("echo.proto", import.meta.url).pathname;

/** `{ text: "hello" }` as EchoRequest, with the prefix of a gRPC message. */
const REQUEST = Uint8Array.of(0, 0, 0, 0, 7, 0x0a, 5, ...new TextEncoder().encode("hello"));

/** What every gRPC request has, as arguments. */
const HEADERS = ["-H", "content-type: application/grpc", "-H", "te: trailers"];

async function withRequest<T>(act: (path: string) => Promise<T>): Promise<T> {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeFile(path, REQUEST);
    return await act(path);
  } finally {
    await Deno.remove(path);
  }
}

peerTest("nghttp makes a call", { needs: [NGHTTP] }, async () => {
  await using server = new EchoService().listen();
  const { code, stdout } = await withRequest((path) =>
    run({
      command: "nghttp",
      args: ["-nv", "--no-dep", "-d", path, ...HEADERS, `http://${server.addr}${UNARY}`],
    })
  );
  assertEquals(code, 0);
  for (const part of [":status: 200", "content-type: application/grpc", "grpc-status: 0"]) {
    assertStringIncludes(stdout, part);
  }
});

peerTest("nghttp makes several calls with padding and trailers", { needs: [NGHTTP] }, async () => {
  await using server = new EchoService().listen();
  const { code, stdout } = await withRequest((path) =>
    run({
      command: "nghttp",
      args: [
        ...["-nv", "--no-dep", "--padding=255", "--multiply=20", "--window-bits=10"],
        ...["--trailer", "x-after: all", "-d", path, ...HEADERS, `http://${server.addr}${UNARY}`],
      ],
    })
  );
  assertEquals(code, 0);
  assertEquals(stdout.match(/grpc-status: 0/g)?.length, 20);
});

peerTest("h2load makes thousands of calls, and none fails", { needs: [H2LOAD] }, async () => {
  await using server = new EchoService().listen();
  const { stdout } = await withRequest((path) =>
    run({
      command: "h2load",
      args: ["-n5000", "-c4", "-m16", "-d", path, ...HEADERS, `http://${server.addr}${UNARY}`],
    })
  );
  assertStringIncludes(
    stdout,
    "requests: 5000 total, 5000 started, 5000 done, 5000 succeeded, 0 failed, 0 errored, 0 timeout",
  );
  assertStringIncludes(stdout, "status codes: 5000 2xx, 0 3xx, 0 4xx, 0 5xx");
});

peerTest("h2load makes calls over TLS", { needs: [H2LOAD, OPENSSL] }, async () => {
  await using files = await makeCertificate();
  await using server = new EchoService().listen({ tls: true, certs: [files] });
  const { stdout } = await withRequest((path) =>
    run({
      command: "h2load",
      args: ["-n1000", "-c4", "-m16", "-d", path, ...HEADERS, `https://${server.addr}${UNARY}`],
    })
  );
  assertStringIncludes(stdout, "1000 succeeded, 0 failed");
  assertStringIncludes(stdout, "Application protocol: h2");
});

peerTest("curl makes a call and sees the message and the trailers", { needs: [CURL] }, async () => {
  await using server = new EchoService().listen();
  const { code, stdout, stderr } = await withRequest((path) =>
    run({
      command: "curl",
      args: [
        ...["-sv", "--http2-prior-knowledge", "--data-binary", `@${path}`, ...HEADERS],
        ...["-o", "-", `http://${server.addr}${UNARY}`],
      ],
    })
  );
  assertEquals(code, 0, stderr);
  assertStringIncludes(stderr, "< HTTP/2 200");
  assertStringIncludes(stderr, "grpc-status: 0");
  // Prefix: not compressed; text "hello", received 1.
  assertStringIncludes(stdout, "\0\0\0\0\x09\x0a\x05hello\x20\x01");
});

peerTest("curl without gRPC's content type gets 415, and GET 405", { needs: [CURL] }, async () => {
  await using server = new EchoService().listen();
  const status = async (...args: string[]) => {
    const { stdout } = await run({
      command: "curl",
      args: [
        ...["-s", "--http2-prior-knowledge", "-o", "/dev/null", "-w", "%{http_code}", ...args],
        `http://${server.addr}${UNARY}`,
      ],
    });
    return stdout;
  };
  assertEquals(await status("-d", "text"), "415");
  assertEquals(await status(), "415");
  assertEquals(await status(...HEADERS), "405");
});

peerTest("curl sees an answer that comes before its body is sent", { needs: [CURL] }, async () => {
  await using server = new EchoService().listen();
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeFile(path, new Uint8Array(3_000_000));
    const { stdout, stderr } = await run({
      command: "curl",
      args: [
        ...["-sv", "--http2-prior-knowledge", "--data-binary", `@${path}`],
        ...["-o", "/dev/null", "-w", "%{http_code}", `http://${server.addr}${UNARY}`],
      ],
    });
    assertEquals(stdout, "415", stderr);
  } finally {
    await Deno.remove(path);
  }
});

/** Runs `buf curl` with a request in JSON. */
async function bufCurl(url: string, data: string, more: string[] = []) {
  return await run({
    command: BUF[1]!,
    args: ["curl", "--schema", SCHEMA, "--protocol", "grpc", ...more, "-d", data, url],
  });
}

const PRIOR = "--http2-prior-knowledge";

peerTest("buf curl makes calls of all four kinds", { needs: [BUF] }, async () => {
  await using server = new EchoService().listen();
  const call = async (method: string, data: string) => {
    const url = `http://${server.addr}/sluice.test.v1.Echo/${method}`;
    const { code, stdout, stderr } = await bufCurl(url, data, [PRIOR]);
    assertEquals(code, 0, stderr);
    return stdout.trim().split(/\n(?=\{)/).map((text) => JSON.parse(text));
  };
  assertEquals(await call("Unary", '{"text":"hello"}'), [{ text: "hello", received: 1 }]);
  const many = await call("ServerStream", '{"text":"s","responseCount":3}');
  assertEquals(many.map((one) => one.index ?? 0), [0, 1, 2]);
  const joined = await call("ClientStream", '{"text":"a"}{"text":"b"}');
  assertEquals(joined, [{ text: "ab", received: 2 }]);
  const both = await call("BidiStream", '{"text":"a"}{"text":"b"}');
  assertEquals(both.map((one) => one.text), ["a", "b"]);
});

peerTest("buf curl shows the status of a call that fails", { needs: [BUF] }, async () => {
  await using server = new EchoService().listen();
  const url = `http://${server.addr}${UNARY}`;
  const { code, stderr } = await bufCurl(url, '{"code":5,"message":"no such thing"}', [PRIOR]);
  assert(code !== 0);
  assertEquals(JSON.parse(stderr), { code: "not_found", message: "no such thing" });
});

peerTest("buf curl makes a call over TLS", { needs: [BUF, OPENSSL] }, async () => {
  await using files = await makeCertificate();
  await using server = new EchoService().listen({ tls: true, certs: [files] });
  const url = `https://${server.addr}${UNARY}`;
  const { code, stdout, stderr } = await bufCurl(url, '{"text":"hello"}', [
    "--cacert",
    files.caFile,
  ]);
  assertEquals(code, 0, stderr);
  assertEquals(JSON.parse(stdout), { text: "hello", received: 1 });
});
