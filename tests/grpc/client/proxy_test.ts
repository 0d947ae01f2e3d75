/** Clients behind proxies: tunnels by CONNECT, with TLS and without, on every protocol. */
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Code, type ConnectError } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { ForwardProxy } from "../../../support/forward_proxy.ts";
import { GREETER } from "../../../support/greeter.ts";
import { peerTest } from "../../../support/peers.ts";

const registrar = new grpc.Registrar();
registrar.register(GREETER, { SayHello: ({ name }) => ({ message: `Hello ${name}` }) });

async function hello(options: grpc.ClientOptions): Promise<string> {
  await using conn = grpc.newClient(options);
  try {
    return (await grpc.newService(conn, GREETER).SayHello({ name: "you" }, 10_000)).message;
  } catch (error) {
    const { code, message } = error as ConnectError;
    return `${Code[code]}: ${message}`;
  }
}

Deno.test("without TLS calls go through a tunnel, which leads to the name that was written", async () => {
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using proxy = new ForwardProxy();
  const target = `no-such-host.test:${server.port}`;
  assertEquals(await hello({ targets: [target], proxy: { http: proxy.url() } }), "Hello you");
  assertEquals(proxy.heads.map((head) => head.split("\r\n", 1)[0]), [`CONNECT ${target} HTTP/1.1`]);
});

peerTest("with TLS the tunnel is end to end, through proxies with TLS and passwords of their own", {
  needs: [OPENSSL],
}, async () => {
  const authority = await sharedAuthority();
  const leaf = await authority.leaf();
  await using server = grpc.listen({
    addr: "127.0.0.1:0",
    registrar,
    tls: true,
    certs: [leaf],
  });
  for (const options of [{}, { leaf }, { credentials: "ann:secret" }]) {
    await using proxy = new ForwardProxy(options);
    const given = "credentials" in options ? options.credentials : undefined;
    const https = proxy.url(given).replace("127.0.0.1", "localhost");
    const message = await hello({
      targets: [`localhost:${server.port}`],
      tls: { caCerts: [authority.ca] },
      proxy: { https },
    });
    assertEquals([message, proxy.accepted], ["Hello you", 1]);
  }
});

Deno.test("a proxy that refuses, or is not there, makes calls UNAVAILABLE and says why, without the password", async () => {
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using proxy = new ForwardProxy({ credentials: "ann:secret" });
  const targets = [server.addr];
  assertStringIncludes(
    await hello({ targets, proxy: { http: proxy.url() } }),
    "Unavailable: ",
  );
  const wrong = await hello({ targets, proxy: { http: proxy.url("ann:guess") } });
  assertStringIncludes(wrong, "407");
  assertEquals(wrong.includes("guess"), false);
  assertStringIncludes(
    await hello({ targets, proxy: { http: "http://127.0.0.1:1" } }),
    "Unavailable: ",
  );
});

Deno.test("hosts of noProxy, proxies for the other scheme, and sockets without a host go past the proxy", async () => {
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using memory = grpc.listen({ addr: "memory:", registrar });
  await using proxy = new ForwardProxy();
  const { port } = server;
  for (
    const [target, config] of [
      [`127.0.0.1:${port}`, { http: proxy.url(), noProxy: ["127.0.0.0/8"] }],
      [`LOCALHOST:${port}`, { http: proxy.url(), noProxy: ["localhost"] }],
      [`dns:///localhost:${port}`, { http: proxy.url(), noProxy: ["127.0.0.1"] }],
      [`127.0.0.1:${port}`, { https: proxy.url() }],
      [memory.addr, { http: proxy.url() }],
    ] as const
  ) {
    const lookup = () => ["127.0.0.1"];
    assertEquals(await hello({ targets: [target], proxy: config, lookup }), "Hello you", target);
  }
  assertEquals(proxy.accepted, 0);
});

Deno.test("clients of gRPC-Web and Connect take proxies as the HTTP client does", async () => {
  await using server = http.listen({ addr: "127.0.0.1:0", registrar });
  await using proxy = new ForwardProxy();
  for (const protocol of ["grpc-web", "connect"] as const) {
    const config = { http: proxy.url() };
    assertEquals(await hello({ targets: [server.addr], protocol, proxy: config }), "Hello you");
  }
  assertEquals(proxy.accepted, 2);
});

Deno.test("proxies that are none are refused, and passwords are not repeated", () => {
  for (const proxy of [{ http: "ftp://a:secret@b" }, { socks: "a:1" }, { noProxy: "a" }]) {
    const error = assertThrows(
      () => grpc.newClient({ targets: ["a:1"], proxy: proxy as never }),
      TypeError,
    );
    assertEquals(error.message.includes("secret"), false);
  }
});
