/**
 * TLS listeners, and the two things of `node:tls` that are used without being documented: a release
 * of the platform that drops one fails the test of its name, and servers go on without it.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Socket as NodeSocket } from "node:net";
import { createServer, type Server } from "node:tls";
import { type Handler, type HttpServer, listen, newClient } from "../../../http/mod.ts";
import { nodeInternals } from "../../../http/net/node_internals.ts";
import { sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { peerTest } from "../../../support/peers.ts";

const needs = [OPENSSL];

Deno.test("Server._listen2 of node:tls binds at once", async () => {
  const server = createServer() as Server & {
    _listen2(address: string, port: number, family: number, backlog: number): void;
  };
  server._listen2("127.0.0.1", 0, 4, 511);
  const bound = server.address();
  assert(bound !== null && typeof bound === "object" && bound.port > 0);
  const conn = await Deno.connect({ hostname: "127.0.0.1", port: bound.port });
  conn.close();
  await new Promise((resolve) => server.close(resolve));
});

peerTest("socket._parent._handle of node:tls stops and starts reads", { needs }, async () => {
  const leaf = await (await sharedAuthority()).leaf();
  const server = createServer({ cert: leaf.cert, key: leaf.key });
  const secured = new Promise<NodeSocket>((resolve) => server.on("secureConnection", resolve));
  const raws: NodeSocket[] = [];
  server.on("connection", (raw: NodeSocket) => raws.push(raw));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const { ca } = await sharedAuthority();
  const tcp = await Deno.connect({ hostname: "127.0.0.1", port });
  const conn = await Deno.startTls(tcp, { hostname: "localhost", caCerts: [ca] });
  await conn.handshake();
  const socket = await secured as NodeSocket & { _parent: { _handle: Record<string, unknown> } };
  for (const name of ["readStop", "readStart"]) {
    assertEquals(typeof socket._parent._handle[name], "function", name);
  }
  assert(raws[0] === socket._parent as unknown, "the TLS socket is not on the accepted one");
  conn.close();
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** Runs `run` on a platform that lacks something. */
type Lacking = (run: () => Promise<void>) => Promise<void>;

/** Takes one of the internals away while `run` runs, and sees to it that it was asked for. */
const without =
  (name: keyof typeof nodeInternals, instead: false | null): Lacking => async (run) => {
    const internals = nodeInternals as Record<string, unknown>;
    const had = internals[name];
    let asked = 0;
    internals[name] = () => {
      asked++;
      return instead;
    };
    try {
      await run();
    } finally {
      internals[name] = had;
    }
    assert(asked > 0, `${name} was not asked for`);
  };

const WAYS: [string, Lacking][] = [
  ["as the platform is", (run) => run()],
  ["without Server._listen2", without("bind", false)],
  ["without the handle of a socket", without("handleOf", null)],
];

/** Serves, whatever the platform lacks by then. */
async function serve(handler: Handler, more: object = {}): Promise<HttpServer> {
  const ours = await sharedAuthority();
  const certs = [await ours.leaf()];
  return listen({ addr: "127.0.0.1:0", tls: true, certs, clientCa: ours.ca, handler, ...more });
}

for (const [name, lacking] of WAYS) {
  peerTest(`a TLS server serves both versions, certificates and limits, ${name}`, {
    needs,
  }, async () => {
    const ours = await sharedAuthority();
    const alice = await ours.leaf({ names: ["alice"], usage: "clientAuth" });
    await lacking(async () => {
      await using server = await serve(async (stream) => {
        const body = await stream.readBytes();
        return new Response(
          `${stream.version} ${stream.peerCertificate?.subject ?? "nobody"} ${body.length}`,
          { headers: { "x-from": stream.remoteAddr, "x-to": stream.localAddr } },
        );
      });
      const url = `https://${server.addr}/`;
      const body = new Uint8Array(2 << 20);
      for (const [protocol, version] of [["h2", "HTTP/2"], ["http/1.1", "HTTP/1.1"]] as const) {
        for (const [shown, who] of [[{}, "nobody"], [alice, "CN=alice"]] as const) {
          const { cert, key } = shown as { cert?: string; key?: string };
          await using client = newClient({
            caCerts: [ours.ca],
            alpnProtos: [protocol],
            ...(cert === undefined ? {} : { cert, key: key! }),
          });
          const answer = await client.post(url, null, body);
          assertEquals(answer.body, `${version} ${who} ${body.length}`);
          assertEquals(answer.header["x-to"], server.addr);
          assert(/^127\.0\.0\.1:\d+$/.test(answer.header["x-from"]!), answer.header["x-from"]);
        }
      }
      const other = await ours.leaf({ names: ["other.test"] });
      server.setCerts([other]);
      await using client = newClient({ caCerts: [ours.ca], serverName: "other.test" });
      assertEquals((await client.get(url)).status, 200);
    });
  });

  peerTest(`a client is read no faster than the handler reads, ${name}`, { needs }, async () => {
    const ours = await sharedAuthority();
    const size = 48 << 20;
    await lacking(async () => {
      const go = Promise.withResolvers<void>();
      await using server = await serve(async (stream) => {
        await go.promise;
        let sum = 0;
        for await (const piece of stream) sum += piece.length;
        return new Response(`${sum}`);
      }, { limits: { maxBodyBytes: 0 } });
      await using client = newClient({ caCerts: [ours.ca], alpnProtos: ["http/1.1"] });
      using raw = await client.request("POST", `https://${server.addr}/`);
      let sent = 0;
      const sending = (async () => {
        const piece = new Uint8Array(64 << 10);
        for (; sent < size; sent += piece.length) await raw.write(piece);
        raw.closeWrite();
      })();
      // Until nothing more goes out.
      for (let before = -1; sent !== before;) {
        before = sent;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      assert(sent > 0 && sent < 24 << 20, `${sent >> 20} MiB were taken though nobody reads`);
      go.resolve();
      await sending;
      await raw.waitResponse();
      assertEquals(await raw.readAll(), `${size}`);
    });
  });
}

peerTest("a port of 0 is never another's, and a port in use is told with its address", {
  needs,
}, async () => {
  const handler: Handler = () => new Response("ok");
  const servers = await Promise.all(Array.from({ length: 50 }, () => serve(handler)));
  assertEquals(new Set(servers.map((server) => server.port)).size, 50);
  const { addr } = servers[0]!;
  const certs = [await (await sharedAuthority()).leaf()];
  for (const more of [{}, { tls: true, certs }, { engine: "deno" as const }]) {
    const error = assertThrows(() => listen({ addr, handler, ...more }), Deno.errors.AddrInUse);
    assert(error.message.includes(addr), error.message);
  }
  await using named = await serve(handler, { addr: "localhost:0" });
  assert(/^(127\.0\.0\.1|\[::1\]):\d+$/.test(named.addr), named.addr);
  await Promise.all(servers.map((server) => server.close()));
});
