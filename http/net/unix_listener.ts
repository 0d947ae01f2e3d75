/**
 * Listens on Unix sockets. The file of a socket outlives a process that was killed, and keeps the next
 * one from listening; it is taken away only when it certainly is such a rest.
 *
 * @module
 */
import type { Place } from "./tcp_listener.ts";
import { unixAddress } from "./unix_address.ts";

/** Milliseconds a probe of a socket that is there may take; longer, and somebody is behind it. */
const PROBE_MS = 2000;

/**
 * Listens on `path`, and gives its file the permission bits `mode`. A file that stands there already
 * is replaced only if it is a socket on which nobody listens.
 *
 * @throws {Deno.errors.AddrInUse} If somebody listens there, or the file is no socket.
 */
export function unixPlace(path: string, mode: number | undefined): Place {
  const listener = listenUnix(path, mode);
  const own = path.startsWith("\0") ? null : Deno.lstatSync(path);
  const addr = unixAddress(path);
  let clients = 0;
  return {
    addr,
    port: 0,
    accept: () => listener.accept(),
    close() {
      const restore = own === null ? () => {} : putAside(path, own);
      listener.close();
      return restore;
    },
    clientOf: () => ({ hostname: `${addr}#${++clients}`, port: 0, transport: "unix" }),
  };
}

function listenUnix(path: string, mode: number | undefined): Deno.UnixListener {
  try {
    return bind(path, mode);
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse) || path.startsWith("\0")) {
      throw named(path, error);
    }
  }
  removeRest(path);
  try {
    return bind(path, mode);
  } catch (error) {
    throw named(path, error);
  }
}

function named(path: string, error: unknown): unknown {
  if (error instanceof Error) {
    error.message = `Cannot listen on ${unixAddress(path)}: ${error.message}`;
  }
  return error;
}

function inUse(path: string, reason: string): Error {
  return new Deno.errors.AddrInUse(`Cannot listen on ${unixAddress(path)}: ${reason}`);
}

function bind(path: string, mode: number | undefined): Deno.UnixListener {
  const open = () => Deno.listen({ transport: "unix", path });
  if (mode === undefined) return open();
  // The umask keeps others out from the first moment on, where the process may set it.
  const sys = { name: "sys", kind: "umask" } as unknown as Deno.PermissionDescriptor;
  const before = Deno.permissions.querySync(sys).state === "granted"
    ? Deno.umask(0o777 & ~mode)
    : null;
  let listener: Deno.UnixListener;
  try {
    listener = open();
  } finally {
    if (before !== null) Deno.umask(before);
  }
  try {
    Deno.chmodSync(path, mode);
  } catch (error) {
    listener.close();
    throw error;
  }
  return listener;
}

/** Takes away a socket's file that nobody listens on. */
function removeRest(path: string): void {
  const found = lstat(path);
  if (found === null) return;
  if (found.isSocket !== true) throw inUse(path, "the file there is no socket");
  if (!isDeserted(path)) throw inUse(path, "somebody listens there");
  // Another process may have taken the rest away meanwhile, and listen already: what is removed is
  // looked at once more where nobody else can replace it.
  const aside = asideOf(path);
  try {
    Deno.renameSync(path, aside);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  if (isSame(found, Deno.lstatSync(aside))) return Deno.removeSync(aside);
  Deno.renameSync(aside, path);
  throw inUse(path, "somebody listens there");
}

/** Whether a connection to the socket is refused. Asked by a thread: this one has to wait here. */
function isDeserted(path: string): boolean {
  const answer = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(PROBE)}`, {
    type: "module",
  });
  try {
    worker.postMessage([path, answer]);
    Atomics.wait(answer, 0, 0, PROBE_MS);
    return Atomics.load(answer, 0) === DESERTED;
  } finally {
    worker.terminate();
  }
}

const DESERTED = 1;

const PROBE = `
onmessage = async ({ data: [path, answer] }) => {
  let found = 2;
  try {
    (await Deno.connect({ transport: "unix", path })).close();
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) found = ${DESERTED};
  }
  Atomics.store(answer, 0, found);
  Atomics.notify(answer, 0);
};`;

/**
 * Puts aside what stands at `path` if it is not `own`: the platform removes it when the last call that
 * waits there has ended. Returns what puts it back.
 */
function putAside(path: string, own: Deno.FileInfo): () => void {
  const found = lstat(path);
  if (found === null || isSame(found, own)) return () => {};
  const aside = asideOf(path);
  Deno.renameSync(path, aside);
  return () => Deno.renameSync(aside, path);
}

/** A name beside `path` that nobody has. */
function asideOf(path: string): string {
  return `${path}.${crypto.randomUUID()}`;
}

function lstat(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Whether both are the same file. Numbers of inodes are given again, times of birth are not. */
function isSame(one: Deno.FileInfo, other: Deno.FileInfo): boolean {
  return one.ino === other.ino && one.dev === other.dev && one.isSocket === other.isSocket &&
    bornAt(one) === bornAt(other);
}

/** Milliseconds. A socket's file is never written to: where births are not kept, that counts. */
function bornAt({ birthtime, mtime }: Deno.FileInfo): number | undefined {
  return (birthtime ?? mtime)?.getTime();
}
