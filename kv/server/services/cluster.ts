// The service `etcdserverpb.Cluster`: of one member, which can be renamed and nothing else.

import type { Handlers } from "../../../grpc/mod.ts";
import type { Caller } from "../auth/guard.ts";
import { ServerFault } from "../fault.ts";
import type { Node } from "../node.ts";

interface WithId {
  readonly ID: bigint;
}

/** Handlers of `Cluster`. */
export function clusterHandlers(node: Node): Handlers {
  const { memberId } = node.identity;
  const members = () => [{
    ID: memberId,
    name: node.name,
    peerURLs: [...node.peerUrls],
    clientURLs: [...node.clientUrls],
    isLearner: false,
  }];
  // etcd leaves the revision out here.
  const answer = () => ({ header: node.header(0), members: members() });
  const checkId = (id: bigint): void => {
    if (id !== memberId) throw new ServerFault("MEMBER_NOT_FOUND");
  };
  return {
    MemberList: (_request: unknown, caller: Caller) => {
      node.guard.known(caller);
      return answer();
    },
    MemberAdd: ({ peerURLs }: { peerURLs: readonly string[] }, caller: Caller) => {
      node.guard.root(caller);
      checkUrls(peerURLs);
      if (peerURLs.some((url) => node.peerUrls.includes(url))) {
        throw new ServerFault("PEER_URL_EXISTS");
      }
      // A second member would have to be started, and would not be one.
      throw new ServerFault("UNHEALTHY");
    },
    MemberRemove: ({ ID }: WithId, caller: Caller) => {
      node.guard.root(caller);
      checkId(ID);
      throw new ServerFault("MEMBER_NOT_ENOUGH_STARTED");
    },
    MemberUpdate: ({ ID, peerURLs }: WithId & { peerURLs: readonly string[] }, caller: Caller) => {
      node.guard.root(caller);
      checkId(ID);
      node.peerUrls = [...peerURLs];
      return answer();
    },
    MemberPromote: ({ ID }: WithId, caller: Caller) => {
      node.guard.root(caller);
      checkId(ID);
      throw new ServerFault("MEMBER_NOT_LEARNER");
    },
  };
}

/** Checks addresses of members: `http://host:port` without a path. */
function checkUrls(urls: readonly string[]): void {
  const good = urls.length > 0 && urls.every((url) => {
    const parsed = URL.parse(url);
    return parsed !== null && /^https?:$/.test(parsed.protocol) && /:\d+\/?$/.test(url);
  });
  if (!good) throw new ServerFault("MEMBER_BAD_URLS");
}
