/** TLS of a server: which certificate, which suite, which protocol, whose certificate, how long. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { dial } from "../../../http/engine.ts";
import { listen, newClient, type ServerOptions } from "../../../http/mod.ts";
import { Authority, type Leaf, sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { type Need, peerTest } from "../../../support/peers.ts";
import { run, which } from "../../../support/process.ts";
import { SYSTEM_TIME } from "../../../http/time/time.ts";

const CURL: Need = ["curl", await which("curl"), "put curl on PATH"];
const needs = [OPENSSL, CURL];

const leaves = new Map<string, Promise<Leaf>>();

/** A certificate for names, made once. */
async function leafFor(...names: string[]): Promise<Leaf> {
  const key = names.join();
  const made = leaves.get(key) ?? sharedAuthority().then((from) => from.leaf({ names }));
  leaves.set(key, made);
  return await made;
}

interface Running extends AsyncDisposable {
  readonly server: ReturnType<typeof listen>;
  /** What was told of connections that failed. */
  readonly errors: string[];
}

/** Serves TLS; the answer tells version and client certificate. */
async function serve(options: Partial<ServerOptions> = {}): Promise<Running> {
  const errors: string[] = [];
  const server = listen({
    addr: "127.0.0.1:0",
    tls: true,
    certs: [await leafFor("localhost", "IP:127.0.0.1")],
    handler: (stream) => {
      stream.respond(200);
      stream.closeWrite(`${stream.version} ${stream.peerCertificate?.subject ?? "nobody"}`);
    },
    onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
    ...options,
  });
  return { server, errors, [Symbol.asyncDispose]: () => server.close() };
}

/** Runs curl against a server's port. Gives the body, or the exit code as text. */
async function curl(port: number, ...args: string[]): Promise<string> {
  const { caFile } = await sharedAuthority();
  const { code, stdout } = await run({
    command: "curl",
    args: [
      ...["-sS", "-m", "10", "--noproxy", "*", "--cacert", caFile],
      ...args,
      `https://localhost:${port}/`,
    ],
  });
  return code === 0 ? stdout : `exit ${code}`;
}

/** The handshake as openssl sees it. */
async function handshake(port: number, ...args: string[]) {
  const { caFile } = await sharedAuthority();
  const { stdout } = await run({
    command: "openssl",
    args: ["s_client", "-connect", `127.0.0.1:${port}`, "-CAfile", caFile, ...args],
    stdin: "",
  });
  const found = (pattern: RegExp) => pattern.exec(stdout)?.[1] ?? "";
  return {
    subject: found(/subject=CN = (.*)/),
    alpn: found(/ALPN protocol: (.*)/),
    cipher: found(/Cipher is (.*)/),
    version: found(/New, (\S+?),/),
  };
}

peerTest("listen() chooses the certificate by server name", { needs }, async () => {
  const one = await leafFor("one.test", "also.test");
  const two = await leafFor("two.test");
  const wild = await leafFor("*.wild.test");
  const exact = await leafFor("exact.wild.test");
  const nameless = await (await sharedAuthority()).leaf({ names: [], commonName: "old.test" });
  await using running = await serve({ certs: [one, two, wild, exact, nameless] });
  const { port } = running.server;
  const expected = {
    "one.test": "one.test",
    "also.test": "one.test",
    "TWO.test": "two.test",
    "a.wild.test": "*.wild.test",
    "exact.wild.test": "exact.wild.test",
    // A wildcard is one label, no more and no less.
    "wild.test": "one.test",
    "a.b.wild.test": "one.test",
    "old.test": "old.test",
    "unknown.test": "one.test",
  };
  for (const [name, subject] of Object.entries(expected)) {
    assertEquals((await handshake(port, "-servername", name)).subject, subject, name);
  }
  assertEquals((await handshake(port, "-noservername")).subject, "one.test");
  assertEquals(
    (await handshake(port, "-servername", "two.test", "-tls1_2")).subject,
    "two.test",
    "TLS 1.2",
  );
});

