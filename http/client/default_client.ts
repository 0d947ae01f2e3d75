/**
 * The plain functions, on one client that the program shares.
 *
 * @module
 */
import type { BodyInput } from "../message/body.ts";
import { Client } from "./client.ts";
import type { RequestOptions, SendOptions, StreamOptions } from "./options.ts";
import type { HeadersInput } from "../message/headers.ts";
import type { ClientStream } from "./stream.ts";
import type { HttpResponse } from "./response.ts";

let shared: Client | undefined;

/** The client behind the plain functions. Its idle connections do not keep the process alive. */
export function defaultClient(): Client {
  return shared ??= new Client();
}

/** GET on the default client. Follows redirects, decodes the body, reuses connections. Options alone: `get(url, { headers, timeout })`. */
export function get(url: string | URL, options: SendOptions): Promise<HttpResponse>;
/** GET on the default client. Follows redirects, decodes the body, reuses connections. */
export function get(
  url: string | URL,
  headers?: HeadersInput | null,
  options?: RequestOptions,
): Promise<HttpResponse>;
export function get(
  url: string | URL,
  headers?: HeadersInput | SendOptions | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().get(url, headers as HeadersInput, options);
}

/** HEAD on the default client. Options alone: `head(url, { headers, timeout })`. */
export function head(url: string | URL, options: SendOptions): Promise<HttpResponse>;
/** HEAD on the default client. */
export function head(
  url: string | URL,
  headers?: HeadersInput | null,
  options?: RequestOptions,
): Promise<HttpResponse>;
export function head(
  url: string | URL,
  headers?: HeadersInput | SendOptions | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().head(url, headers as HeadersInput, options);
}

/** POST on the default client. Options alone: `post(url, { headers, timeout })`. */
export function post(url: string | URL, options: SendOptions): Promise<HttpResponse>;
/** POST on the default client. */
export function post(
  url: string | URL,
  headers?: HeadersInput | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse>;
export function post(
  url: string | URL,
  headers?: HeadersInput | SendOptions | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().post(url, headers as HeadersInput, body, options);
}

/** PUT on the default client. Options alone: `put(url, { headers, timeout })`. */
export function put(url: string | URL, options: SendOptions): Promise<HttpResponse>;
/** PUT on the default client. */
export function put(
  url: string | URL,
  headers?: HeadersInput | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse>;
export function put(
  url: string | URL,
  headers?: HeadersInput | SendOptions | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().put(url, headers as HeadersInput, body, options);
}

/** PATCH on the default client. Options alone: `patch(url, { headers, timeout })`. */
export function patch(url: string | URL, options: SendOptions): Promise<HttpResponse>;
/** PATCH on the default client. */
export function patch(
  url: string | URL,
  headers?: HeadersInput | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse>;
export function patch(
  url: string | URL,
  headers?: HeadersInput | SendOptions | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().patch(url, headers as HeadersInput, body, options);
}

/** DELETE on the default client (`delete` is a reserved word). Options alone: `del(url, { headers, timeout })`. */
export function del(url: string | URL, options: SendOptions): Promise<HttpResponse>;
/** DELETE on the default client (`delete` is a reserved word). */
export function del(
  url: string | URL,
  headers?: HeadersInput | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse>;
export function del(
  url: string | URL,
  headers?: HeadersInput | SendOptions | null,
  body?: BodyInput | null,
  options?: RequestOptions,
): Promise<HttpResponse> {
  return defaultClient().delete(url, headers as HeadersInput, body, options);
}

/** A raw stream on the default client. No redirects. The caller closes it. */
export function request(
  method: string,
  url: string | URL,
  options: StreamOptions,
): Promise<ClientStream>;
/** A raw stream on the default client. No redirects. The caller closes it. */
export function request(
  method: string,
  url: string | URL,
  headers?: HeadersInput | null,
  options?: StreamOptions,
): Promise<ClientStream>;
export function request(
  method: string,
  url: string | URL,
  headers?: HeadersInput | StreamOptions | null,
  options?: StreamOptions,
): Promise<ClientStream> {
  return defaultClient().request(method, url, headers as HeadersInput, options);
}
