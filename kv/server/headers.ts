// Headers of responses: which cluster and member answers, and at which revision.

import type { HeaderMessage } from "../wire.ts";

/** The fixed parts of headers. */
export interface Identity {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  readonly raftTerm: bigint;
}

/** A random identity. None of its numbers is 0: clients tell stores apart by them. */
export function newIdentity(): Identity {
  const [clusterId, memberId] = crypto.getRandomValues(new BigUint64Array(2));
  return { clusterId: clusterId! | 1n, memberId: memberId! | 1n, raftTerm: 2n };
}

/** The header of a response. */
export function headerOf(
  { clusterId, memberId, raftTerm }: Identity,
  revision: number | bigint,
): HeaderMessage {
  return { clusterId, memberId, raftTerm, revision: BigInt(revision) };
}
