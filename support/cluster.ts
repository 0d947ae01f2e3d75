/**
 * A cluster of real etcds for tests: every member behind proxies, one for its clients and one for the
 * other members, so that links can be cut on either side; members come and go.
 *
 * @module
 */
import { delay } from "@std/async";
import { grpc, protoc } from "@sluice/sluice";
import { programOf } from "./etcd.ts";
import { FaultProxy } from "./fault_proxy.ts";
import { freePorts } from "./ports.ts";
import { Process } from "./process.ts";

/** What etcd 3.4 to 3.7 print once a leader is elected and clients are served. */
const READY = /serving client traffic (?:in)?securely/;

/** Milliseconds a member has to serve clients: it may first have to find a leader. */
const READY_TIMEOUT = 60_000;

/** Milliseconds for a change of the members with all its attempts. */
const CHANGE_TIMEOUT = 45_000;

/** Milliseconds between two attempts. */
const CHANGE_PAUSE = 200;

/** Milliseconds for one attempt. */
const ATTEMPT_TIMEOUT = 3_000;

/** What a cluster says that will take the change later. */
const NOT_YET =
  /unhealthy cluster|not enough started members|no leader|leader changed|deadline|timed out|unavailable|stopped/;

/** What it says to a change that was made before. */
const DONE = /already exist|member not found|is no member|only promote a learner member$/;

/** How often a cluster is begun anew when someone took one of its ports first. */
const ATTEMPTS = 3;

const CLUSTER_PROTO = `
syntax = "proto3";
package etcdserverpb;
message Member { uint64 ID = 1; string name = 2; repeated string peerURLs = 3; bool isLearner = 5; }
message MemberAddRequest { repeated string peerURLs = 1; bool isLearner = 2; }
message MemberAddResponse { Member member = 2; repeated Member members = 3; }
message MemberIdRequest { uint64 ID = 1; }
message MemberListRequest {}
message MemberListResponse { repeated Member members = 2; }
service Cluster {
  rpc MemberAdd(MemberAddRequest) returns (MemberAddResponse);
  rpc MemberRemove(MemberIdRequest) returns (MemberListResponse);
  rpc MemberPromote(MemberIdRequest) returns (MemberListResponse);
  rpc MemberList(MemberListRequest) returns (MemberListResponse);
}`;

const CLUSTER = new protoc.Loader().load(CLUSTER_PROTO, "cluster.proto");

interface MemberMessage {
  readonly ID: bigint;
  readonly name: string;
  readonly peerURLs: string[];
  readonly isLearner: boolean;
}

type Call<Request, Response> = (
  request: Request,
  options?: { timeout: number },
) => Promise<Response>;

interface ClusterService {
  readonly MemberAdd: Call<
    { peerURLs: string[]; isLearner: boolean },
    { member: MemberMessage; members: MemberMessage[] }
  >;
  readonly MemberRemove: Call<{ ID: bigint }, unknown>;
  readonly MemberPromote: Call<{ ID: bigint }, unknown>;
  readonly MemberList: Call<Record<never, never>, { members: MemberMessage[] }>;
}

/** How a cluster is started. */
export interface ClusterOptions {
  /** The program. */
  readonly etcd: string;
  /** How many members it begins with. */
  readonly members: number;
  /** Flags added to every member's command line. */
  readonly flags?: readonly string[];
}

/** One member. */
export class Member {
  /** Its name. */
  readonly name: string;
  /** Where clients connect: a proxy. */
  readonly clients: FaultProxy;
  /** Where the other members connect: a proxy. What this member says to them goes through it. */
  readonly peers: FaultProxy;
  /** Its address without the proxy. */
  readonly direct: string;
  /** Its data. */
  readonly data: string;
  /** Whether it only follows, without a vote. */
  learner = false;
  readonly #command: string;
  readonly #args: readonly string[];
  #process: Process | undefined;
  #ready: Promise<unknown> = Promise.resolve();
  #paused = false;

