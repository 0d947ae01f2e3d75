import { assertEquals, assertStrictEquals } from "@std/assert";
import { NO_OPTIONS } from "../../../http/client/arguments.ts";
import { REQUEST_NAMES } from "../../../http/client/check_options.ts";
import { REQUEST_DEFAULTS, resolve } from "../../../http/client/resolve.ts";

/** Options that are not the defaults, one and another. */
const ONE = {
  signal: AbortSignal.abort(),
  timeout: 1,
  queueTimeout: 2,
  writeTimeout: 3,
  headTimeout: 4,
  bodyTimeout: 5,
  maxResponseBytes: 6,
  redirect: "manual",
  maxRedirects: 7,
  allowDowngrade: true,
  onRedirect: () => {},
  decompress: false,
  retry: 8,
  json: null,
  onUpload: () => {},
  onDownload: () => {},
} as const;

Deno.test("resolve() knows every option of requests", () => {
  assertEquals(Object.keys(ONE).toSorted(), REQUEST_NAMES.toSorted());
});

Deno.test("resolve() takes the request's options before its client's, and these before the defaults", () => {
  const { json: _, maxResponseBytes, retry, ...one } = ONE;
  const client = resolve(ONE, REQUEST_DEFAULTS);
  assertEquals(
    client,
    {
      ...one,
      maxWholeBytes: maxResponseBytes,
      maxStreamBytes: maxResponseBytes,
      retry: { ...client.retry!, limit: retry },
    },
  );
  assertEquals(resolve({}, client), { ...client, signal: undefined });
  for (const name of Object.keys(one) as (keyof typeof one)[]) {
    const given = resolve({ [name]: ONE[name] }, REQUEST_DEFAULTS);
    assertEquals(given, { ...REQUEST_DEFAULTS, [name]: ONE[name] }, name);
    assertEquals(
      resolve({ [name]: undefined }, client)[name],
      name === "signal" ? undefined : client[name],
    );
  }
});

Deno.test("resolve() lets a request turn off what its client retries", () => {
  const client = resolve({ retry: 3 }, REQUEST_DEFAULTS);
  assertEquals([client.retry?.limit, resolve({}, client).retry?.limit], [3, 3]);
  assertEquals(resolve({ retry: 0 }, client).retry, null);
});

Deno.test("requests without options share what their client says", () => {
  assertStrictEquals(resolve(NO_OPTIONS, REQUEST_DEFAULTS), REQUEST_DEFAULTS);
});
