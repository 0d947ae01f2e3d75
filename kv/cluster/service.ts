/**
 * The service `etcdserverpb.Cluster`, and its messages as the codec gives and takes them.
 *
 * @module
 */
import { type Conn, newService } from "../../grpc/mod.ts";
import { schemaFile, type Unary } from "../schema.ts";
import type { Headed } from "../wire.ts";

/** `etcdserverpb.Member`. */
export interface MemberMessage {
  readonly ID: bigint;
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  readonly isLearner: boolean;
}

/** A response with all members. */
export interface MembersResult extends Headed {
  readonly members: readonly MemberMessage[];
}

/** `etcdserverpb.Cluster`. */
export interface ClusterService {
  readonly MemberAdd: Unary<
    { readonly peerURLs: readonly string[]; readonly isLearner: boolean },
    MembersResult & { readonly member?: MemberMessage }
  >;
  readonly MemberRemove: Unary<{ readonly ID: bigint }, MembersResult>;
  readonly MemberUpdate: Unary<
    { readonly ID: bigint; readonly peerURLs: readonly string[] },
    MembersResult
  >;
  readonly MemberList: Unary<{ readonly linearizable: boolean }, MembersResult>;
  readonly MemberPromote: Unary<{ readonly ID: bigint }, MembersResult>;
}

/** Client of `etcdserverpb.Cluster`. */
export function clusterService(conn: Conn): ClusterService {
  return newService(conn, schemaFile("cluster"), "Cluster") as unknown as ClusterService;
}