peerTest("setCerts() holds for new handshakes and leaves connections alone", {
  needs,
}, async () => {
  const { ca } = await sharedAuthority();
  const one = await leafFor("one.test", "localhost");
  const two = await leafFor("two.test", "localhost");
  for (const version of ["http/1.1", "h2"]) {
    await using running = await serve({ certs: [one, two] });
    const { server } = running;
    await using client = newClient({
      caCerts: [ca],
      serverName: "localhost",
      alpnProtos: [version],
    });
    const url = `https://${server.addr}/`;
    await client.get(url);
    server.setCerts([two]);
    for (const name of ["one.test", "two.test"]) {
      assertEquals((await handshake(server.port, "-servername", name)).subject, "two.test");
    }
    assertEquals((await handshake(server.port, "-noservername")).subject, "two.test");
    assertEquals((await client.get(url)).status, 200);
    assertEquals(client.connections.open, 1);
    // A list that cannot be used changes nothing.
    assertThrows(() => server.setCerts([one, { cert: one.cert, key: two.key }]), TypeError);
    assertEquals((await handshake(server.port, "-servername", "one.test")).subject, "two.test");
  }
});

peerTest("listen() and setCerts() say which certificate is wrong, and how", { needs }, async () => {
  const one = await leafFor("one.test");
  const two = await leafFor("two.test");
  const encrypted = (await run({
    command: "openssl",
    args: ["pkcs8", "-topk8", "-in", one.keyFile, "-passout", "pass:secret"],
  })).stdout;
  const { cert, key } = one;
  const wrong: [unknown, RegExp][] = [
    [undefined, /^Cannot use TLS without certificates: give certs: \[\{ cert, key \}\]$/],
    [[], /without certificates/],
    ["pem", /without certificates/],
    [[null], /^Cannot use certs\[0\] as it must be \{ cert, key \}: got null$/],
    [[one, { cert }], /^Cannot use certs\[1\] as key must be a private key in PEM/],
    [[{ key }], /as cert must be a certificate in PEM/],
    [[{ cert: "text", key }], /as cert must be a certificate in PEM.*got "text"$/],
    [[{ cert: key, key: cert }], /as cert must be a certificate in PEM/],
    [[{ cert, key: "secret" }], /as key must be a private key in PEM/],
    [[{ cert, key: cert }], /as key cannot be read as an unencrypted private key/],
    [[{ cert, key: encrypted }], /as key cannot be read as an unencrypted private key/],
    [[{ cert: cert.replace(/^M.*$/m, "AAAA"), key }], /as cert cannot be read/],
    [[one, { cert, key: two.key }], /^Cannot use certs\[1\] as key is not the private key of its/],
    // Leaf and intermediate in the wrong order.
    [[{ cert: two.cert + cert, key }], /"CN=two\.test": the leaf must come first$/],
  ];
  await using running = await serve({ certs: [one] });
  for (const [certs, message] of wrong) {
    // deno-lint-ignore no-explicit-any
    const given = certs as any;
    for (
      const call of [
        () => listen({ addr: "127.0.0.1:0", tls: true, certs: given, handler() {} }),
        () => running.server.setCerts(given),
      ]
    ) {
      const error = assertThrows(call, TypeError);
      assert(message.test(error.message), `${message}: ${error.message}`);
      assert(!error.message.includes("secret"), "a key was printed");
    }
  }
  await using plain = await serve({ tls: false });
  assertThrows(() => plain.server.setCerts([one]), TypeError, "set tls to true");
});

peerTest("listen() takes keys of every PEM form", { needs }, async () => {
  const from = await sharedAuthority();
  const ec = await leafFor("one.test");
  const rsa = await from.leaf({ names: ["rsa.test"], keyType: "rsa" });
  const convert = async (command: string, { keyFile }: Leaf, ...args: string[]) =>
    (await run({ command: "openssl", args: [command, "-in", keyFile, ...args] })).stdout;
  const forms: [Leaf, string][] = [
    [ec, ec.key],
    [ec, await convert("ec", ec)],
    [rsa, rsa.key],
    [rsa, await convert("rsa", rsa, "-traditional")],
  ];
  assertEquals(forms.map(([, key]) => /BEGIN (.*)-----/.exec(key)![1]), [
    "PRIVATE KEY",
    "EC PRIVATE KEY",
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
  ]);
  for (const [{ cert }, key] of forms) {
    await using running = await serve({ certs: [{ cert, key }] });
    const { subject, version } = await handshake(running.server.port);
    assert(/^(one|rsa)\.test$/.test(subject), subject);
    assertEquals(version, "TLSv1.3");
  }
});

const TLS13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
const tls12 = (key: "ECDSA" | "RSA") =>
  ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]
    .map((suite) => `ECDHE-${key}-${suite}`);