  constructor(
    name: string,
    folder: string,
    options: ClusterOptions,
    ports: readonly [clients: number, peers: number],
    cluster: { readonly peers: readonly string[]; readonly state: "new" | "existing" },
  ) {
    this.name = name;
    this.data = `${folder}/${name}`;
    this.direct = `127.0.0.1:${ports[0]}`;
    this.clients = new FaultProxy({ target: this.direct });
    this.peers = new FaultProxy({ target: `127.0.0.1:${ports[1]}` });
    this.#command = options.etcd;
    this.#args = [
      `--name=${name}`,
      `--data-dir=${this.data}`,
      `--listen-client-urls=http://${this.direct}`,
      `--advertise-client-urls=http://${this.clients.endpoint}`,
      `--listen-peer-urls=http://127.0.0.1:${ports[1]}`,
      `--initial-advertise-peer-urls=${this.peerUrl}`,
      `--initial-cluster=${[...cluster.peers, `${name}=${this.peerUrl}`].join(",")}`,
      `--initial-cluster-state=${cluster.state}`,
      "--logger=zap",
      "--unsafe-no-fsync",
      ...options.flags ?? [],
    ];
  }

  /** Where it says that the other members reach it. */
  get peerUrl(): string {
    return `http://${this.peers.endpoint}`;
  }

  /** Whether its process runs, frozen or not. */
  get running(): boolean {
    return this.#process !== undefined && !this.#process.ended;
  }

  /** What it has logged since its last start. */
  get log(): string {
    return this.#process?.stderr ?? "";
  }

  /** Starts it, or starts it again with the data it had. `others` are peers that did not exist when it was made. */
  launch(others: readonly string[] = []): void {
    const args = this.#args.map((arg) =>
      arg.startsWith("--initial-cluster=") ? [arg, ...others].join(",") : arg
    );
    this.#process = new Process(programOf(this.#command, args));
    this.#ready = this.#process.waitFor(READY, READY_TIMEOUT);
    // Whoever waits for it is told; one that is killed first need not have anybody waiting.
    this.#ready.catch(() => {});
    this.#paused = false;
  }

  /** Resolves when it serves clients. */
  async ready(): Promise<void> {
    await this.#ready;
  }

  /** Ends its process, as a crash (`SIGKILL`) or an orderly end would; the data stay. */
  async halt(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    this.resume();
    await this.#process?.stop(signal);
  }

  /** Freezes it: connections stay open, nothing is answered. */
  pause(): void {
    this.#paused = true;
    this.#process?.signal("SIGSTOP");
  }

  /** Lets it run again. */
  resume(): void {
    if (this.#paused) this.#process?.signal("SIGCONT");
    this.#paused = false;
  }

  /** Lets everything through again. */
  heal(): void {
    for (const proxy of [this.clients, this.peers]) {
      proxy.mode = "pass";
      proxy.delay = 0;
    }
  }

  /** Ends it with its proxies. */
  async stop(signal: "SIGKILL" | "SIGTERM" = "SIGTERM"): Promise<void> {
    await this.halt(signal);
    await Promise.all([this.clients.close(), this.peers.close()]);
  }
}

/** The cluster. Dispose of it with `await using`. */
export class EtcdCluster implements AsyncDisposable {
  /** Those that are members now. */
  readonly members: Member[] = [];
  readonly #options: ClusterOptions;
  readonly #folder: string;
  #named = 0;

  private constructor(options: ClusterOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
  }

  /** Starts all members and resolves when they serve clients. */
  static async start(options: ClusterOptions): Promise<EtcdCluster> {
    for (let attempt = 1;; attempt++) {
      const cluster = new EtcdCluster(
        options,
        await Deno.makeTempDir({ prefix: "sluice-cluster" }),
      );
      try {
        cluster.#begin();
        await Promise.all(cluster.members.map((member) => member.ready()));
        return cluster;
      } catch (error) {
        const taken = cluster.members.some(({ log }) => /address already in use/i.test(log));
        await cluster.stop();
        if (!taken || attempt === ATTEMPTS) throw error;
      }
    }
  }

