import { assert, assertEquals } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { makeCertificate, OPENSSL } from "../../support/certificate.ts";
import { Etcd, findEtcd } from "../../support/etcd.ts";
import { peerTest } from "../../support/peers.ts";
import { readEvents, rejected } from "../../support/kv.ts";

const needs = [
  ["etcd", await findEtcd(), "install etcd-server, or set ETCD to the program"] as const,
  OPENSSL,
];

peerTest("an etcd with TLS that asks for certificates", { needs }, async () => {
  await using files = await makeCertificate();
  const { ca, cert, key } = files;
  await using etcd = await Etcd.start({
    scheme: "https",
    flags: [
      `--cert-file=${files.certFile}`,
      `--key-file=${files.keyFile}`,
      "--client-cert-auth",
      `--trusted-ca-file=${files.caFile}`,
    ],
  });
  {
    await using client = kv.newClient({
      endpoints: [`https://${etcd.endpoint}`],
      tls: { caCerts: [ca], cert, key },
    });
    await client.put({ key: "a", value: "1" });
    const watch = await client.watch({ key: "a", revision: 1 });
    assertEquals((await readEvents(watch, 1))[0]!.kv.value, "1");
  }
  for (
    const tls of [
      true, // does not know the authority
      { caCerts: [ca] }, // has no certificate
      false, // does not speak TLS
    ]
  ) {
    await using client = kv.newClient({ endpoints: [etcd.endpoint], tls, retry: 0 });
    const error = await rejected(client.put({ key: "a", value: "2" }), kv.KvError);
    assertEquals([error.name, error.code], ["KvError", grpc.code.UNAVAILABLE]);
    assert(error.message !== "" && error.cause instanceof Error);
  }
});