/** The options of openssl that make it offer these suites alone, in this order. */
function offering(suites: readonly string[]): string[] {
  return suites[0]!.startsWith("TLS_")
    ? ["-tls1_3", "-ciphersuites", suites.join(":")]
    : ["-tls1_2", "-cipher", suites.join(":")];
}

peerTest("with ciphers, every client that shares a suite connects and no other does", {
  needs,
}, async () => {
  const authority = await sharedAuthority();
  const leaves = {
    ECDSA: await authority.leaf(),
    RSA: await authority.leaf({ keyType: "rsa" }),
  };
  for (const key of ["ECDSA", "RSA"] as const) {
    const old = tls12(key);
    // Names of either kind; suites that the certificate rules out do no harm.
    const lists: [listed: string[], usable: string[]][] = [
      [[...TLS13, ...old], [...TLS13, ...old]],
      [TLS13, TLS13],
      [TLS13.toReversed(), TLS13],
      [old, old],
      [[...old, ...tls12(key === "RSA" ? "ECDSA" : "RSA")], old],
      [[...TLS13, ...tls12(key === "RSA" ? "ECDSA" : "RSA")], TLS13],
    ];
    for (const [listed, usable] of lists) {
      await using running = await serve({ certs: [leaves[key]], ciphers: listed.join(":") });
      const { server: { port }, errors } = running;
      for (const family of [TLS13, old]) {
        // Alone, and before the others of its version.
        for (const [i, suite] of family.entries()) {
          const rotated = [...family.slice(i), ...family.slice(0, i)];
          for (const offered of [[suite], rotated]) {
            const { cipher } = await handshake(port, ...offering(offered));
            assertEquals(cipher, usable.includes(suite) ? suite : "(NONE)", `${listed} ${offered}`);
          }
        }
      }
      // Refused in the handshake, by an alert: nobody is cut after it.
      const refused = usable.length === 6 ? 0 : 6;
      for (let tries = 0; errors.length < refused; tries++) {
        assert(tries < 100, `${errors.length} errors`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assertEquals(errors.length, refused, errors.join());
      for (const message of errors) assert(/^peer is incompatible: /.test(message), message);
    }
  }
});

peerTest("listen() refuses cipher lists that this platform cannot keep", { needs }, async () => {
  const authority = await sharedAuthority();
  const ecdsa = await authority.leaf();
  const rsa = await authority.leaf({ keyType: "rsa" });
  const wrong: [Leaf[], string[], RegExp][] = [
    [[ecdsa], TLS13.slice(1), /all or none of TLS 1\.3, .*; missing are TLS_AES_128_GCM_SHA256$/],
    [[ecdsa], [TLS13[0]!], /missing are TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256$/],
    [[ecdsa], [...TLS13, tls12("ECDSA")[0]!], /TLS 1\.2 with certificates of ECDSA keys/],
    [[rsa], ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"], /TLS 1\.2 with certificates of RSA keys/],
    [[ecdsa, rsa], tls12("ECDSA"), /ECDSA and RSA keys, .*; missing are ECDHE-RSA-AES128/],
    [[ecdsa], tls12("RSA"), /certs must have keys for them: .* the keys are ECDSA$/],
  ];
  for (const [certs, ciphers, message] of wrong) {
    const error = assertThrows(
      () =>
        listen({
          addr: "127.0.0.1:0",
          tls: true,
          certs,
          ciphers: ciphers.join(":"),
          handler() {},
        }),
      TypeError,
    );
    assert(error.message.startsWith("Cannot use ciphers as "), error.message);
    assert(message.test(error.message), error.message);
  }
});

peerTest("setCerts() keeps the cipher list, or refuses the certificates", { needs }, async () => {
  const authority = await sharedAuthority();
  const rsa = await authority.leaf({ keyType: "rsa" });
  await using running = await serve({ ciphers: tls12("ECDSA").join(":") });
  const { server } = running;
  assertThrows(() => server.setCerts([rsa]), TypeError, "the keys are RSA");
  server.setCerts([await leafFor("localhost", "IP:127.0.0.1")]);
  // This client would choose TLS 1.3.
  for (const name of [["-noservername"], ["-servername", "localhost"]]) {
    assertEquals((await handshake(server.port, ...name)).version, "TLSv1.2");
  }
  assertEquals(await curl(server.port), "HTTP/2 nobody");
});

Deno.test("listen() says which ciphers cannot be had", () => {
  const wrong: [unknown, RegExp][] = [
    ["", /the list is empty/],
    [":", /the list is empty/],
    ["TLS_AES_128_GCM_SHA256:AES128-SHA", /cipher "AES128-SHA" as it must be one of TLS_AES_128/],
    ["HIGH:!aNULL", /cipher "HIGH"/],
    ["constructor", /cipher "constructor"/],
    [["TLS_AES_128_GCM_SHA256"], /must be a text, suites separated by colons: got object/],
  ];
  for (const [ciphers, message] of wrong) {
    const error = assertThrows(
      // deno-lint-ignore no-explicit-any
      () => listen({ addr: "127.0.0.1:0", tls: true, ciphers: ciphers as any, handler() {} }),
      TypeError,
    );
    assert(message.test(error.message), error.message);
  }
});

peerTest("alpnProtos decide the version, and refuse who offers none of them", {
  needs,
}, async () => {
  const choices: [server: string[], client: string[], version: string][] = [
    [["h2"], ["http/1.1", "h2"], "HTTP/2"],
    [["http/1.1"], ["h2", "http/1.1"], "HTTP/1.1"],
    // The server's order counts.
    [["http/1.1", "h2"], ["h2", "http/1.1"], "HTTP/1.1"],
    [["h2", "http/1.1"], ["http/1.1", "h2"], "HTTP/2"],
    [["h2"], ["http/1.1"], "alpn"],
    [["http/1.1"], ["h2"], "alpn"],
    // Without ALPN on the server there is nothing to agree on.
    [[], ["http/1.1", "h2"], "HTTP/1.1"],
    [[], ["h2"], "alpn"],
  ];
  const { ca } = await sharedAuthority();
  for (const [ours, theirs, expected] of choices) {
    await using running = await serve({ alpnProtos: ours });
    await using client = newClient({ alpnProtos: theirs, caCerts: [ca] });
    const got = await client.get(`https://${running.server.addr}/`).then(
      ({ version }) => version,
      (error) => error.phase,
    );
    assertEquals(got, expected, `${ours} and ${theirs}`);
  }
  await using running = await serve({ alpnProtos: ["h2"] });
  const { port } = running.server;
  assertEquals(await curl(port, "--http1.1"), "exit 35");
  assertEquals((await handshake(port, "-alpn", "foo,h2")).alpn, "h2");
  // Who offers nothing is served as it speaks.
  assertEquals(await curl(port, "--no-alpn"), "HTTP/1.1 nobody");
  for (const alpnProtos of [["h3"], "h2"]) {
    assertThrows(
      () => listen({ addr: "127.0.0.1:0", alpnProtos: alpnProtos as string[], handler() {} }),
      TypeError,
      `must be among "h2" and "http/1.1"`,
    );
  }
});

peerTest("clientCa lets certificates of that authority in, and tells the handler", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  await using theirs = await Authority.make("Another authority");
  await using old = await serve({
    certs: [await leafFor("localhost", "IP:127.0.0.1"), await leafFor("two.test")],
    clientCa: ours.ca,
    requireClientCert: true,
  });
  const { server, errors } = old;
  const alice = await ours.leaf({ names: ["alice"], usage: "clientAuth" });
  const mallory = await theirs.leaf({ names: ["mallory"], usage: "clientAuth" });
  const late = await ours.leaf({ names: ["late"], usage: "clientAuth", days: -1 });
  const serverOnly = await ours.leaf({ names: ["server"], usage: "serverAuth" });
  const as = ({ certFile, keyFile }: Leaf) => ["--cert", certFile, "--key", keyFile];

  // Before and after a reload, with and without a server name.
  for (const reload of [false, true]) {
    if (reload) server.setCerts([await leafFor("localhost", "IP:127.0.0.1")]);
    assertEquals(await curl(server.port, ...as(alice)), "HTTP/2 CN=alice");
    assertEquals(await curl(server.port, ...as(alice), "--http1.1"), "HTTP/1.1 CN=alice");
    assertEquals(await curl(server.port, ...as(alice), "--tls-max", "1.2"), "HTTP/2 CN=alice");
    assertEquals(errors, []);
    for (
      const [leaf, reason] of [[mallory, /UNABLE_TO/], [late, /EXPIRED/], [
        serverOnly,
        /./,
      ]] as const
    ) {
      for (const more of [[], ["--tls-max", "1.2"]]) {
        assert((await curl(server.port, ...as(leaf), ...more)).startsWith("exit "));
        const message = errors.shift()!;
        assert(message.includes("the client's certificate was refused: "), message);
        assert(reason.test(message), message);
      }
    }
    assert((await curl(server.port)).startsWith("exit "));
    assertEquals(errors.splice(0), ["peer sent no certificates"]);
  }

  // Without the duty a certificate that does not verify is as none.
  await using open = await serve({ clientCa: ours.ca + theirs.ca });
  assertEquals(await curl(open.server.port, ...as(alice)), "HTTP/2 CN=alice");
  assertEquals(await curl(open.server.port, ...as(mallory)), "HTTP/2 CN=mallory");
  assertEquals(await curl(open.server.port, ...as(late)), "HTTP/2 nobody");
  assertEquals(await curl(open.server.port), "HTTP/2 nobody");
});

peerTest("stream.peerCertificate tells what the certificate says", { needs }, async () => {
  const ours = await sharedAuthority();
  const alice = await ours.leaf({ names: ["alice.test"], usage: "clientAuth" });
  let seen: unknown;
  await using running = await serve({
    clientCa: ours.ca,
    handler: (stream) => {
      seen = stream.peerCertificate;
      stream.respond(204, {}, true);
    },
  });
  await curl(running.server.port, "--cert", alice.certFile, "--key", alice.keyFile);
  const { raw, fingerprint256, validTo, ...rest } = seen as Record<string, unknown>;
  assertEquals(rest, {
    subject: "CN=alice.test",
    issuer: "CN=Test authority",
    subjectAltName: "DNS:alice.test",
  });
  const digest = await crypto.subtle.digest("SHA-256", raw as Uint8Array<ArrayBuffer>);
  const hex = [...new Uint8Array(digest)].map((octet) => octet.toString(16).padStart(2, "0"));
  assertEquals(fingerprint256, hex.join(":").toUpperCase());
  assert(Math.abs(Date.parse(validTo as string) - Date.now()) < 2 * 86_400_000);
});

Deno.test("listen() refuses settings of TLS that would not hold", () => {
  const wrong: [Partial<ServerOptions>, RegExp][] = [
    [{ requireClientCert: true }, /requireClientCert needs clientCa/],
    [{ clientCa: "nonsense" }, /clientCa must be certificates in PEM/],
    [{ clientCa: "" }, /clientCa must be certificates in PEM/],
    [
      { clientCa: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
      /certificate 1 of clientCa cannot be read/,
    ],
    [{ tls: false, clientCa: "x" }, /client certificates need TLS/],
    [{ tls: false, requireClientCert: true }, /client certificates need TLS/],
    [{ tls: "yes" as unknown as boolean }, /tls must be true or false: current value is yes/],
    [{ requireClientCert: 1 as unknown as boolean }, /requireClientCert must be true or false/],
    [{ handshakeTimeout: -1 }, /handshakeTimeout must be a number >= 0/],
    [{ handshakeTimeout: "1s" as unknown as number }, /handshakeTimeout must be a number >= 0/],
    [{ backlog: 0 }, /backlog must be an integer from 1/],
    [{ backlog: 2 ** 31 }, /backlog must be an integer from 1/],
  ];
  for (const [options, message] of wrong) {
    const error = assertThrows(
      () => listen({ addr: "127.0.0.1:0", tls: true, handler() {}, ...options }),
      TypeError,
    );
    assert(message.test(error.message), error.message);
  }
});

peerTest("certs without tls serve plain HTTP", { needs }, async () => {
  await using running = await serve({ tls: false });
  await using client = newClient();
  assertEquals((await client.get(`http://${running.server.addr}/`)).body, "HTTP/1.1 nobody");
  assert((await curl(running.server.port)).startsWith("exit "));
});

peerTest("a port in use is told at once, with TLS as without", { needs }, async () => {
  await using running = await serve();
  for (const tls of [true, false]) {
    const certs = [await leafFor("localhost", "IP:127.0.0.1")];
    assertThrows(
      () => listen({ addr: running.server.addr, tls, certs, handler() {} }),
      Deno.errors.AddrInUse,
    );
  }
});

peerTest("backlog reaches the system, with TLS as without", {
  needs: [...needs, ["ss", await which("ss"), "install iproute2"]],
}, async () => {
  for (const tls of [true, false]) {
    await using running = await serve({ tls, backlog: 7 });
    const { stdout } = await run({
      command: "ss",
      args: ["-Hltn", `sport = :${running.server.port}`],
    });
    // State, Recv-Q, Send-Q: that is the backlog of a port that listens.
    assertEquals(stdout.trim().split(/\s+/)[2], "7", stdout);
  }
});

/** Milliseconds until the server closes `conn`. */
async function untilClosed(conn: Deno.Conn): Promise<number> {
  const since = performance.now();
  const buf = new Uint8Array(256);
  try {
    while (await conn.read(buf) !== null);
  } catch {
    // A reset closes as well.
  }
  return performance.now() - since;
}

peerTest("handshakeTimeout ends handshakes that do not end", { needs }, async () => {
  await using running = await serve({ limits: { handshakeTimeout: 200 } });
  const { server: { port }, errors } = running;
  const dial = () => Deno.connect({ hostname: "127.0.0.1", port });
  // A first octet of a handshake, and one more now and then.
  const start = Uint8Array.of(22, 3, 1, 2, 0);
  for (const drip of [null, start]) {
    using conn = await dial();
    let timer: ReturnType<typeof setInterval> | undefined;
    if (drip !== null) {
      await conn.write(drip);
      timer = setInterval(() => conn.write(drip.subarray(0, 1)).catch(() => {}), 40);
    }
    const ms = await untilClosed(conn);
    clearInterval(timer);
    assert(ms > 150 && ms < 8000, `closed after ${ms} ms`);
  }
  assertEquals(errors.splice(0), Array(2).fill("TLS handshake timeout"));
  // What is no handshake does not wait for that.
  using http = await dial();
  await http.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
  await untilClosed(http);
  assert(/InvalidContentType/.test(errors.join()), errors.join());
  assertEquals(await curl(port), "HTTP/2 nobody");
});

peerTest("maxConnections counts connections from before their handshake", { needs }, async () => {
  await using running = await serve({ limits: { maxConnections: 3 } });
  const { port } = running.server;
  const conns: Deno.Conn[] = [];
  for (let i = 0; i < 8; i++) conns.push(await Deno.connect({ hostname: "127.0.0.1", port }));
  // Five are closed at once; three may make a handshake.
  await Promise.all(conns.slice(3).map(untilClosed));
  assert((await curl(port)).startsWith("exit "));
  // Whoever floods a port shall not flood a log.
  assertEquals(running.errors, []);
  for (const conn of conns) conn.close();
  for (let tries = 0; await curl(port) !== "HTTP/2 nobody"; tries++) assert(tries < 50);
});

peerTest("what a handler does not read stops the client, and comes later", { needs }, async () => {
  const size = 64 << 20;
  const go = Promise.withResolvers<void>();
  await using running = await serve({
    limits: { maxBodyBytes: 0 },
    handler: async (stream) => {
      await go.promise;
      let sum = 0;
      for await (const piece of stream) sum += piece.length;
      stream.respond(200);
      stream.closeWrite(`${sum}`);
    },
  });
  const { ca } = await sharedAuthority();
  const socket = await dial({
    time: SYSTEM_TIME,
    hostname: "127.0.0.1",
    port: running.server.port,
    tls: { caCerts: [ca], alpnProtos: ["http/1.1"] },
  });
  let sent = 0;
  const sending = (async () => {
    const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${size}\r\n\r\n`;
    await socket.write(new TextEncoder().encode(head));
    const piece = new Uint8Array(64 << 10);
    while (sent < size) sent += await socket.write(piece.subarray(0, size - sent));
  })();
  // Until nothing more goes out.
  for (let before = -1; sent !== before;) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert(sent > 0 && sent < 24 << 20, `${sent >> 20} MiB were taken though nobody reads`);
  go.resolve();
  await sending;
  const answer = new Uint8Array(4096);
  const n = await socket.read(answer);
  const text = new TextDecoder().decode(answer.subarray(0, n!));
  assert(text.endsWith(`${size}`) || text.includes("200 OK"), text);
  socket.close();
});

peerTest("close() does not wait for handshakes", { needs }, async () => {
  const { server } = await serve();
  using conn = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await conn.write(Uint8Array.of(22, 3, 1));
  const closed = untilClosed(conn);
  const since = performance.now();
  await server.close();
  await closed;
  assert(performance.now() - since < 8000);
});
