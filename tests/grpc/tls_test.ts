import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { sharedAuthority } from "../../support/authority.ts";
import { type CertificateFiles, makeCertificate, OPENSSL } from "../../support/certificate.ts";
import { GREETER, type Request } from "../../support/greeter.ts";
import { peerTest } from "../../support/peers.ts";

function registrar(): grpc.Registrar {
  const made = new grpc.Registrar();
  made.register(GREETER, {
    SayHello: ({ name, payload }: Request) => ({ message: `Hello ${name}`, payload }),
  });
  return made;
}

function tls(certificate: CertificateFiles, options: Partial<grpc.ServerOptions> = {}) {
  return grpc.listen({
    addr: "127.0.0.1:0",
    registrar: registrar(),
    tls: true,
    certs: [{ cert: certificate.cert, key: certificate.key }],
    ...options,
  });
}

peerTest(
  "a call over TLS gives the response, whatever its size",
  { needs: [OPENSSL] },
  async () => {
    await using certificate = await makeCertificate();
    await using server = tls(certificate);
    await using conn = grpc.newClient({
      targets: [server.addr],
      tls: { caCerts: [certificate.ca] },
    });
    const greeter = grpc.newService(conn, GREETER);
    assertEquals((await greeter.SayHello({ name: "TLS" })).message, "Hello TLS");
    const payload = new Uint8Array(3 << 20).fill(7);
    assertEquals((await greeter.SayHello({ payload })).payload.length, payload.length);
    await Promise.all(Array.from({ length: 200 }, () => greeter.SayHello({ name: "x" })));
  },
);

peerTest(
  "a certificate that does not verify gives UNAVAILABLE with its reason",
  { needs: [OPENSSL] },
  async () => {
    await using certificate = await makeCertificate();
    await using server = tls(certificate);
    const failure = async (options: Partial<grpc.ClientOptions>) => {
      await using conn = grpc.newClient({ targets: [server.addr], ...options });
      return await assertRejects(
        () => grpc.newService(conn, GREETER).SayHello!({}, 5000),
        ConnectError,
      ) as ConnectError;
    };
    const unknown = await failure({ tls: true });
    assertEquals(unknown.code, Code.Unavailable);
    assert(/tls failed: .*UnknownIssuer/.test(unknown.message), unknown.message);
    const name = await failure({ tls: { caCerts: [certificate.ca], serverName: "other.test" } });
    assert(/tls failed: .*other\.test/.test(name.message), name.message);
    const plain = await failure({});
    assertEquals(plain.code, Code.Unavailable);
  },
);

peerTest("newClient() says which certificate or key is wrong", { needs: [OPENSSL] }, async () => {
  await using certificate = await makeCertificate();
  const { cert, ca } = certificate;
  for (const tls of [{ cert }, { cert, key: "x" }, { caCerts: ["x"] }, { caCerts: ca as never }]) {
    const error = assertThrows(() => grpc.newClient({ targets: ["a:1"], tls }), TypeError);
    assert(error.message.startsWith("Cannot make a client as "), error.message);
  }
});

peerTest(
  "a client certificate reaches the server, which can insist on one",
  { needs: [OPENSSL] },
  async () => {
    await using certificate = await makeCertificate();
    await using server = tls(certificate, { clientCa: certificate.ca, requireClientCert: true });
    const { ca, cert, key } = certificate;
    await using with_ = grpc.newClient({
      targets: [server.addr],
      tls: { caCerts: [ca], cert, key },
    });
    assertEquals(
      (await grpc.newService(with_, GREETER).SayHello!({ name: "x" })).message,
      "Hello x",
    );
    await using without = grpc.newClient({ targets: [server.addr], tls: { caCerts: [ca] } });
    const error = await assertRejects(
      () => grpc.newService(without, GREETER).SayHello!({}, 3000),
      ConnectError,
    ) as ConnectError;
    assertEquals(error.code, Code.Unavailable);
  },
);

peerTest(
  "a server is taken for the names of subjectAltName, with and without a client certificate",
  { needs: [OPENSSL] },
  async () => {
    const ours = await sharedAuthority();
    const { cert, key } = await ours.leaf({ names: ["me"], usage: "clientAuth" });
    const cases: [leaf: { names: string[]; commonName: string }, name: string, taken: boolean][] = [
      [{ names: [], commonName: "a.test" }, "a.test", false],
      [{ names: ["email:a@a.test"], commonName: "a.test" }, "a.test", false],
      [{ names: ["f*.ex.test"], commonName: "x" }, "foo.ex.test", false],
      [{ names: ["*.ex.test"], commonName: "x" }, "a.ex.test", true],
      [{ names: [], commonName: "127.0.0.1" }, "127.0.0.1", false],
      [{ names: ["IP:127.0.0.1"], commonName: "x" }, "127.0.0.1", true],
    ];
    for (const [leaf, serverName, taken] of cases) {
      const certificate = await ours.leaf(leaf);
      await using server = grpc.listen({
        addr: "127.0.0.1:0",
        registrar: registrar(),
        tls: true,
        certs: [certificate],
      });
      for (const shown of [{}, { cert, key }]) {
        await using conn = grpc.newClient({
          targets: [server.addr],
          tls: { caCerts: [ours.ca], serverName, ...shown },
        });
        const answer = grpc.newService(conn, GREETER).SayHello!({ name: "x" }, 10_000);
        if (taken) {
          assertEquals((await answer).message, "Hello x");
        } else {
          const error = await assertRejects(() => answer, ConnectError) as ConnectError;
          assertEquals(error.code, Code.Unavailable);
          assert(/not valid for name/.test(error.message), error.message);
        }
      }
    }
  },
);

peerTest(
  "ciphers limit a server to what its clients can share, or are refused",
  { needs: [OPENSSL] },
  async () => {
    await using certificate = await makeCertificate();
    const suites = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256";
    await using server = tls(certificate, { ciphers: suites });
    await using conn = grpc.newClient({
      targets: [server.addr],
      tls: { caCerts: [certificate.ca] },
    });
    assertEquals(
      (await grpc.newService(conn, GREETER).SayHello!({ name: "x" })).message,
      "Hello x",
    );
    for (const ciphers of ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "HIGH", ""]) {
      assertThrows(() => tls(certificate, { ciphers }), TypeError, "cipher");
    }
    // Clients have no such option: the server decides.
    const options = { caCerts: [certificate.ca], ciphers: suites };
    assertThrows(() => grpc.newClient({ targets: ["a:1"], tls: options }), TypeError, "ciphers");
  },
);

peerTest(
  "a server that shows an authority's certificate is refused with what to do about it",
  { needs: [OPENSSL] },
  async () => {
    const ours = await sharedAuthority();
    const { cert, key } = await ours.leaf({ names: ["me"], usage: "clientAuth" });
    const certs = [{ cert: ours.ca, key: await Deno.readTextFile(`${ours.folder}/ca.key`) }];
    await using server = grpc.listen({
      addr: "127.0.0.1:0",
      registrar: registrar(),
      tls: true,
      certs,
      onError: () => {},
    });
    for (const shown of [{}, { cert, key }]) {
      await using conn = grpc.newClient({
        targets: [server.addr],
        tls: { caCerts: [ours.ca], ...shown },
      });
      const error = await assertRejects(
        () => grpc.newService(conn, GREETER).SayHello!({}, 5000),
        ConnectError,
      ) as ConnectError;
      assert(error.message.includes("issue a leaf certificate"), error.message);
    }
  },
);
