/**
 * Names of etcd's own server tests, as of `go.etcd.io/etcd/tests/v3@v3.7.3`, by the file below
 * `integration/`, and why some of them are not repeated here.
 *
 * @module
 */

import { NAMES as CLIENT_NAMES } from "../../etcd_cases/names.ts";

/** Of the client's tests those that say what the server does. */
const WATCHES = "clientv3/watch/v3_watch_test.go";

/** All of them. */
export const NAMES: Readonly<Record<string, readonly string[]>> = {
  "v3_grpc_test.go": [
    "TestV3PutOverwrite",
    "TestV3PutRestart",
    "TestV3CompactCurrentRev",
    "TestV3HashKV",
    "TestV3TxnTooManyOps",
    "TestV3TxnDuplicateKeys",
    "TestV3TxnRevision",
    "TestV3TxnCmpHeaderRev",
    "TestV3TxnRangeCompare",
    "TestV3TxnNestedPath",
    "TestV3PutIgnoreValue",
    "TestV3PutIgnoreLease",
    "TestV3PutMissingLease",
    "TestV3DeleteRange",
    "TestV3TxnInvalidRange",
    "TestV3TooLargeRequest",
    "TestV3Hash",
    "TestV3HashRestart",
    "TestV3StorageQuotaAPI",
    "TestV3RangeRequest",
    "TestV3RangeStreamCount",
    "TestV3RangeStreamPartialThenCompacted",
    "TestV3RangeStreamWriteBetweenChunks",
    "TestV3RangeStreamLargeValues",
    "TestTLSGRPCRejectInsecureClient",
    "TestTLSGRPCRejectSecureClient",
    "TestTLSGRPCAcceptSecureAll",
    "TestTLSReloadAtomicReplace",
    "TestTLSReloadCopy",
    "TestTLSReloadCopyIPOnly",
    "TestGRPCRequireLeader",
    "TestGRPCStreamRequireLeader",
    "TestV3LargeRequests",
    "TestV3AdditionalGRPCOptions",
  ],
  "v3_grpc_inflight_test.go": [
    "TestV3MaintenanceDefragmentInflightRange",
    "TestV3KVInflightRangeRequests",
  ],
  "v3_kv_test.go": [
    "TestKVWithEmptyValue",
  ],
  "v3_lease_test.go": [
    "TestV3LeasePromote",
    "TestV3LeaseRevoke",
    "TestV3LeaseGrantByID",
    "TestV3LeaseNegativeID",
    "TestV3LeaseExpire",
    "TestV3LeaseKeepAlive",
    "TestV3LeaseKeepAliveForwardingCatchError",
    "TestV3LeaseCheckpoint",
    "TestV3LeaseExists",
    "TestV3LeaseLeases",
    "TestV3LeaseRenewStress",
    "TestV3LeaseRenewStressWithClusterClient",
    "TestV3LeaseTimeToLiveStress",
    "TestV3LeaseTimeToLiveStressWithClusterClient",
    "TestV3PutOnNonExistLease",
    "TestV3GetNonExistLease",
    "TestV3LeaseSwitch",
    "TestV3LeaseFailover",
    "TestV3LeaseRecoverAndRevoke",
    "TestV3LeaseRevokeAndRecover",
    "TestV3LeaseRecoverKeyWithDetachedLease",
    "TestV3LeaseRecoverKeyWithMultipleLease",
    "TestV3LeaseTimeToLiveWithLeaderChanged",
  ],
  "v3_auth_test.go": [
    "TestV3AuthEmptyUserGet",
    "TestV3AuthEmptyUserPut",
    "TestV3AuthTokenWithDisable",
    "TestV3AuthRevision",
    "TestV3AuthWithLeaseRevokeWithRoot",
    "TestV3AuthWithLeaseRevokeWithRootJWT",
    "TestV3AuthWithLeaseRevoke",
    "TestV3AuthWithLeaseRenew",
    "TestV3AuthWithLeaseAttach",
    "TestV3AuthNonAuthorizedRPCs",
    "TestV3AuthNestedTxnPermissionDenied",
    "TestReadWithPrevKvInTXN",
    "TestPutWithLeaseInTXN",
    "TestV3AuthOldRevConcurrent",
    "TestV3AuthWatchErrorAndWatchId0",
  ],
  "v3_alarm_test.go": [
    "TestV3StorageQuotaApply",
    "TestV3AlarmDeactivate",
    "TestV3CorruptAlarm",
    "TestV3CorruptAlarmWithLeaseCorrupted",
  ],
  "v3lock_grpc_test.go": [
    "TestV3LockLockWaiter",
  ],
  "v3election_grpc_test.go": [
    "TestV3ElectionCampaign",
    "TestV3ElectionObserve",
  ],
  "v3_election_test.go": [
    "TestElectionWait",
    "TestElectionFailover",
    "TestElectionSessionRecampaign",
    "TestElectionOnPrefixOfExistingKey",
    "TestElectionOnSessionRestart",
    "TestElectionObserveCompacted",
    "TestElectionObserveFreshResponsesOnProclaim",
    "TestElectionWithAuthEnabled",
  ],
  "v3_stm_test.go": [
    "TestSTMConflict",
    "TestSTMPutNewKey",
    "TestSTMAbort",
    "TestSTMSerialize",
    "TestSTMApplyOnConcurrentDeletion",
    "TestSTMSerializableSnapshotPut",
  ],
  "v3_leadership_test.go": [
    "TestMoveLeader",
    "TestMoveLeaderService",
    "TestMoveLeaderError",
    "TestMoveLeaderToLearnerError",
    "TestTransferLeadershipWithLearner",
    "TestFirstCommitNotification",
  ],
  "v3_failover_test.go": [
    "TestFailover",
  ],
  "v3_tls_test.go": [
    "TestTLSClientCipherSuitesValid",
    "TestTLSClientCipherSuitesMismatch",
    "TestTLSMinMaxVersion",
  ],
  [WATCHES]: CLIENT_NAMES[WATCHES]!,
};

