import { assert } from "@std/assert";
import { ready } from "../../../http/time/turn.ts";

/** Answers every piece with the same piece, until the client ends. */
async function echo(listener: Deno.Listener): Promise<void> {
  const socket = await listener.accept();
  await socket.readable.pipeTo(socket.writable).catch(() => {});
}

/** A client in a process of its own: prints how many round trips it made within a second. */
const CLIENT = `
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: Number(Deno.args[0]) });
  const piece = new Uint8Array(8);
  let trips = 0;
  for (const end = performance.now() + 1000; performance.now() < end; trips++) {
    await socket.write(piece);
    await socket.read(piece);
  }
  socket.close();
  console.log(trips);
`;

/** Round trips of that client, while this process does what `step` says again and again. */
async function trips(step: () => Promise<void> | undefined): Promise<number> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const echoing = echo(listener);
  const client = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", CLIENT, String(port)],
    stdout: "piped",
  }).spawn();
  let done = false;
  const output = client.output().finally(() => done = true);
  while (!done) {
    // A millisecond of work for every eight items, as a handler would do.
    for (const end = performance.now() + 0.125; performance.now() < end;);
    await step();
  }
  await echoing;
  return Number(new TextDecoder().decode((await output).stdout));
}

Deno.test("sockets are served while items are always ready", async () => {
  // Where the loop only turns there are two or three, fewer on a busy machine.
  const made = await trips(ready);
  assert(made >= 20, `${made} round trips in a second`);
});
