/**
 * Names of RPC for spans and metrics, by OpenTelemetry's conventions and by gRPC's own.
 * {@link https://opentelemetry.io/docs/specs/semconv/rpc/}
 * {@link https://github.com/grpc/proposal/blob/master/A66-otel-stats.md}
 *
 * @module
 */
import { DURATION_BUCKETS } from "../../http/engine.ts";
import { codeName } from "../wire/code.ts";

/** Stands for methods that are not served: anybody may make them up. */
export const OTHER_METHOD = "_OTHER";

/** A histogram of durations by OpenTelemetry's conventions. */
export function durationOf(description: string): {
  description: string;
  unit: string;
  advice: { explicitBucketBoundaries: number[] };
} {
  return { description, unit: "s", advice: { explicitBucketBoundaries: [...DURATION_BUCKETS] } };
}

/** Seconds that bound the buckets of gRPC's own durations. */
const GRPC_BUCKETS: readonly number[] = [
  ...[0, 0.00001, 0.00005, 0.0001, 0.0003, 0.0006, 0.0008, 0.001, 0.002, 0.003, 0.004, 0.005],
  ...[0.006, 0.008, 0.01, 0.013, 0.016, 0.02, 0.025, 0.03, 0.04, 0.05, 0.065, 0.08, 0.1, 0.13],
  ...[0.16, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1, 2, 5, 10, 20, 50, 100],
];

/** A histogram of durations by gRPC's own proposal. */
export function grpcDurationOf(description: string): ReturnType<typeof durationOf> {
  return { description, unit: "s", advice: { explicitBucketBoundaries: [...GRPC_BUCKETS] } };
}

/** A histogram of the bytes of a call's messages, by gRPC's own proposal. */
export function grpcSizeOf(description: string): ReturnType<typeof durationOf> {
  const bounds = [0, ...[10, 11, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32].map((n) => 2 ** n)];
  return { description, unit: "By", advice: { explicitBucketBoundaries: bounds } };
}

/** `rpc.system.name` of a protocol; gRPC-Web is gRPC. */
export function systemName(protocolName: string): string {
  return protocolName === "connect" ? "connectrpc" : "grpc";
}

/** `rpc.response.status_code`: `DEADLINE_EXCEEDED`, or `deadline_exceeded` with Connect; OK alike. */
export function statusName(protocolName: string, code: number): string {
  const name = codeName(code);
  if (protocolName !== "connect" || code === 0) return name;
  return code === 1 ? "canceled" : name.toLowerCase();
}

/** The method as traces know it: `package.Service/Method`. */
export function methodName({ parent, name }: {
  readonly parent: { readonly typeName: string };
  readonly name: string;
}): string {
  return `${parent.typeName}/${name}`;
}
