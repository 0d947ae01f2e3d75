import type { SocketAddress } from "./socket.ts";

/** `host:port` of an address, the path of a Unix socket. */
export function formatAddress(address: SocketAddress): string {
  if (address.transport === "unix") return address.hostname;
  return address.hostname.includes(":")
    ? `[${address.hostname}]:${address.port}`
    : `${address.hostname}:${address.port}`;
}
