/** For whom a client takes a server: one rule, whichever way the handshake is made. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type ClientOptions, DialError, listen, newClient } from "../../../http/mod.ts";
import { certificateNames, identityFault } from "../../../http/net/identity.ts";
import { type LeafOptions, sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { ForwardProxy } from "../../../support/forward_proxy.ts";
import { peerTest } from "../../../support/peers.ts";
import { run } from "../../../support/process.ts";

const needs = [OPENSSL];

/** Certificates, and whom clients take their owners for. */
const CASES: { leaf: LeafOptions; accepted: string[]; refused: string[] }[] = [
  { leaf: { names: [], commonName: "a.test" }, accepted: [], refused: ["a.test"] },
  { leaf: { names: [], commonName: "127.0.0.1" }, accepted: [], refused: ["127.0.0.1"] },
  {
    leaf: { names: ["A.test"], commonName: "cn.test" },
    accepted: ["a.test", "A.TEST"],
    refused: ["b.test", "cn.test", "x.a.test", "test"],
  },
  {
    leaf: { names: ["email:a@b.test"], commonName: "a.test" },
    accepted: [],
    refused: ["a.test", "b.test"],
  },
  {
    leaf: { names: ["URI:https://a.test/"], commonName: "a.test" },
    accepted: [],
    refused: ["a.test"],
  },
  {
    leaf: { names: ["*.ex.test"], commonName: "x" },
    accepted: ["a.ex.test", "B.EX.test"],
    refused: ["a.b.ex.test", "ex.test", "aex.test"],
  },
  { leaf: { names: ["f*.ex.test"], commonName: "x" }, accepted: [], refused: ["foo.ex.test"] },
  { leaf: { names: ["a.*.test"], commonName: "x" }, accepted: [], refused: ["a.b.test"] },
  { leaf: { names: ["*.test"], commonName: "x" }, accepted: [], refused: ["a.test"] },
  { leaf: { names: ["*"], commonName: "x" }, accepted: [], refused: ["localhost"] },
  {
    leaf: { names: ["IP:127.0.0.1", "IP:::1"], commonName: "a.test" },
    accepted: ["127.0.0.1", "::1"],
    refused: ["127.0.0.2", "a.test"],
  },
  // An address is no name, and a name no address.
  { leaf: { names: ["127.0.0.1"], commonName: "x" }, accepted: [], refused: ["127.0.0.1"] },
  { leaf: { names: ["a.test"], commonName: "127.0.0.1" }, accepted: [], refused: ["127.0.0.1"] },
];

peerTest("clients take a server for the names of subjectAltName, on every way to it", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  const { cert, key } = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  await using plainProxy = new ForwardProxy();
  await using secureProxy = new ForwardProxy({ leaf: await ours.leaf() });
  const ways: ClientOptions[] = [
    {},
    { proxy: { https: plainProxy.url() } },
    { proxy: { https: secureProxy.url() } },
  ];
  const engines = ["own", "deno"] as const;
  let turn = 0;
  for (const { leaf, accepted, refused } of CASES) {
    await using server = listen({
      addr: "127.0.0.1:0",
      tls: true,
      certs: [await ours.leaf(leaf)],
      handler: () => new Response("ok"),
    });
    for (const name of [...accepted, ...refused]) {
      for (const way of ways) {
        for (const shown of [{}, { cert, key }]) {
          const engine = engines[turn++ % 2]!;
          // What the platform's calls cannot do is refused when the client is made.
          const able = engine === "own" || !("cert" in shown || way === ways[2]);
          await using client = newClient({
            caCerts: [ours.ca],
            serverName: name,
            connectTimeout: 10_000,
            engine: able ? engine : "own",
            ...way,
            ...shown,
          });
          const about = `${JSON.stringify(leaf)} as ${name}, ${JSON.stringify(way)}, ${
            "cert" in shown ? "with" : "without"
          } a certificate`;
          const answer = client.get(`https://127.0.0.1:${server.port}/`);
          if (accepted.includes(name)) {
            assertEquals((await answer).body, "ok", about);
          } else {
            const error = await assertRejects(() => answer, DialError, undefined, about);
            assertEquals(error.phase, "tls", about);
            assert(error.message.includes("not valid for name"), `${about}: ${error.message}`);
          }
        }
      }
    }
  }
});

peerTest("an authority's certificate is refused on every way, with what to do about it", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  const { cert, key } = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  // As `openssl req -x509` makes it unless told otherwise.
  const made = (...more: string[]) =>
    run({
      command: "openssl",
      args: [
        ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
        ...["-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        ...["-keyout", `${ours.folder}/own.key`, ...more],
      ],
    });
  for (const leaf of [false, true]) {
    const { stdout: self } = await made(
      ...(leaf ? ["-addext", "basicConstraints=critical,CA:FALSE"] : []),
    );
    await using server = listen({
      addr: "127.0.0.1:0",
      tls: true,
      certs: [{ cert: self, key: await Deno.readTextFile(`${ours.folder}/own.key`) }],
      handler: () => new Response("ok"),
    });
    for (const shown of [{}, { cert, key }]) {
      await using client = newClient({ caCerts: [self], ...shown });
      const answer = client.get(`https://localhost:${server.port}/`);
      if (leaf) {
        assertEquals((await answer).body, "ok");
      } else {
        const error = await assertRejects(() => answer, DialError);
        assert(error.message.includes("issue a leaf certificate"), error.message);
        assert(error.message.includes("CA:FALSE"), error.message);
      }
    }
  }
});

peerTest("identityFault() refuses what is no certificate, whole or cut", { needs }, async () => {
  for (const bytes of [[], [0x30], [0x30, 0x80], [0x30, 0x84, 1, 1, 1, 1], [0x30, 2, 0x30, 9]]) {
    const fault = identityFault("a.test", Uint8Array.from(bytes));
    assert(fault instanceof Error && /names cannot be read/.test(fault.message));
  }
  const { cert } = await (await sharedAuthority()).leaf({ names: ["a.test", "IP:10.0.0.1"] });
  const der = Uint8Array.from(atob(cert.replace(/-----.*-----|\s/g, "")), (c) => c.charCodeAt(0));
  assertEquals(identityFault("a.test", der), undefined);
  assertEquals(identityFault("10.0.0.1", der), undefined);
  assertEquals(certificateNames(der), {
    dns: ["a.test"],
    ip: [Uint8Array.of(10, 0, 0, 1)],
    authority: false,
  });
  for (let n = 0; n < der.length; n++) assert(identityFault("a.test", der.subarray(0, n)));
});
