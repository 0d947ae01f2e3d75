/**
 * Listening in memory: addresses that this process alone can dial, without a port and without a
 * permission.
 *
 * @module
 */
import type { AcceptErrorHandler, Admission, Listener, ListenOptions } from "./listen_options.ts";
import { memorySocketPair } from "./memory_socket.ts";
import type { Socket } from "./socket.ts";

/** The address that asks for one of its own in memory: `memory:/1`, `memory:/2`, …. */
const ANY = "memory:";

/** Bytes one end may leave unread before the other's writes wait, as in a system's socket buffer. */
const MAX_UNREAD_BYTES = 1 << 20;

/** Who listens: opens a connection and gives the client's end of it. */
const listeners = new Map<string, () => Socket>();
let count = 0;

/** Whether an address is one in memory. A host of the name `memory` has a port: `memory:8080`. */
export function isMemory(addr: string): boolean {
  return addr === ANY || addr.startsWith("memory:/");
}

/**
 * Listens on an address that nobody had before, and holds the process as a port would. A connection
 * is accepted in the moment it is dialled.
 *
 * @throws {TypeError} If another address than `memory:` is asked for, or TLS.
 */
export function memoryListener(
  { addr, tls }: ListenOptions,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
  admission: Admission,
): Listener {
  if (addr !== ANY) {
    throw new TypeError(
      `Cannot listen as addr must be "${ANY}", which chooses a name: current value is ${
        JSON.stringify(addr)
      }`,
    );
  }
  if (tls === true) {
    throw new TypeError("Cannot listen in memory with TLS: set tls to false, or addr to a port");
  }
  const name = `${ANY}/${++count}`;
  let clients = 0;
  const release = holdProcess();
  listeners.set(name, () => {
    let admitted = false;
    const [near, far] = memorySocketPair({
      names: [`${name}#${++clients}`, name],
      maxUnread: MAX_UNREAD_BYTES,
      onClosed: () => {
        if (admitted) admission.leave(name);
        admitted = false;
      },
    });
    try {
      admitted = admission.enter(name, 0);
      if (admitted) onSocket(far);
      else far.close();
    } catch (error) {
      far.close();
      onError(error, true);
    }
    return near;
  });
  return {
    addr: name,
    port: 0,
    setCerts() {
      throw new TypeError("Cannot set certificates as the server listens in memory, without TLS");
    },
    close() {
      listeners.delete(name);
      release();
      return Promise.resolve();
    },
  };
}

/** Keeps the process alive until it is released: no timer, so that no clock has a part in it. */
function holdProcess(): () => void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {};
  return () => {
    port1.close();
    port2.close();
  };
}

/**
 * Connects to an address in memory.
 *
 * @throws {Deno.errors.ConnectionRefused} If nobody listens there.
 */
export function connectMemory(name: string): Socket {
  const open = listeners.get(name);
  if (open === undefined) {
    throw new Deno.errors.ConnectionRefused("Nobody listens there in this process");
  }
  return open();
}
