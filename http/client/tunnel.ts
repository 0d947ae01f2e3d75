/**
 * Connections through a proxy: to it, and through it to where a request is for.
 *
 * @module
 */
import { DialAttempt, type DialOptions } from "../net/dial.ts";
import { HeadSearch, readResponseHead } from "../h1/read.ts";
import { MAX_RESPONSE_FIELDS } from "./h1_session.ts";
import { MAX_INFORMATIONAL } from "./exchange.ts";
import { handshake } from "../net/handshake.ts";
import type { DialTlsOptions } from "../net/tls_options.ts";
import { proxyFields } from "./proxy.ts";
import { denoSocket } from "../net/deno_socket.ts";
import type { Socket } from "../net/socket.ts";
import { statusText } from "../message/status_text.ts";
import type { Target } from "../message/url.ts";

/** Bytes of a proxy's answer to CONNECT at most. */
const MAX_ANSWER_BYTES = 8 << 10;
const ANSWER_LIMITS = {
  maxHeaderBytes: MAX_ANSWER_BYTES,
  maxHeaderFields: MAX_RESPONSE_FIELDS,
  maxTargetBytes: MAX_ANSWER_BYTES,
};

/**
 * Opens a connection to `proxy` for requests that name their whole URL (RFC 9112 §3.2.2), over TLS
 * if its URL says so. Rejects with {@linkcode DialError} of phase `"proxy"`.
 */
export function dialProxy(proxy: Target, options: DialOptions): Promise<Socket> {
  const { hostname, port } = proxy;
  return new DialAttempt({ ...options, hostname, port }).run(async (attempt) => {
    const conn = await reach(proxy, options, attempt);
    return "setNoDelay" in conn ? denoSocket(conn) : conn;
  });
}

/**
 * Opens a tunnel through `proxy` (RFC 9110 §9.3.6) and, if it is asked for, TLS in it. Rejects with
 * {@linkcode DialError}: of phase `"proxy"` up to the tunnel, of `"tls"` or `"alpn"` inside it.
 */
export function dialThrough(proxy: Target, options: DialOptions): Promise<Socket> {
  return new DialAttempt(options).run(async (attempt) => {
    attempt.proxy = proxy.authority;
    const conn = await reach(proxy, options, attempt);
    const { hostname, tls } = options;
    const socket = "setNoDelay" in conn ? denoSocket(conn) : conn;
    await openTunnel(socket, proxy, options);
    return tls === undefined ? socket : await attempt.secure(conn, hostname, tls);
  });
}

async function reach(
  proxy: Target,
  { tls }: DialOptions,
  attempt: DialAttempt,
): Promise<Deno.TcpConn | Socket> {
  attempt.phase = "proxy";
  const conn = await attempt.connect(proxy);
  if (proxy.scheme === "http") return conn;
  // The client certificate and the server's name are for the server, the authorities for all.
  const settings: DialTlsOptions = {
    ...(tls?.caCerts === undefined ? {} : { caCerts: tls.caCerts }),
    alpnProtos: ["http/1.1"],
  };
  return await handshake(conn, proxy.hostname, settings, attempt);
}

async function openTunnel(socket: Socket, proxy: Target, options: DialOptions): Promise<void> {
  const host = options.hostname.includes(":") ? `[${options.hostname}]` : options.hostname;
  const fields = proxyFields(proxy);
  const text = `CONNECT ${host}:${options.port} HTTP/1.1\r\nhost: ${host}:${options.port}\r\n` +
    (fields.length > 0 ? `${fields[0]}: ${fields[1]}\r\n` : "") + "\r\n";
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += await socket.write(bytes.subarray(at));
  const buf = new Uint8Array(MAX_ANSWER_BYTES);
  const search = new HeadSearch();
  let have = 0;
  let informational = 0;
  for (;;) {
    const n = await socket.read(buf.subarray(have));
    if (n === null) throw new Error("the proxy closed the connection");
    have += n;
    for (;;) {
      const end = search.find(buf, 0, have, ANSWER_LIMITS);
      if (end < 0) break;
      const { status } = readResponseHead(buf, 0, end, ANSWER_LIMITS);
      if (status >= 200 && status <= 299) {
        // One byte too many read here would be missing from the handshake.
        if (end !== have) throw new Error("the proxy sent bytes before the tunnel was used");
        return;
      }
      if (status >= 200 || status === 101) throw new Error(refusal(status, proxy));
      if (++informational > MAX_INFORMATIONAL) {
        throw new Error(`the proxy's informational responses must be <= ${MAX_INFORMATIONAL}`);
      }
      // An interim answer (RFC 9110 §15.2) precedes the real one.
      buf.copyWithin(0, end, have);
      have -= end;
    }
    if (have === buf.length) {
      throw new Error(`the proxy's answer must be <= ${MAX_ANSWER_BYTES} bytes`);
    }
  }
}

function refusal(status: number, proxy: Target): string {
  const answer = `the proxy answered ${`${status} ${statusText(status)}`.trimEnd()}`;
  if (status !== 407) return answer;
  return proxy.authorization === null
    ? `${answer}: put user and password into its URL`
    : `${answer}: the user or password in its URL is wrong`;
}
