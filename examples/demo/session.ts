// One page: what it asks for is done, in order; what happens in the store it is told at once.

import type { http, kv } from "@sluice/sluice";
import { type Command, parseCommand } from "./command.ts";
import { Contender } from "./contender.ts";
import { followKeys } from "./keys.ts";

/** Who contends for the lock on each page. */
const CONTENDERS = ["Ada", "Ben"];

/** Bytes that may wait for a page. A slower one is cut; it comes back and begins anew. */
const MAX_WAITING_BYTES = 1 << 20;

/** Milliseconds a call to the store may take. */
const CALL_TIMEOUT_MS = 5_000;

/** The store behind the page. */
export interface Backend {
  readonly client: kv.Client;
  /** Says which one it is. */
  readonly about: { readonly name: string; readonly version: string };
}

/** Keys of the demo, the only ones a page can reach. */
export const PREFIX = "sluice-demo/";

/** Serves a page until it goes. */
export async function runSession(
  socket: http.WebSocketConnection,
  backend: Backend,
): Promise<void> {
  const over = new AbortController();
  socket.onclose = () => over.abort();
  const send = (message: unknown) => {
    if (socket.bufferedAmount > MAX_WAITING_BYTES) socket.close(1013, "too slow");
    socket.send(JSON.stringify(message));
  };
  const demo = backend.client.namespace(PREFIX);
  const keys = demo.namespace("keys/");
  const locks = demo.namespace("locks/");
  const contenders = CONTENDERS.map((_, index) => {
    const contender: Contender = new Contender(locks, () => {
      const { standing, token } = contender;
      send({
        is: "lock",
        contender: index,
        state: standing.is,
        token: token === null ? "" : String(token),
        fault: standing.is === "idle" ? standing.fault : "",
      });
    });
    return contender;
  });
  send({ is: "hello", store: backend.about, contenders: CONTENDERS });
  const followed = followKeys(keys, send, over.signal).catch((error) => {
    if (over.signal.aborted) return;
    socket.close(1011, shorten(error.message));
  });
  for await (const data of socket) {
    const { id, command } = parseCommand(data, CONTENDERS.length);
    const start = performance.now();
    try {
      if (command instanceof Error) throw command;
      const text = await obey(command, keys, contenders);
      send({ is: "answer", id, ok: true, text, ms: performance.now() - start });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      send({ is: "answer", id, ok: false, text, ms: performance.now() - start });
    }
  }
  over.abort();
  await followed;
  await Promise.allSettled(contenders.map((contender) => contender.release()));
}

async function obey(
  command: Command,
  keys: kv.Namespace,
  contenders: readonly Contender[],
): Promise<string> {
  const options = { timeout: CALL_TIMEOUT_MS };
  switch (command.do) {
    case "put": {
      const { key, value, ttl } = command;
      if (ttl === null) {
        const { header } = await keys.put({ key, value }, options);
        return `Put ${key} at revision ${header.revision}`;
      }
      const { ID, TTL } = await keys.grant({ TTL: ttl, keepAlive: false }, options);
      const { header } = await keys.put({ key, value, lease: ID }, options);
      return `Put ${key} at revision ${header.revision}, for ${TTL} s`;
    }
    case "delete": {
      const { deleted } = await keys.delete({ key: command.key }, options);
      return deleted === 0 ? `There was no ${command.key}` : `Deleted ${command.key}`;
    }
    case "renew": {
      const { TTL } = await keys.keepAliveOnce(command.lease, options);
      return `Renewed for ${TTL} s`;
    }
    case "take":
      contenders[command.contender]!.take();
      return "";
    case "release":
      await contenders[command.contender]!.release();
      return "";
    case "write": {
      const contender = contenders[command.contender]!;
      const name = CONTENDERS[command.contender]!;
      const written = await contender.write(name);
      return written
        ? `${name} wrote with token ${contender.token}`
        : `${name} was refused: token ${contender.token} is no longer the holder's`;
    }
  }
}

/** Reasons of WebSockets have 123 bytes at most. */
function shorten(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 120);
}
