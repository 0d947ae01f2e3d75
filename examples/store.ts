/**
 * The store of the examples: the cluster that `ETCD_ENDPOINTS` names, or one in this process, which is
 * gone when disposed of.
 *
 * @module
 */
import { listen } from "@sluice/sluice/kv/server";

/** A store to talk to. */
export interface ExampleStore extends AsyncDisposable {
  /** `host:port` of its members. */
  readonly endpoints: string[];
  /** Whether it is this program's alone. */
  readonly own: boolean;
}

/** Opens the store. */
export function openStore(): ExampleStore {
  const endpoints = Deno.env.get("ETCD_ENDPOINTS");
  if (endpoints) {
    return {
      endpoints: endpoints.split(",").map((one) => one.trim().replace(/^https?:\/\//, "")),
      own: false,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const store = listen();
  return {
    endpoints: [store.addr],
    own: true,
    [Symbol.asyncDispose]: () => store.close(),
  };
}