/** Files whose tests are cases of the client, which runs on the store as on etcd. */
export const ELSEWHERE: readonly string[] = [
  "v3_election_test.go",
  "v3_stm_test.go",
  "clientv3/watch/v3_watch_test.go",
];

const ONE_NODE = "it is about several members";
const TLS_OPTIONS = "TLS is the platform's: there are no options for it";
const WITH_TLS = "a store with TLS and one without are shown by tests/kv/server/options_test.ts";
const CERTIFICATES = "certificates are replaced by `store.setCerts()`, not by files";
const GO_OPTIONS = "it is about options of etcd's Go package";

/** Tests and files that are not repeated, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  "v3_leadership_test.go": ONE_NODE,
  "v3_failover_test.go": ONE_NODE,
  "v3_tls_test.go": TLS_OPTIONS,
  TestTLSGRPCRejectInsecureClient: WITH_TLS,
  TestTLSGRPCRejectSecureClient: WITH_TLS,
  TestTLSGRPCAcceptSecureAll: WITH_TLS,
  TestTLSReloadAtomicReplace: CERTIFICATES,
  TestTLSReloadCopy: CERTIFICATES,
  TestTLSReloadCopyIPOnly: CERTIFICATES,
  TestV3AdditionalGRPCOptions: GO_OPTIONS,
  TestV3LeaseKeepAliveForwardingCatchError: ONE_NODE,
  TestV3LeaseCheckpoint: ONE_NODE,
  TestV3AuthWithLeaseRevokeWithRootJWT: "there are no JSON web tokens",
  TestV3CorruptAlarm: ONE_NODE,
  TestV3CorruptAlarmWithLeaseCorrupted: ONE_NODE,
};
