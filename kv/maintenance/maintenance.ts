/**
 * Upkeep of a cluster and its members.
 *
 * @module
 */
import { code } from "../../grpc/mod.ts";
import { fair, quietMethods } from "../../http/engine.ts";
import type { Calls } from "../calls.ts";
import { KvError } from "../errors.ts";
import { check, choice, int64, required, uint64 } from "../fields.ts";
import { withJson } from "../json.ts";
import { readHeader } from "../ops.ts";
import type { CallOptions } from "../types.ts";
import type { MemberLinks } from "./member_links.ts";
import type { AlarmResult, MaintenanceService, StatusResult } from "./service.ts";
import { beginSnapshot, snapshotOf } from "./snapshot.ts";
import type {
  Alarm,
  AlarmDisarmRequest,
  AlarmResponse,
  AlarmType,
  DowngradeRequest,
  DowngradeResponse,
  EndpointRequest,
  HashKVRequest,
  HashKVResponse,
  HashResponse,
  MaintenanceResponse,
  MoveLeaderRequest,
  Snapshot,
  StatusResponse,
} from "./types.ts";

/** Makes the maintenance of a client's cluster. */
let maintenanceOf: (host: MaintenanceHost) => Maintenance;
export { maintenanceOf };

/** Parts of a client that maintenance needs. */
interface MaintenanceHost {
  /** Any member may answer. */
  readonly calls: Calls;
  readonly service: MaintenanceService;
  readonly links: MemberLinks;
  /** The client's endpoints. */
  readonly endpoints: () => readonly string[];
}

/** Whom a call goes to. */
type Way = Pick<MaintenanceHost, "calls" | "service">;

const NOTHING: Record<string, never> = {};
const ALARMS: readonly AlarmType[] = ["NONE", "NOSPACE", "CORRUPT"];
const DOWNGRADES: readonly DowngradeRequest["action"][] = ["VALIDATE", "ENABLE", "CANCEL"];
const GET = 0;
const DEACTIVATE = 2;

/**
 * Upkeep: how members are, alarms, defragmentation, hashes, snapshots, leadership. Most calls are about
 * one member: `endpoint` says which; else any answers. All methods reject with {@linkcode KvError}.
 */
export class Maintenance {
  readonly #host: MaintenanceHost;

  static {
    maintenanceOf = (host) => new Maintenance(host);
  }

  private constructor(host: MaintenanceHost) {
    this.#host = host;
  }

