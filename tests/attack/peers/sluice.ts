// deno-lint-ignore-file no-console
/** The server under attack: HTTP/1.1, HTTP/2, gRPC and WebSocket on one port, default options. */
import { listen, type ServerStream } from "../../../http/mod.ts";
import { EchoService } from "../../interop/echo.ts";

const BIG = new Uint8Array(8 << 20).fill(65);
const LONG = "a".repeat(8000);
const MIB = new Uint8Array(1 << 20).fill(65);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function handler(stream: ServerStream): Promise<void> {
  switch (stream.path) {
    case "/whole":
      await stream.readBytes();
      break;
    case "/late":
      await pause(2000);
      await stream.readBytes();
      break;
    case "/pieces":
      for await (const _ of stream) { /* dropped */ }
      break;
    case "/never":
      await pause(4000);
      break;
    case "/big":
      await stream.respond(200);
      stream.closeWrite(BIG);
      return;
    case "/head":
      stream.respond(204, { "x-long": LONG });
      stream.closeWrite();
      return;
    case "/endless":
      await stream.respond(200);
      for (let i = 0; i < 10_000; i++) await stream.write(MIB);
      break;
    case "/echo-header":
      await stream.respond(200, { "x-echo": await stream.readAll() });
      stream.closeWrite();
      return;
    case "/ws": {
      const socket = await stream.upgradeWebSocket();
      socket.addEventListener("message", (event) => socket.send(event.data));
      return;
    }
  }
  await stream.respond(200);
  stream.closeWrite("ok");
}

const server = listen({
  addr: "127.0.0.1:0",
  handler,
  registrar: new EchoService().registrar(),
  onError: () => {},
});
console.log(`port=${server.port}`);
