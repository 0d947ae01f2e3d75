import type { SocketAddress } from "./socket.ts";

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An IPv4 address as such, also where a socket of both versions writes it as IPv6 (RFC 4291 §2.5.5.2). */
export function plainAddress(hostname: string): string {
  return hostname.includes(":") ? MAPPED.exec(hostname)?.[1] ?? hostname : hostname;
}

/** The client's address without what tells its connections apart. */
export function hostOf({ hostname, transport }: SocketAddress): string {
  return transport === "tcp" ? hostname : hostname.replace(/#\d+$/, "");
}

/** `host:port` of an address, `unix:path` of a Unix socket, the name of one in memory. */
export function formatAddress(address: SocketAddress): string {
  if (address.transport !== "tcp") return address.hostname;
  const host = plainAddress(address.hostname);
  return host.includes(":") ? `[${host}]:${address.port}` : `${host}:${address.port}`;
}
