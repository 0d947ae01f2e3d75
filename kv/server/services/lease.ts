// The service `etcdserverpb.Lease`.

import type { Handlers } from "../../../grpc/mod.ts";
import type { GrantMessage } from "../../wire.ts";
import type { Caller } from "../auth/guard.ts";
import { ServerFault } from "../fault.ts";
import { LEASE_BYTES } from "../lease/leases.ts";
import type { Node } from "../node.ts";
import { bytesOfKey } from "../store/key_text.ts";

/** Handlers of `Lease`. */
export function leaseHandlers(node: Node): Handlers {
  const { guard, space, state } = node;
  const { leases } = state;
  const header = () => node.header(state.mvcc.revision);
  return {
    LeaseGrant: ({ ID, TTL }: GrantMessage, caller: Caller) =>
      node.answer(() => {
        space.check(LEASE_BYTES);
        guard.known(caller);
        space.checkOpen();
        const { id, ttl } = node.grant(ID, TTL);
        return { header: header(), ID: id, TTL: BigInt(ttl), error: "" };
      }),
    LeaseRevoke: ({ ID }: { readonly ID: bigint }, caller: Caller) =>
      node.answer(() => {
        guard.known(caller);
        space.checkSound();
        guard.lease(caller, "write", ID);
        state.revoke(ID);
        return { header: header() };
      }),
    LeaseKeepAlive: async function* (
      requests: AsyncIterable<{ readonly ID: bigint }>,
      caller: Caller,
    ) {
      for await (const { ID } of requests) {
        yield node.answer(() => {
          if (!node.hasLeader) throw new ServerFault("NO_LEADER");
          guard.known(caller);
          guard.lease(caller, "write", ID);
          const lease = leases.renew(ID, node.now());
          if (lease !== undefined) node.counts.leasesRenewed++;
          return { header: header(), ID, TTL: BigInt(lease?.ttl ?? 0) };
        });
      }
    },
    LeaseTimeToLive: (
      { ID, keys }: { readonly ID: bigint; readonly keys: boolean },
      caller: Caller,
    ) =>
      node.answer(() => {
        guard.known(caller);
        if (keys) guard.lease(caller, "read", ID);
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
    LeaseLeases: (_request: unknown, caller: Caller) =>
      node.answer(() => {
        guard.leases(caller);
        return { header: header(), leases: leases.list().map(({ id }) => ({ ID: id })) };
      }),
  };
}
