/**
 * Members of a cluster, and the client's endpoints made of them.
 *
 * @module
 */
import { code } from "../../grpc/mod.ts";
import { fair, quietMethods } from "../../http/engine.ts";
import type { Calls } from "../calls.ts";
import { KvError } from "../errors.ts";
import { check, flag, shown, uint64 } from "../fields.ts";
import { withJson } from "../json.ts";
import { readHeader } from "../ops.ts";
import type { CallOptions } from "../types.ts";
import { clientEndpoints } from "./endpoints.ts";
import type { ClusterService, MemberMessage, MembersResult } from "./service.ts";
import type {
  Member,
  MemberAddRequest,
  MemberAddResponse,
  MemberListRequest,
  MemberRequest,
  MembersResponse,
  MemberUpdateRequest,
} from "./types.ts";

/** Makes the cluster of a client. */
let clusterOf: (host: ClusterHost) => Cluster;
export { clusterOf };

/** Parts of a client that a cluster needs. */
interface ClusterHost {
  readonly calls: Calls;
  readonly service: ClusterService;
  /** Whether connections are encrypted. */
  readonly secure: boolean;
  /** Where calls go now. */
  endpoints(): readonly string[];
  /** Takes other endpoints. */
  use(endpoints: readonly string[]): void;
}

/**
 * Members of a cluster. Changes are sent once, like writes. All methods reject with
 * {@linkcode KvError}: `reason` tells `MEMBER_NOT_FOUND` from `LEARNER_NOT_READY`.
 */
export class Cluster {
  readonly #host: ClusterHost;

  static {
    clusterOf = (host) => new Cluster(host);
  }

  private constructor(host: ClusterHost) {
    this.#host = host;
  }

  /** Lists the members. */
  async memberList(
    request: MemberListRequest = {},
    options?: number | CallOptions,
  ): Promise<MembersResponse> {
    const operation = "cluster.memberList";
    check(operation, request, ["linearizable"]);
    const { calls, service } = this.#host;
    const linearizable = flag(operation, "linearizable", request.linearizable ?? true);
    return readMembers(
      await calls.run(operation, "read", service.MemberList, { linearizable }, options),
    );
  }

  /** Adds a member with a vote. Start it right away: until then it counts as one that is down. */
  memberAdd(request: MemberAddRequest, options?: number | CallOptions): Promise<MemberAddResponse> {
    return this.#add("cluster.memberAdd", request, false, options);
  }

  /** Adds a member without a vote: it follows, and may be promoted once it has caught up. */
  memberAddAsLearner(
    request: MemberAddRequest,
    options?: number | CallOptions,
  ): Promise<MemberAddResponse> {
    return this.#add("cluster.memberAddAsLearner", request, true, options);
  }

  async #add(
    operation: string,
    request: MemberAddRequest,
    isLearner: boolean,
    options: number | CallOptions | undefined,
  ): Promise<MemberAddResponse> {
    check(operation, request, ["peerURLs"]);
    const message = { peerURLs: urls(operation, request.peerURLs), isLearner };
    const { calls, service } = this.#host;
    const result = await calls.run(operation, "once", service.MemberAdd, message, options);
    if (result.member === undefined) {
      throw new KvError("the server did not tell which member it added", code.INTERNAL);
    }
    return withJson({ ...readMembers(result), member: readMember(result.member) });
  }

  /** Gives a learner its vote. Rejects with `LEARNER_NOT_READY` until it has caught up. */
  async memberPromote(
    request: MemberRequest,
    options?: number | CallOptions,
  ): Promise<MembersResponse> {
    const operation = "cluster.memberPromote";
    const message = memberOf(operation, request);
    const { calls, service } = this.#host;
    return readMembers(
      await calls.run(operation, "once", service.MemberPromote, message, options),
    );
  }

  /** Removes a member, running or not. */
  async memberRemove(
    request: MemberRequest,
    options?: number | CallOptions,
  ): Promise<MembersResponse> {
    const operation = "cluster.memberRemove";
    const message = memberOf(operation, request);
    const { calls, service } = this.#host;
    return readMembers(await calls.run(operation, "once", service.MemberRemove, message, options));
  }

  /** Tells the cluster where a member is reached by the others. */
  async memberUpdate(
    request: MemberUpdateRequest,
    options?: number | CallOptions,
  ): Promise<MembersResponse> {
    const operation = "cluster.memberUpdate";
    check(operation, request, ["ID", "peerURLs"]);
    const message = {
      ID: uint64(operation, "ID", request.ID),
      peerURLs: urls(operation, request.peerURLs),
    };
    const { calls, service } = this.#host;
    return readMembers(await calls.run(operation, "once", service.MemberUpdate, message, options));
  }

  /**
   * Makes the client's endpoints those that the members tell of themselves (`--advertise-client-urls`):
   * members that were started and have a vote, by the scheme this client speaks. Calls and watches go
   * on; connections to endpoints that stay are kept. Resolves with the endpoints. Rejects, and changes
   * nothing, if no member tells one that this client can use.
   */
  async sync(options?: number | CallOptions): Promise<readonly string[]> {
    const { members } = await this.memberList({}, options);
    const endpoints = clientEndpoints(members, this.#host.secure, this.#host.endpoints());
    if (endpoints.length === 0) {
      throw new KvError(
        `no member has a client URL to use ${
          this.#host.secure ? "with" : "without"
        } TLS: they tell ${members.flatMap(({ clientURLs }) => clientURLs).join(", ") || "none"}`,
        code.FAILED_PRECONDITION,
      );
    }
    this.#host.use(endpoints);
    return endpoints;
  }
}

quietMethods(Cluster, [
  "memberList",
  "memberAdd",
  "memberAddAsLearner",
  "memberPromote",
  "memberRemove",
  "memberUpdate",
  "sync",
], fair);

function memberOf(operation: string, request: MemberRequest): { readonly ID: bigint } {
  check(operation, request, ["ID"]);
  return { ID: uint64(operation, "ID", request.ID) };
}

function urls(operation: string, value: readonly string[]): readonly string[] {
  if (
    Array.isArray(value) && value.length > 0 &&
    value.every((url) => typeof url === "string" && url !== "")
  ) return value;
  throw new TypeError(
    `Cannot ${operation} as peerURLs must be a list of URLs, as ["http://10.0.0.4:2380"]: current value is ${
      shown(value)
    }`,
  );
}

function readMembers(result: MembersResult): MembersResponse {
  return withJson({ header: readHeader(result), members: result.members.map(readMember) });
}

function readMember({ ID, name, peerURLs, clientURLs, isLearner }: MemberMessage): Member {
  return withJson({ ID, name, peerURLs: [...peerURLs], clientURLs: [...clientURLs], isLearner });
}
