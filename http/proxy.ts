/**
 * Requests through a proxy: which one, and how to get through it.
 *
 * @module
 */
import type { DialOptions, DialTlsOptions } from "./dial.ts";
import { DialError, TimeoutError } from "./error.ts";
import { HeadSearch, readResponseHead } from "./h1/read.ts";
import { RESPONSE_HEAD_LIMITS } from "./h1/client_session.ts";
import { denoSocket, type Socket } from "./socket.ts";
import { parseTarget, type Target } from "./url.ts";

/** Which proxy requests go through. */
export interface ProxyConfig {
  /** For `http:` URLs, as `http://user:password@host:port`. */
  readonly http?: string;
  /** For `https:` URLs. The proxy itself is spoken to in plain. */
  readonly https?: string;
  /**
   * Hosts that are asked directly: `example.com` (with its subdomains), `.example.com` (the same),
   * `host:port`, IP addresses, CIDR ranges of IPv4, `*` (all).
   */
  readonly noProxy?: readonly string[];
}

/**
 * The proxy the environment names: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, in lower case first.
 * `HTTP_PROXY` in upper case is left out where `REQUEST_METHOD` is set: in CGI a client could set it.
 * Needs permission to read these variables.
 */
export function proxyFromEnv(
  get: (name: string) => string | undefined = (name) => Deno.env.get(name),
): ProxyConfig {
  const value = (name: string) => get(name.toLowerCase()) || get(name) || undefined;
  const http = get("http_proxy") ||
    (get("REQUEST_METHOD") === undefined ? get("HTTP_PROXY") : undefined);
  const https = value("HTTPS_PROXY");
  const all = value("ALL_PROXY");
  const httpProxy = http || all;
  const httpsProxy = https ?? all;
  return {
    ...(httpProxy ? { http: httpProxy } : {}),
    ...(httpsProxy ? { https: httpsProxy } : {}),
    noProxy: (value("NO_PROXY") ?? "").split(/[\s,]+/).filter((item) => item !== ""),
  };
}

function ipv4(host: string): number | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(host);
  if (match === null) return null;
  let value = 0;
  for (let i = 1; i <= 4; i++) {
    const part = Number(match[i]);
    if (part > 255) return null;
    value = value * 256 + part;
  }
  return value;
}

/** Whether a rule of `noProxy` covers a host. */
export function matchesNoProxy(rule: string, hostname: string, port: number): boolean {
  if (rule === "*") return true;
  let pattern = rule.toLowerCase();
  const cidr = /^([\d.]+)\/(\d{1,2})$/.exec(pattern);
  if (cidr !== null) {
    const network = ipv4(cidr[1]!);
    const address = ipv4(hostname);
    if (network === null || address === null) return false;
    const size = 2 ** (32 - Number(cidr[2]));
    return Math.floor(network / size) === Math.floor(address / size);
  }
  const withPort = /^(.*[^:]|\[.*\]):(\d+)$/.exec(pattern);
  if (
    withPort !== null && (pattern.indexOf(":") === pattern.lastIndexOf(":") || pattern[0] === "[")
  ) {
    if (Number(withPort[2]) !== port) return false;
    pattern = withPort[1]!;
  }
  pattern = pattern.replace(/^\[(.*)\]$/, "$1").replace(/^\*?\./, "");
  const host = hostname.toLowerCase();
  return host === pattern || host.endsWith("." + pattern);
}

/**
 * The proxy for a URL, or null to go directly.
 *
 * @throws {TypeError} If the proxy's URL cannot be used.
 */
export function proxyFor(target: Target, config: ProxyConfig | undefined): Target | null {
  const url = target.scheme === "https" ? config?.https : config?.http;
  if (config === undefined || url === undefined) return null;
  for (const rule of config.noProxy ?? []) {
    if (matchesNoProxy(rule, target.hostname, target.port)) return null;
  }
  const proxy = parseTarget(url.includes("://") ? url : `http://${url}`);
  if (proxy.scheme !== "http") {
    throw new TypeError(
      `Cannot use proxy as its URL must begin with http: current value is ${
        JSON.stringify(proxy.href)
      }`,
    );
  }
  return proxy;
}

