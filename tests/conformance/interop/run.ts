// deno-lint-ignore-file no-console
/**
 * Runs gRPC's interoperability cases against grpc-java, C-core and tonic, with and without TLS: their
 * clients against our server, ours against their servers. The exit code is 0 when every case passed and
 * no peer is missing; where there is no cargo, tonic is left out.
 *
 * ```sh
 * tests/conformance/interop/fetch.sh $SLUICE_PEERS/interop
 * deno task conformance:interop [peer]
 * ```
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { makeCertificate } from "../../../support/certificate.ts";
import { accepting, freePort } from "../../../support/ports.ts";
import { Process, run } from "../../../support/process.ts";
import {
  CASES,
  COMPRESSION_CASES,
  testService,
  testServiceFile,
} from "../../interop/test_service.ts";
import { type Encoding, encodingOf, type Peer, peers, SERVER_NAME, type Tls } from "./peers.ts";

/** Bytes of a request that `very_large_request` passes the usual limit with. */
const MAX_RECEIVE_SIZE = 16 << 20;

/** Milliseconds that no program needs for one case, or for all of them. */
const ENOUGH = 60_000;

/** Outcomes of a peer's cases: what went wrong, or null, by name. */
type Outcomes = Map<string, string | null>;

const certificate = async (tls: Tls) => ({
  cert: await Deno.readTextFile(tls.certFile),
  key: await Deno.readTextFile(tls.keyFile),
});

async function theirClient(peer: Peer, tls: Tls | null): Promise<Outcomes> {
  await using server = grpc.listen({
    addr: "127.0.0.1:0",
    registrar: testService(),
    maxReceiveSize: MAX_RECEIVE_SIZE,
    ...(tls === null ? {} : { tls: true, certs: [await certificate(tls)] }),
  });
  const outcomes: Outcomes = new Map();
  const { cases, command } = peer.client;
  if (cases === "all") {
    const { code, stdout, stderr } = await run(command(server.port, tls, ""), ENOUGH);
    for (const [, name, fault] of stdout.matchAll(/^(\w+) (?:passed|(failed.*))$/gm)) {
      outcomes.set(name!, fault ?? null);
    }
    if (code !== 0 || outcomes.size === 0) outcomes.set("the program", stdout + stderr);
  } else {
    for (const name of cases) {
      const { code, stdout, stderr } = await run(command(server.port, tls, name), ENOUGH);
      outcomes.set(name, code === 0 ? null : stdout + stderr);
    }
  }
  return outcomes;
}

/** A large call, request and response compressed; gRPC's cases have none for each encoding. */
async function largeUnary(service: grpc.DynamicService, encoding: Encoding): Promise<void> {
  const response = await service.UnaryCall!({
    responseSize: 314_159,
    responseCompressed: { value: true },
    payload: { body: new Uint8Array(271_828) },
  }, { encoding, compress: true, timeout: ENOUGH });
  assertEquals([response.payload.body.length, grpc.wasCompressed(response)], [314_159, true]);
}

async function theirServer(peer: Peer, tls: Tls | null): Promise<Outcomes> {
  const port = freePort();
  await using process = new Process(peer.server!.command(port, tls));
  await accepting(port, process);
  await using conn = grpc.newClient({
    targets: [`127.0.0.1:${port}`],
    tls: tls === null
      ? false
      : { caCerts: [await Deno.readTextFile(tls.caFile)], serverName: SERVER_NAME },
  });
  const service = grpc.newService(conn, testServiceFile, "TestService");
  const outcomes: Outcomes = new Map();
  for (const name of peer.server!.cases) {
    try {
      const check = CASES[name];
      const encoding = encodingOf(name);
      if (check !== undefined) await check(service, conn);
      else if (encoding !== null) await largeUnary(service, encoding);
      else await COMPRESSION_CASES[name]!(service, { encoding: "gzip" });
      outcomes.set(name, null);
    } catch (error) {
      outcomes.set(name, String(error));
    }
  }
  return outcomes;
}

const protoc = Deno.env.get("PROTOC") ?? "protoc";
const descriptors = await Deno.makeTempFile({ suffix: ".binpb" });
const compiled = await run({
  command: protoc,
  args: ["-I", new URL("../../interop", import.meta.url).pathname]
    .concat(`--descriptor_set_out=${descriptors}`, "test_service.proto"),
});
if (compiled.code !== 0) throw new Error(compiled.stderr);
await using own = await makeCertificate();

const { found, missing } = await peers(descriptors);
for (const { what } of missing) console.log(`left out, ${what}`);
let failed = missing.filter(({ fault }) => fault).length;
const wanted = found.filter(({ name }) => name.startsWith(Deno.args[0] ?? ""));
if (wanted.length === 0) throw new Error(`No peer's name begins with ${Deno.args[0]}`);
for (const peer of wanted) {
  for (const tls of [null, peer.tls ?? own]) {
    const sides = [["client", theirClient], ["server", theirServer]] as const;
    for (const [side, play] of sides) {
      if (peer[side] === null) continue;
      const outcomes = await play(peer, tls);
      const faults = [...outcomes].filter(([, fault]) => fault !== null);
      failed += faults.length;
      const passed = outcomes.size - faults.length;
      console.log(
        `${peer.name}, its ${side}, ${tls === null ? "plain" : "TLS"}: ` +
          `${passed} passed, ${faults.length} failed`,
      );
      for (const [name, fault] of faults) console.log(`  ${name}: ${fault}`);
    }
  }
}
await Deno.remove(descriptors);
Deno.exitCode = failed === 0 ? 0 : 1;