  #begin(): void {
    const ports = freePorts(2 * this.#options.members);
    for (let i = 0; i < this.#options.members; i++) {
      this.members.push(
        new Member(
          `m${this.#named++}`,
          this.#folder,
          this.#options,
          [ports[2 * i]!, ports[2 * i + 1]!],
          {
            peers: this.members.map(({ name, peerUrl }) => `${name}=${peerUrl}`),
            state: "new",
          },
        ),
      );
    }
    this.members.forEach((member, i) =>
      member.launch(this.members.slice(i + 1).map(({ name, peerUrl }) => `${name}=${peerUrl}`))
    );
  }

  /** Where clients connect, through the proxies. */
  get endpoints(): string[] {
    return this.members.map(({ clients }) => clients.endpoint);
  }

  /**
   * Adds a member and resolves when the others know it; it starts at once. One that is no learner counts
   * for the quorum from then on.
   */
  async add({ learner = false }: { learner?: boolean } = {}): Promise<Member> {
    const [clients, peers] = freePorts(2);
    const member = new Member(
      `m${this.#named++}`,
      this.#folder,
      this.#options,
      [clients!, peers!],
      {
        peers: this.members.map(({ name, peerUrl }) => `${name}=${peerUrl}`),
        state: "existing",
      },
    );
    try {
      await this.#change((service, timeout) =>
        service.MemberAdd({ peerURLs: [member.peerUrl], isLearner: learner }, { timeout })
      );
    } catch (error) {
      await member.stop();
      throw error;
    }
    member.learner = learner;
    this.members.push(member);
    member.launch();
    return member;
  }

  /** Makes a learner a voter. Rejects while it lags behind. */
  async promote(member: Member): Promise<void> {
    await this.#change(async (service, timeout) =>
      service.MemberPromote({ ID: await idOf(service, member, timeout) }, { timeout })
    );
    member.learner = false;
  }

  /** Removes a member and ends it. */
  async remove(member: Member): Promise<void> {
    await this.#change(async (service, timeout) =>
      service.MemberRemove({ ID: await idOf(service, member, timeout) }, { timeout })
    );
    this.members.splice(this.members.indexOf(member), 1);
    await member.stop("SIGKILL");
  }

  /** Lets every link through and every process run again. Resolves when all serve clients. */
  async heal(): Promise<void> {
    for (const member of this.members) {
      member.heal();
      member.resume();
      if (!member.running) member.launch();
    }
    await Promise.all(this.members.map((member) => member.ready()));
  }

  /** Ends all members in order; their data stay until {@linkcode stop}. */
  async halt(): Promise<void> {
    await Promise.all(this.members.map((member) => member.halt("SIGTERM")));
  }

  /** Ends all members and removes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
    await Deno.remove(this.#folder, { recursive: true }).catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Makes a change by a voter that runs, past all proxies. A cluster refuses changes until all its
   * members have been connected for a while, and a member that lost its leader is silent: for as long it
   * is asked again.
   */
  async #change(
    change: (service: ClusterService, timeout: number) => Promise<unknown>,
  ): Promise<void> {
    const targets = this.members.filter(({ running, learner }) => running && !learner)
      .map(({ direct }) => direct);
    await using conn = grpc.newClient({ targets });
    const service = grpc.newService(conn, CLUSTER, "Cluster") as unknown as ClusterService;
    const end = performance.now() + CHANGE_TIMEOUT;
    for (let attempt = 1;; attempt++) {
      try {
        await change(service, ATTEMPT_TIMEOUT);
        return;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        // An attempt without an answer may have been carried out.
        if (attempt > 1 && DONE.test(error.message)) return;
        if (!NOT_YET.test(error.message) || performance.now() > end) throw error;
        await delay(CHANGE_PAUSE);
      }
    }
  }
}

async function idOf(service: ClusterService, member: Member, timeout: number): Promise<bigint> {
  const { members } = await service.MemberList({}, { timeout });
  const found = members.find(({ peerURLs }) => peerURLs.includes(member.peerUrl));
  if (found === undefined) throw new Error(`${member.name} is no member`);
  return found.ID;
}
