// deno-lint-ignore-file no-console
/** `Deno.serve` with the same handlers. */
const BIG = new Uint8Array(8 << 20).fill(65);
const MIB = new Uint8Array(1 << 20).fill(65);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const server = Deno.serve(
  {
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
    onError: () => new Response(null, { status: 500 }),
  },
  async (request) => {
    switch (new URL(request.url).pathname) {
      case "/whole":
        await request.arrayBuffer();
        break;
      case "/late":
        await pause(2000);
        await request.arrayBuffer();
        break;
      case "/pieces":
        if (request.body !== null) { for await (const _ of request.body) { /* dropped */ } }
        break;
      case "/never":
        await pause(4000);
        break;
      case "/big":
        return new Response(BIG);
      case "/endless": {
        let left = 10_000;
        return new Response(
          new ReadableStream({
            pull: (to) => left-- > 0 ? to.enqueue(MIB) : to.close(),
          }, { highWaterMark: 0 }),
        );
      }
      case "/echo-header":
        return new Response(null, { headers: { "x-echo": await request.text() } });
      case "/ws": {
        const { socket, response } = Deno.upgradeWebSocket(request);
        socket.onmessage = (event) => socket.send(event.data);
        return response;
      }
    }
    return new Response("ok");
  },
);
console.log(`port=${server.addr.port}`);