/** Credentials for a proxy, as a field, or none. */
export function proxyFields(proxy: Target): string[] {
  return proxy.authorization === null ? [] : ["proxy-authorization", proxy.authorization];
}

/**
 * Opens a tunnel through `proxy` (RFC 9110 §9.3.6) and TLS in it. Rejects with
 * {@linkcode DialError}.
 */
export async function dialThrough(proxy: Target, options: DialOptions): Promise<Socket> {
  const tls: DialTlsOptions = options.tls ?? {};
  const address = `${options.hostname}:${options.port}`;
  if (tls.cert !== undefined) {
    throw new DialError(address, "proxy", "client certificates cannot be used through a proxy");
  }
  const controller = new AbortController();
  const timeout = options.timeout ?? 20_000;
  const timer = setTimeout(
    () => controller.abort(new TimeoutError("connectTimeout", timeout)),
    timeout,
  );
  const onAbort = () => controller.abort(options.signal!.reason);
  options.signal?.addEventListener("abort", onAbort, { once: true });
  let conn: Deno.Conn | undefined;
  const close = () => {
    try {
      conn?.close();
    } catch {
      // Closed already.
    }
  };
  controller.signal.addEventListener("abort", close);
  try {
    const tcp = await Deno.connect({
      hostname: proxy.hostname,
      port: proxy.port,
      signal: controller.signal,
    });
    conn = tcp;
    tcp.setNoDelay(true);
    await connectRequest(tcp, proxy, options);
    const secured = await Deno.startTls(tcp, {
      hostname: tls.serverName ?? options.hostname,
      caCerts: [...(tls.caCerts ?? [])],
      alpnProtocols: [...(tls.alpnProtos ?? [])],
    });
    conn = secured;
    const { alpnProtocol } = await secured.handshake();
    controller.signal.throwIfAborted();
    return denoSocket(secured, { alpnProtocol });
  } catch (error) {
    close();
    const cause = controller.signal.aborted ? controller.signal.reason : error;
    if (cause instanceof DialError || cause !== error && !(cause instanceof TimeoutError)) {
      throw cause;
    }
    throw new DialError(
      address,
      "proxy",
      `${proxy.authority}: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    );
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}

async function connectRequest(
  conn: Deno.TcpConn,
  proxy: Target,
  options: DialOptions,
): Promise<void> {
  const host = options.hostname.includes(":") ? `[${options.hostname}]` : options.hostname;
  const fields = proxyFields(proxy);
  const text = `CONNECT ${host}:${options.port} HTTP/1.1\r\nhost: ${host}:${options.port}\r\n` +
    (fields.length > 0 ? `${fields[0]}: ${fields[1]}\r\n` : "") + "\r\n";
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
  // One octet too many read here would be missing from the handshake.
  const buf = new Uint8Array(8 << 10);
  const search = new HeadSearch();
  let have = 0;
  for (;;) {
    const n = await conn.read(buf.subarray(have));
    if (n === null) throw new Error("the proxy closed the connection");
    have += n;
    const end = search.find(buf, 0, have, RESPONSE_HEAD_LIMITS);
    if (end < 0) {
      if (have === buf.length) throw new Error("the proxy's answer is too long");
      continue;
    }
    const { status } = readResponseHead(buf, 0, end, RESPONSE_HEAD_LIMITS);
    if (status < 200 && status !== 101) {
      buf.copyWithin(0, end, have);
      have -= end;
      continue;
    }
    if (status < 200 || status > 299) throw new Error(`the proxy answered ${status}`);
    if (end !== have) throw new Error("the proxy sent octets before the tunnel was used");
    return;
  }
}
