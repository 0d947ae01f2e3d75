/**
 * Requests and responses of a cluster's members.
 *
 * @module
 */
import type { Int64, ResponseHeader } from "../types.ts";

/** One member of a cluster. */
export interface Member {
  /** The member; 64 bits without a sign. */
  readonly ID: bigint;
  /** Its name; empty until it has been started. */
  readonly name: string;
  /** Where other members reach it. */
  readonly peerURLs: string[];
  /** Where clients reach it; none until it has been started. */
  readonly clientURLs: string[];
  /** Whether it only follows, without a vote. */
  readonly isLearner: boolean;
}

/** Request of {@linkcode Cluster.memberList}. */
export interface MemberListRequest {
  /** Ask the whole cluster, not one member of what it knows. etcd 3.4 never does. @default {true} */
  readonly linearizable?: boolean;
}

/** Request of {@linkcode Cluster.memberAdd} and {@linkcode Cluster.memberAddAsLearner}. */
export interface MemberAddRequest {
  /** Where other members will reach it, as `http://10.0.0.4:2380`. */
  readonly peerURLs: readonly string[];
}

/** Request of {@linkcode Cluster.memberRemove} and {@linkcode Cluster.memberPromote}. */
export interface MemberRequest {
  /** The member. */
  readonly ID: Int64;
}

/** Request of {@linkcode Cluster.memberUpdate}. */
export interface MemberUpdateRequest extends MemberRequest {
  /** Where other members reach it from now on. */
  readonly peerURLs: readonly string[];
}

/** Response with all members. */
export interface MembersResponse {
  /** Header of the response; its `revision` is 0. */
  readonly header: ResponseHeader;
  /** All members, with what the call changed. */
  readonly members: Member[];
}

/** Response of {@linkcode Cluster.memberAdd}. */
export interface MemberAddResponse extends MembersResponse {
  /** The member that was added. */
  readonly member: Member;
}