  /** Tells how a member is. */
  async status(
    request: EndpointRequest = {},
    options?: number | CallOptions,
  ): Promise<StatusResponse> {
    const operation = "maintenance.status";
    check(operation, request, ["endpoint"]);
    return await this.#at(
      operation,
      request,
      async ({ calls, service }) =>
        readStatus(await calls.run(operation, "read", service.Status, NOTHING, options)),
    );
  }

  /** Lists the alarms that stand in the cluster. */
  async alarmList(options?: number | CallOptions): Promise<AlarmResponse> {
    const { calls, service } = this.#host;
    const message = { action: GET, memberID: 0n, alarm: 0 };
    return readAlarms(
      await calls.run("maintenance.alarmList", "read", service.Alarm, message, options),
    );
  }

  /**
   * Disarms alarms: writes are possible again after NOSPACE. Give back space first (compact and
   * defragment), or it comes again. Resolves with those that were disarmed.
   */
  async alarmDisarm(
    request: AlarmDisarmRequest = {},
    options?: number | CallOptions,
  ): Promise<AlarmResponse> {
    const operation = "maintenance.alarmDisarm";
    check(operation, request, ["memberID", "alarm"]);
    const memberID = uint64(operation, "memberID", request.memberID ?? 0n);
    const alarm = choice(operation, "alarm", ALARMS, request.alarm);
    const given = memberID !== 0n || alarm !== 0;
    if (given && (memberID === 0n || alarm === 0)) {
      throw new TypeError(
        `Cannot ${operation} with one of memberID and alarm: give both for one alarm, or none for all`,
      );
    }
    if (given) return await this.#disarm([{ memberID, alarm: ALARMS[alarm]! }], options);
    return await this.#disarm((await this.alarmList(options)).alarms, options);
  }

  async #disarm(
    alarms: readonly Alarm[],
    options: number | CallOptions | undefined,
  ): Promise<AlarmResponse> {
    const { calls, service } = this.#host;
    const disarmed: Alarm[] = [];
    let header = readHeader({});
    for (const { memberID, alarm } of alarms) {
      const message = { action: DEACTIVATE, memberID, alarm: ALARMS.indexOf(alarm) };
      const response = readAlarms(
        // Disarmed twice is disarmed.
        await calls.run("maintenance.alarmDisarm", "repeatable", service.Alarm, message, options),
      );
      disarmed.push(...response.alarms);
      ({ header } = response);
    }
    return withJson({ header, alarms: disarmed });
  }

  /**
   * Gives space of a member's database that is not in use back to the disk. The member answers nobody
   * meanwhile: do one after the other.
   */
  async defragment(
    request: EndpointRequest = {},
    options?: number | CallOptions,
  ): Promise<MaintenanceResponse> {
    const operation = "maintenance.defragment";
    check(operation, request, ["endpoint"]);
    return await this.#at(operation, request, async ({ calls, service }) => ({
      header: readHeader(await calls.run(operation, "once", service.Defragment, NOTHING, options)),
    }));
  }

  /** A hash of a member's whole database, for tests: members that agree may have different ones. */
  async hash(
    request: EndpointRequest = {},
    options?: number | CallOptions,
  ): Promise<HashResponse> {
    const operation = "maintenance.hash";
    check(operation, request, ["endpoint"]);
    return await this.#at(operation, request, async ({ calls, service }) => {
      const result = await calls.run(operation, "read", service.Hash, NOTHING, options);
      return { header: readHeader(result), hash: result.hash };
    });
  }

  /**
   * A hash of a member's keys up to a revision. Members have the same at the same revision, if their
   * `compactRevision` is the same.
   */
  async hashKV(
    request: HashKVRequest = {},
    options?: number | CallOptions,
  ): Promise<HashKVResponse> {
    const operation = "maintenance.hashKV";
    check(operation, request, ["endpoint", "revision"]);
    const message = { revision: int64(operation, "revision", request.revision) };
    return await this.#at(operation, request, async ({ calls, service }) => {
      const result = await calls.run(operation, "read", service.HashKV, message, options);
      const { hash, compactRevision, hashRevision } = result;
      return withJson({ header: readHeader(result), hash, compactRevision, hashRevision });
    });
  }

  /**
   * A copy of a member's database, as a stream. Resolves when the first bytes are there: `timeout` is
   * for that, `signal` ends the stream whenever it aborts.
   *
   * @example
   * ```ts ignore
   * const { body } = await client.maintenance.snapshot();
   * await Deno.writeFile("backup.db", body);
   * ```
   */
  async snapshot(
    request: EndpointRequest = {},
    options?: number | CallOptions,
  ): Promise<Snapshot> {
    const operation = "maintenance.snapshot";
    check(operation, request, ["endpoint"]);
    const way = this.#way(operation, request);
    try {
      const begun = await way.calls.run(
        operation,
        "read",
        (_, options = {}) => beginSnapshot(way.service, options),
        NOTHING,
        options,
      );
      return snapshotOf(begun, way.close);
    } catch (error) {
      way.close();
      throw error;
    }
  }

  /**
   * Makes another member the leader. Only the leader does that: without `endpoint` the client's
   * endpoints are asked which of them it is.
   */
  async moveLeader(
    request: MoveLeaderRequest,
    options?: number | CallOptions,
  ): Promise<MaintenanceResponse> {
    const operation = "maintenance.moveLeader";
    check(operation, request, ["endpoint", "targetID"]);
    const message = {
      targetID: uint64(operation, "targetID", required(operation, "targetID", request.targetID)),
    };
    const endpoint = request.endpoint ?? await this.#leader(options);
    return await this.#at(operation, { endpoint }, async ({ calls, service }) => ({
      header: readHeader(await calls.run(operation, "once", service.MoveLeader, message, options)),
    }));
  }

  /**
   * Asks whether the cluster can come to the minor version below its own, begins that, or gives it up.
   * Once it was begun members are replaced by ones of that version, one after the other (etcd's
   * downgrade guide). etcd 3.4 does not know it, and answers UNIMPLEMENTED.
   */
  async downgrade(
    request: DowngradeRequest,
    options?: number | CallOptions,
  ): Promise<DowngradeResponse> {
    const operation = "maintenance.downgrade";
    check(operation, request, ["action", "version"]);
    const action = choice(
      operation,
      "action",
      DOWNGRADES,
      required(operation, "action", request.action),
    );
    const { version = "" } = request;
    if (typeof version !== "string" || (version === "") !== (request.action === "CANCEL")) {
      throw new TypeError(
        `Cannot ${operation} with this version: VALIDATE and ENABLE need one as "3.5", CANCEL none`,
      );
    }
    const { calls, service } = this.#host;
    const kind = request.action === "VALIDATE" ? "read" : "once";
    const result = await calls.run(
      operation,
      kind,
      service.Downgrade,
      { action, version },
      options,
    );
    return { header: readHeader(result), version: result.version };
  }

  /** Which of the client's endpoints leads. */
  async #leader(options: number | CallOptions | undefined): Promise<string> {
    const endpoints = this.#host.endpoints();
    const found = await Promise.all(
      endpoints.map((endpoint) =>
        this.status({ endpoint }, options).then(
          ({ header, leader }) => header.memberId === leader,
          () => false,
        )
      ),
    );
    const leader = endpoints[found.indexOf(true)];
    if (leader !== undefined) return leader;
    throw new KvError(
      `none of the endpoints ${endpoints.join(", ")} is the leader, or it did not answer`,
      code.FAILED_PRECONDITION,
      { reason: "NOT_LEADER" },
    );
  }

  #way(operation: string, { endpoint }: EndpointRequest): Way & { readonly close: () => void } {
    if (endpoint !== undefined) return this.#host.links.open(operation, endpoint);
    const { calls, service } = this.#host;
    return { calls, service, close: () => {} };
  }

  async #at<T>(
    operation: string,
    request: EndpointRequest,
    call: (way: Way) => Promise<T>,
  ): Promise<T> {
    const way = this.#way(operation, request);
    try {
      return await call(way);
    } finally {
      way.close();
    }
  }
}

quietMethods(Maintenance, [
  "status",
  "alarmList",
  "alarmDisarm",
  "defragment",
  "hash",
  "hashKV",
  "snapshot",
  "moveLeader",
  "downgrade",
], fair);

function readStatus(result: StatusResult): StatusResponse {
  const { version, leader, raftIndex, raftTerm, raftAppliedIndex, isLearner, storageVersion } =
    result;
  return withJson({
    header: readHeader(result),
    version,
    dbSize: Number(result.dbSize),
    dbSizeInUse: Number(result.dbSizeInUse),
    dbSizeQuota: Number(result.dbSizeQuota),
    leader,
    raftIndex,
    raftTerm,
    raftAppliedIndex,
    errors: [...result.errors],
    isLearner,
    storageVersion,
    downgradeTarget: result.downgradeInfo?.targetVersion ?? "",
  });
}

function readAlarms(result: AlarmResult): AlarmResponse {
  const alarms = result.alarms.map(({ memberID, alarm }) =>
    withJson({ memberID, alarm: ALARMS[alarm] ?? "CORRUPT" })
  );
  return withJson({ header: readHeader(result), alarms });
}
