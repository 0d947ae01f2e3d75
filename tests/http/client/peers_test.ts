/** The client against other people's servers: the runtime's own. */
import { assertEquals, assertRejects } from "@std/assert";
import { createServer as createHttp1, type Server } from "node:http";
import { createServer as createHttp2, type ServerHttp2Session } from "node:http2";
import { newClient } from "../../../http/mod.ts";
import { pause } from "../../../support/raw_server.ts";

interface Peer {
  readonly name: string;
  readonly protocol: string;
  start(): Promise<{ port: number; stop(): Promise<void> }>;
}

const denoServe = (protocol: string): Peer => ({
  name: "Deno.serve",
  protocol,
  start() {
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/moved") {
          await request.body?.cancel();
          return new Response("moved", { status: 307, headers: { location: "/echo" } });
        }
        if (pathname === "/early") return new Response("too much", { status: 413 });
        return new Response(request.body, { headers: { "x-method": request.method } });
      },
    );
    return Promise.resolve({ port: server.addr.port, stop: () => server.shutdown() });
  },
});

const node1: Peer = {
  name: "node:http",
  protocol: "http/1.1",
  async start() {
    const server: Server = createHttp1((request, response) => {
      response.setHeader("x-method", request.method!);
      if (request.url === "/moved") {
        request.resume();
        response.writeHead(307, { location: "/echo" }).end("moved");
      } else if (request.url === "/early") response.writeHead(413).end("too much");
      else request.pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      port: (server.address() as { port: number }).port,
      async stop() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
};

const node2: Peer = {
  name: "node:http2",
  protocol: "h2",
  async start() {
    const server = createHttp2();
    const sessions = new Set<ServerHttp2Session>();
    server.on("session", (session) => sessions.add(session));
    server.on("stream", (stream, head) => {
      stream.on("error", () => {});
      const method = { "x-method": head[":method"]! };
      if (head[":path"] === "/moved") {
        stream.resume();
        stream.respond({ ":status": 307, location: "/echo", ...method });
        stream.end("moved");
      } else if (head[":path"] === "/early") {
        stream.respond({ ":status": 413, ...method });
        stream.end("too much");
      } else {
        stream.respond({ ":status": 200, ...method });
        stream.pipe(stream);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      port: (server.address() as { port: number }).port,
      async stop() {
        for (const session of sessions) session.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
};

for (const peer of [denoServe("http/1.1"), denoServe("h2"), node1, node2]) {
  Deno.test(`the client gets along with ${peer.name} in ${peer.protocol}`, async () => {
    const { port, stop } = await peer.start();
    const url = `http://127.0.0.1:${port}`;
    const client = newClient({ alpnProtos: [peer.protocol] });
    const big = new Uint8Array(3 << 20).map((_, i) => i * 7);
    for (const body of ["", "short", big]) {
      const echoed = await client.post(`${url}/echo`, null, body);
      assertEquals(echoed.status, 200);
      assertEquals(echoed.bytes.length, body.length);
    }
    assertEquals((await client.post(`${url}/echo`, null, big)).bytes, big);
    const pieces = async function* () {
      for (let i = 0; i < 50; i++) yield big.subarray(i * 1000, i * 1000 + 1000);
    };
    assertEquals((await client.post(`${url}/echo`, null, pieces())).bytes, big.slice(0, 50_000));
    const moved = await client.put(`${url}/moved`, null, "kept");
    assertEquals([moved.body, moved.header["x-method"], moved.redirects], ["kept", "PUT", 1]);
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, i) => client.post(`${url}/echo`, null, `${i}`)),
    );
    assertEquals(all.map((response) => response.body), all.map((_, i) => `${i}`));
    let ended = false;
    const endless = async function* () {
      try {
        for (;;) {
          yield new Uint8Array(1000);
          await pause(1);
        }
      } finally {
        ended = true;
      }
    };
    assertEquals((await client.post(`${url}/early`, null, endless())).body, "too much");
    await pause(20);
    assertEquals(ended, true);
    {
      using stream = await client.send("POST", `${url}/echo`, { body: big });
      await stream.read();
    }
    await assertRejects(() =>
      client.post(`${url}/echo`, null, endless(), { signal: AbortSignal.timeout(30) })
    );
    assertEquals((await client.post(`${url}/echo`, null, "after all")).body, "after all");
    await client.close();
    await stop();
  });
}
