/**
 * Which proxy a request goes through.
 *
 * @module
 */
import { matchesNoProxy } from "./no_proxy.ts";
import { checkOptions, optionNames } from "../message/options.ts";
import { maskUserinfo, parseTarget, type Target } from "../message/url.ts";

/**
 * Which proxy requests go through. Its user and password are sent to it alone, as is a
 * `proxy-authorization` that a request gives.
 */
export interface ProxyConfig {
  /**
   * For `http:` URLs, as `http://user:password@host:port`; with `https://` the proxy is spoken to over
   * TLS. The request goes to it with its whole URL, over HTTP/1.1, and its refusal (407, 502) is
   * the response.
   */
  readonly http?: string;
  /**
   * For `https:` URLs, likewise. The connection is made by CONNECT, TLS with the server inside it; a
   * proxy that refuses is a `DialError` of phase `"proxy"`.
   */
  readonly https?: string;
  /**
   * Hosts that are asked directly: `example.com` (with its subdomains), `.example.com` and
   * `*.example.com` (the same), `host:port`, IP addresses, CIDR ranges, `*` (all).
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
  if (typeof get !== "function") {
    throw new TypeError("Cannot read the environment as get must be a function of a name");
  }
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

/**
 * The proxy for a URL, or null to go directly.
 *
 * @throws {TypeError} If the proxy's URL cannot be used.
 */
export function proxyFor(
  target: Pick<Target, "scheme" | "hostname" | "port">,
  config: ProxyConfig | undefined,
): Target | null {
  const url = target.scheme === "https" ? config?.https : config?.http;
  if (config === undefined || url === undefined) return null;
  for (const rule of config.noProxy ?? []) {
    if (matchesNoProxy(rule, target.hostname, target.port)) return null;
  }
  return parseProxy(url, target.scheme);
}

const NAMES = optionNames<ProxyConfig>({ http: true, https: true, noProxy: true });

/**
 * Checks both URLs of a configuration.
 *
 * @throws {TypeError} If one cannot be used.
 */
export function checkProxy(config: ProxyConfig): void {
  checkOptions("use proxy", NAMES, config);
  if (config.http !== undefined) parseProxy(config.http, "http");
  if (config.https !== undefined) parseProxy(config.https, "https");
  if (config.noProxy !== undefined && !Array.isArray(config.noProxy)) {
    throw new TypeError(
      `Cannot use proxy as noProxy must be a list of hosts: got ${typeof config.noProxy}`,
    );
  }
}

/** Proxies taken apart; a client has one or two. */
const parsed = new Map<string, Target>();
/** Proxies remembered. */
const MAX_PARSED = 64;

function parseProxy(url: string, scheme: "http" | "https"): Target {
  const known = parsed.get(url);
  if (known !== undefined) return known;
  let proxy: Target;
  try {
    proxy = parseTarget(url.includes("://") ? url : `http://${url}`);
  } catch {
    // The URL is not repeated where it may hold a password, so neither is the error that does.
    throw new TypeError(
      `Cannot use proxy for ${scheme} as it must be a URL like "http://user:password@host:port" or "https://…", other kinds are not supported: current value is ${
        JSON.stringify(maskUserinfo(url))
      }`,
    );
  }
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(url, proxy);
  return proxy;
}

/** Credentials for a proxy, as a field, or none. */
export function proxyFields(proxy: Target): string[] {
  return proxy.authorization === null ? [] : ["proxy-authorization", proxy.authorization];
}
