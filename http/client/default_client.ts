/**
 * The plain functions, on one client that the program shares.
 *
 * @module
 */
import type { BodyInput } from "../message/body.ts";
import { Client } from "./client.ts";
import type { RequestOptions } from "./options.ts";
import type { HeadersInput } from "../message/headers.ts";
import type { ClientStream } from "./stream.ts";
import type { HttpResponse } from "./response.ts";

let shared: Client | undefined;

/** The client behind the plain functions. Its idle connections do not keep the process alive. */
export function defaultClient(): Client {
  return shared ??= new Client();
}

/** GET on the default client. Follows redirects, decodes the body, reuses connections. */
export function get(
  url: string | URL,
  headers?: HeadersInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().get(url, headers, options);
}

/** HEAD on the default client. */
export function head(
  url: string | URL,
  headers?: HeadersInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().head(url, headers, options);
}

/** POST on the default client. */
export function post(
  url: string | URL,
  headers?: HeadersInput | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().post(url, headers, body, options);
}

/** PUT on the default client. */
export function put(
  url: string | URL,
  headers?: HeadersInput | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().put(url, headers, body, options);
}

/** PATCH on the default client. */
export function patch(
  url: string | URL,
  headers?: HeadersInput | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().patch(url, headers, body, options);
}

/** DELETE on the default client (`delete` is a reserved word). */
export function del(
  url: string | URL,
  headers?: HeadersInput | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().delete(url, headers, body, options);
}

/** A raw stream on the default client. No redirects. The caller closes it. */
export function request(
  method: string,
  url: string | URL,
  headers?: HeadersInput | null,
  options?: RequestOptions,
): Promise<ClientStream> {
  return defaultClient().request(method, url, headers, options);
}
