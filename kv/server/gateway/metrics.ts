/**
 * Figures of a store in the text form of Prometheus, under etcd's names.
 * {@link https://etcd.io/docs/v3.6/metrics/}
 *
 * @module
 */
import type { Node } from "../node.ts";

/** A figure: its name, what it counts, and its value or values by labels. */
type Metric = readonly [
  name: string,
  type: "counter" | "gauge",
  help: string,
  value: (node: Node) => number | Iterable<readonly [labels: string, value: number]>,
];

const one = (labels: string): [string, number][] => [[labels, 1]];

const METRICS: readonly Metric[] = [
  [
    "etcd_cluster_version",
    "gauge",
    "Version of the cluster.",
    ({ version }) => one(`cluster_version="${version.replace(/\.\d+$/, "")}"`),
  ],
  [
    "etcd_server_version",
    "gauge",
    "Version of the server.",
    ({ version }) => one(`server_version="${version}"`),
  ],
  [
    "etcd_server_id",
    "gauge",
    "Id of the member, in hexadecimal.",
    ({ identity }) => one(`server_id="${identity.memberId.toString(16)}"`),
  ],
  [
    "etcd_server_has_leader",
    "gauge",
    "Whether there is a leader.",
    ({ hasLeader }) => Number(hasLeader),
  ],
  [
    "etcd_server_is_leader",
    "gauge",
    "Whether this member leads.",
    ({ hasLeader }) => Number(hasLeader),
  ],
  ["etcd_server_is_learner", "gauge", "Whether this member has no vote.", () => 0],
  [
    "etcd_server_leader_changes_seen_total",
    "counter",
    "Leaders there were.",
    ({ identity }) => Number(identity.raftTerm) - 1,
  ],
  [
    "etcd_server_proposals_committed_total",
    "gauge",
    "Changes that were made.",
    ({ index }) => index,
  ],
  ["etcd_server_proposals_applied_total", "gauge", "Changes that were made.", ({ index }) => index],
  ["etcd_server_proposals_pending", "gauge", "Changes that wait.", () => 0],
  ["etcd_server_proposals_failed_total", "counter", "Changes that failed.", () => 0],
  [
    "etcd_server_quota_backend_bytes",
    "gauge",
    "Bytes the store may take.",
    ({ limits }) => limits.quotaBytes,
  ],
  [
    "etcd_debugging_server_lease_expired_total",
    "counter",
    "Leases that expired.",
    ({ counts }) => counts.leasesExpired,
  ],
  [
    "etcd_mvcc_db_total_size_in_bytes",
    "gauge",
    "Bytes of memory, about.",
    ({ space }) => space.bytes,
  ],
  [
    "etcd_mvcc_db_total_size_in_use_in_bytes",
    "gauge",
    "Bytes of memory in use, about.",
    ({ space }) => space.bytes,
  ],
  ["etcd_mvcc_put_total", "counter", "Keys that were put.", ({ counts }) => counts.puts],
  ["etcd_mvcc_delete_total", "counter", "Keys that were deleted.", ({ counts }) => counts.deletes],
  ["etcd_mvcc_range_total", "counter", "Ranges that were read.", ({ counts }) => counts.ranges],
  ["etcd_mvcc_txn_total", "counter", "Transactions.", ({ counts }) => counts.txns],
  [
    "etcd_debugging_mvcc_total_put_size_in_bytes",
    "gauge",
    "Bytes of keys and values that were put.",
    ({ counts }) => counts.putBytes,
  ],
  ["etcd_debugging_mvcc_keys_total", "gauge", "Keys, deleted ones until they are compacted.", (
    { state },
  ) => state.mvcc.size],
  [
    "etcd_debugging_mvcc_current_revision",
    "gauge",
    "Current revision.",
    ({ state }) => state.mvcc.revision,
  ],
  ["etcd_debugging_mvcc_compact_revision", "gauge", "Revision of the last compaction.", (
    { state },
  ) => state.mvcc.compacted],
  [
    "etcd_debugging_mvcc_watch_stream_total",
    "gauge",
    "Streams of watches.",
    ({ streams }) => streams,
  ],
  ["etcd_debugging_mvcc_watcher_total", "gauge", "Watches.", ({ watches }) => watches.size],
  [
    "etcd_debugging_mvcc_events_total",
    "counter",
    "Events told to watches.",
    ({ watches }) => watches.told,
  ],
  [
    "etcd_debugging_lease_granted_total",
    "counter",
    "Leases that were granted.",
    ({ counts }) => counts.leasesGranted,
  ],
  [
    "etcd_debugging_lease_renewed_total",
    "counter",
    "Renewals of leases.",
    ({ counts }) => counts.leasesRenewed,
  ],
  [
    "etcd_debugging_lease_revoked_total",
    "counter",
    "Leases that were revoked.",
    ({ counts }) => counts.leasesRevoked,
  ],
  [
    "etcd_debugging_auth_revision",
    "gauge",
    "Revision of users and roles.",
    ({ state }) => state.accounts.revision,
  ],
  [
    "grpc_server_started_total",
    "counter",
    "Calls that began.",
    ({ counts }) =>
      [...counts.calls].map(([method, calls]): [string, number] => {
        const [service, name] = method.split("/");
        return [`grpc_service="${service}",grpc_method="${name}"`, calls];
      }),
  ],
  [
    "process_resident_memory_bytes",
    "gauge",
    "Bytes of memory of the process.",
    () => Deno.memoryUsage().rss,
  ],
];

/** All figures of a store. */
export function metricsOf(node: Node): string {
  let text = "";
  for (const [name, type, help, value] of METRICS) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    const values = value(node);
    if (typeof values === "number") text += `${name} ${values}\n`;
    else for (const [labels, value] of values) text += `${name}{${labels}} ${value}\n`;
  }
  return text;
}
