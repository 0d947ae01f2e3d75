import { assertEquals, assertGreaterOrEqual } from "@std/assert";
import { http } from "@sluice/sluice";
import { makeCertificate, OPENSSL } from "../../support/certificate.ts";
import { inPeers, type Need, peerTest } from "../../support/peers.ts";
import { run, which } from "../../support/process.ts";

const h2spec = Deno.env.get("H2SPEC") ?? inPeers("bin/h2spec") ?? await which("h2spec");
const H2SPEC: Need = [
  "h2spec",
  h2spec,
  "go install github.com/summerwind/h2spec/cmd/h2spec@latest, and put it on PATH or set H2SPEC",
];

/**
 * Cases with the strict ones (`-S`): 147 in h2spec 2.6, 146 in 2.2.1, the last one that the Go proxy
 * has. Fewer would mean that it stopped early.
 */
const LEAST_CASES = 146;

/** Milliseconds for all of them; a case that gets no answer takes two seconds. */
const TIMEOUT = 120_000;

/** Answers every request with 200 and what it sent, or "hello" if that was nothing. */
async function echo(stream: http.ServerStream): Promise<void> {
  const body = await stream.readAll();
  await stream.respond(200, { "content-type": "text/plain" });
  stream.closeWrite(body || "hello");
}

/** Runs h2spec and checks that every case passed; the message of a failure is its report. */
async function runAll(port: number, more: string[]): Promise<void> {
  const args = ["--strict", `--port=${port}`, ...more];
  const { stdout, stderr } = await run({ command: h2spec!, args }, TIMEOUT);
  const summary = stdout.match(/(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed/);
  const report = stdout.slice(Math.max(0, stdout.indexOf("Failures:"))) + stderr;
  const [cases = 0, passed, skipped, failed] = summary?.slice(1).map(Number) ?? [];
  assertGreaterOrEqual(cases, LEAST_CASES, report);
  assertEquals({ passed, skipped, failed }, { passed: cases, skipped: 0, failed: 0 }, report);
}

peerTest("http.listen() passes all strict cases of h2spec over TCP", {
  needs: [H2SPEC],
}, async () => {
  await using server = http.listen({ addr: "127.0.0.1:0", handler: echo });
  await runAll(server.port, []);
});

peerTest("http.listen() passes all strict cases of h2spec over TLS", {
  needs: [H2SPEC, OPENSSL],
}, async () => {
  await using files = await makeCertificate();
  await using server = http.listen({
    addr: "127.0.0.1:0",
    handler: echo,
    tls: true,
    certs: [files],
    alpnProtos: ["h2", "http/1.1"],
  });
  await runAll(server.port, ["--tls", "--insecure"]);
});
