/**
 * The option `telemetry` of servers and clients.
 *
 * @module
 */
import {
  checkBoolean,
  checkTelemetry,
  optionNames,
  type Telemetry,
  telemetryOf,
  type TelemetryOptions,
} from "../../http/engine.ts";

/** Makers of spans and measurements of calls, and the names of these. */
export interface RpcTelemetryOptions extends TelemetryOptions {
  /**
   * Measure under gRPC's own names too (A66): `started` and `duration` of `grpc.client.attempt` and
   * `grpc.server.call`, both with `sent_total_compressed_message_size` and
   * `rcvd_total_compressed_message_size` where the protocol is gRPC itself, and
   * `grpc.client.call.duration`.
   * {@link https://github.com/grpc/proposal/blob/master/A66-otel-stats.md}
   *
   * @default {false}
   */
  readonly grpcMetrics?: boolean;
}

const NAMES = optionNames<RpcTelemetryOptions>({ tracer: true, meter: true, grpcMetrics: true });

/** How calls are shown. */
export interface RpcTelemetry {
  readonly telemetry: Telemetry;
  /** Whether gRPC's own metrics are made. */
  readonly grpcMetrics: boolean;
}

/**
 * Checks the option `telemetry`, if it is given.
 *
 * @throws {TypeError} If it cannot be used.
 */
export function checkRpcTelemetry(what: string, option: unknown): void {
  checkTelemetry(what, option, NAMES);
  if (typeof option !== "object" || option === null) return;
  checkBoolean(what, "telemetry.grpcMetrics", (option as RpcTelemetryOptions).grpcMetrics);
}

/** How calls are shown by that option, which has been checked; null: not at all. */
export function rpcTelemetryOf(
  what: string,
  option: boolean | RpcTelemetryOptions | undefined,
): RpcTelemetry | null {
  const telemetry = telemetryOf(what, httpTelemetry(option));
  if (telemetry === null) return null;
  return { telemetry, grpcMetrics: typeof option === "object" && option.grpcMetrics === true };
}

/** The option without what HTTP does not know. */
export function httpTelemetry(
  option: boolean | RpcTelemetryOptions | undefined,
): boolean | TelemetryOptions | undefined {
  if (typeof option !== "object") return option;
  const { grpcMetrics: _, ...options } = option;
  return options;
}
