// The service `etcdserverpb.Lease`.

import type { Handlers } from "../../../grpc/mod.ts";
import type { GrantMessage } from "../../wire.ts";
import type { Node } from "../node.ts";
import { bytesOfKey } from "../store/key_text.ts";

/** A positive number of 63 bits that no lease has. */
function freeId(taken: (id: bigint) => boolean): bigint {
  for (;;) {
    const [random] = crypto.getRandomValues(new BigUint64Array(1));
    const id = random! >> 1n;
    if (id !== 0n && !taken(id)) return id;
  }
}

/** Handlers of `Lease`. */
export function leaseHandlers(node: Node): Handlers {
  const { state } = node;
  const { leases } = state;
  const header = () => node.header(state.mvcc.revision);
  return {
    LeaseGrant: ({ ID, TTL }: GrantMessage) =>
      node.answer(() => {
        const id = ID === 0n ? freeId((id) => leases.has(id)) : ID;
        const ttl = state.grant(id, TTL, node.now());
        node.watchExpiry();
        return { header: header(), ID: id, TTL: BigInt(ttl), error: "" };
      }),
    LeaseRevoke: ({ ID }: { readonly ID: bigint }) =>
      node.answer(() => {
        state.revoke(ID);
        return { header: header() };
      }),
    LeaseKeepAlive: async function* (requests: AsyncIterable<{ readonly ID: bigint }>) {
      for await (const { ID } of requests) {
        yield node.answer(() => {
          const lease = leases.renew(ID, node.now());
          return { header: header(), ID, TTL: BigInt(lease?.ttl ?? 0) };
        });
      }
    },
    LeaseTimeToLive: ({ ID, keys }: { readonly ID: bigint; readonly keys: boolean }) =>
      node.answer(() => {
        const lease = leases.get(ID);
        const left = lease === undefined ? -1 : (lease.expiry - node.now()) / 1_000;
        if (lease === undefined || left <= 0) {
          return { header: header(), ID, TTL: -1n, grantedTTL: 0n, keys: [] };
        }
        return {
          header: header(),
          ID,
          TTL: BigInt(Math.floor(left)),
          grantedTTL: BigInt(lease.ttl),
          keys: keys ? [...lease.keys].map(bytesOfKey) : [],
        };
      }),
    LeaseLeases: () =>
      node.answer(() => ({
        header: header(),
        leases: leases.list().map(({ id }) => ({ ID: id })),
      })),
  };
}
