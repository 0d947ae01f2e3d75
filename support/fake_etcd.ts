/**
 * A server that says what a test wants it to say: for moments a real etcd cannot be brought into.
 *
 * @module
 */
import { grpc } from "@sluice/sluice";
import { schemaFile } from "../kv/schema.ts";
import type { HeaderMessage, WatchCreateMessage, WatchMessage, WatchResult } from "../kv/wire.ts";

/** What a watch stream of the server is. */
export type WatchScript = (
  requests: AsyncIterable<WatchMessage>,
  /** Which stream of the server it is, from 0. */
  stream: number,
  context: grpc.CallContext,
) => AsyncIterable<Partial<WatchResult>>;

/** Handlers of a test; the methods it leaves out answer UNIMPLEMENTED. */
export interface FakeOptions {
  readonly watch?: WatchScript;
  // deno-lint-ignore no-explicit-any
  readonly kv?: Record<string, (request: any, context: grpc.CallContext) => unknown>;
  // deno-lint-ignore no-explicit-any
  readonly lease?: Record<string, (request: any, context: grpc.CallContext) => unknown>;
  // deno-lint-ignore no-explicit-any
  readonly maintenance?: Record<string, (request: any) => unknown>;
}

/** Starts the server on a free port. */
export function fakeEtcd(
  { watch, kv = {}, lease = {}, maintenance = {} }: FakeOptions,
): grpc.GrpcServer {
  const registrar = new grpc.Registrar();
  let streams = 0;
  registrar.register(schemaFile("kv"), "KV", { Range: () => ({ header: header(1n) }), ...kv });
  registrar.register(schemaFile("lease"), "Lease", lease);
  registrar.register(schemaFile("maintenance"), "Maintenance", maintenance);
  if (watch !== undefined) {
    registrar.register(schemaFile("watch"), "Watch", {
      Watch: (requests: AsyncIterable<WatchMessage>, context: grpc.CallContext) =>
        watch(requests, streams++, context),
    });
  }
  return grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
}

/** A response header. */
export function header(revision: bigint, clusterId = 7n): HeaderMessage {
  return { clusterId, memberId: 1n, revision, raftTerm: 2n };
}

/** A put of `key`, made at `modRevision`. */
export function put(key: string, modRevision: bigint): WatchResult["events"][number] {
  const bytes = new TextEncoder().encode(key);
  return {
    type: 0,
    kv: { key: bytes, value: bytes, createRevision: 1n, modRevision, version: 1n, lease: 0n },
  };
}

/** The create requests of a stream, and only those. */
export async function* creates(
  requests: AsyncIterable<WatchMessage>,
): AsyncIterable<WatchCreateMessage> {
  for await (const { requestUnion } of requests) {
    if (requestUnion.case === "createRequest") yield requestUnion.value;
  }
}

/** Waits until the client hangs up. */
export async function drain(requests: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of requests);
}
