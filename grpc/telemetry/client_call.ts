/**
 * A call of a client as traces and metrics show it: one span a call, its attempts as events.
 *
 * @module
 */
import { Code, ConnectError } from "@connectrpc/connect";
import {
  addressAttributes,
  type Clock,
  type Failure,
  failureOf,
  type Operation,
  SpanKind,
  splitAuthority,
  withFields,
} from "../../http/engine.ts";
import type { Attempt, AttemptEvents } from "../wire/attempt.ts";
import { code, codeName } from "../wire/code.ts";
import { appendMetadata } from "../wire/metadata.ts";
import type { Method } from "../wire/method.ts";
import {
  durationOf,
  grpcDurationOf,
  grpcSizeOf,
  methodName,
  statusName,
  systemName,
} from "./names.ts";
import type { RpcTelemetry } from "./options.ts";

const DURATION = durationOf("Duration of outgoing calls");
const CALL_DURATION = grpcDurationOf("End-to-end time of a call, all attempts included");
const ATTEMPT_DURATION = grpcDurationOf("End-to-end time of an attempt");
const SENT = grpcSizeOf("Bytes of the requests of an attempt, as they were sent");
const RECEIVED = grpcSizeOf("Bytes of the responses of an attempt, as they came");
const STARTED = { description: "Attempts begun", unit: "{attempt}" };

/** A client, as far as its calls show it. */
interface FollowedClient {
  /** Clock of the client. */
  readonly clock: Clock;
  /** `grpc`, `grpc-web` or `connect`. */
  readonly protocolName: string;
  /** Host and port of the first target. */
  readonly authority: string;
}

type Attributes = Record<string, string | number>;

/** See the module. */
export class FollowedClientCall {
  readonly #by: RpcTelemetry;
  readonly #client: FollowedClient;
  readonly #begun: number;
  readonly #labels: Attributes;
  readonly #grpcLabels: Attributes;
  readonly #operation: Operation;
  #attempts = 0;
  /** Fields that carry the trace, the same with every attempt. */
  #carried: readonly string[] | null = null;
  /** Attempts that run, where they are measured. */
  readonly #running = new Set<FollowedAttempt>();

  constructor(by: RpcTelemetry, client: FollowedClient, method: Method) {
    const { telemetry } = by;
    const name = methodName(method.desc);
    this.#by = by;
    this.#client = client;
    this.#begun = client.clock.now();
    this.#labels = {
      "rpc.system.name": systemName(client.protocolName),
      "rpc.method": name,
      ...addressAttributes("server", splitAuthority(client.authority)) as Attributes,
    };
    this.#grpcLabels = { "grpc.method": name, "grpc.target": `dns:///${client.authority}` };
    this.#operation = telemetry.begin(name, SpanKind.CLIENT, this.#labels, telemetry.active());
  }

  /**
   * Begins an attempt by `send`, with what carries the trace in its metadata, and follows its events.
   * Null if `send` gives that: nothing was sent.
   */
  attempt<Options extends { readonly headers?: HeadersInit }>(
    events: AttemptEvents,
    options: Options,
    send: (options: Options, events: AttemptEvents) => Attempt | null,
  ): Attempt | null {
    const attempt = new FollowedAttempt(this, events, this.#client.clock.now());
    const begun = send({ ...options, headers: this.#headers(options.headers) }, attempt);
    if (begun === null) return null;
    attempt.carrier = begun;
    if (this.#attempts++ > 0) {
      this.#operation.event("attempt", { "previous-rpc-attempts": this.#attempts - 1 });
    }
    const { telemetry, grpcMetrics } = this.#by;
    if (!grpcMetrics) return begun;
    telemetry.count("grpc.client.attempt.started", STARTED, 1, this.#grpcLabels);
    if (!attempt.over) this.#running.add(attempt);
    return begun;
  }

  /** Metadata with the fields that carry the trace in place of those of the same names. */
  #headers(given: HeadersInit | undefined): HeadersInit {
    const carried = this.#carried ??= this.#operation.carried;
    const own: string[] = [];
    try {
      if (given !== undefined) appendMetadata(own, given);
    } catch {
      // The call fails of it, as it would without a trace.
      return given!;
    }
    const fields = withFields(own, carried);
    const pairs: [string, string][] = [];
    for (let i = 0; i < fields.length; i += 2) pairs.push([fields[i]!, fields[i + 1]!]);
    return pairs;
  }

  /** An attempt is over, with an error unless it is null. */
  attemptEnded(attempt: FollowedAttempt, error: Error | null): void {
    if (!this.#by.grpcMetrics) return;
    this.#running.delete(attempt);
    const { sentBytes, receivedBytes } = attempt.carrier ?? {};
    const labels = this.#measure(
      "grpc.client.attempt.duration",
      ATTEMPT_DURATION,
      attempt.begun,
      error,
    );
    const { telemetry } = this.#by;
    const { context } = this.#operation;
    for (
      const [name, size, options] of [
        ["sent", sentBytes, SENT],
        ["rcvd", receivedBytes, RECEIVED],
      ] as const
    ) {
      if (size === undefined) continue;
      const metric = `grpc.client.attempt.${name}_total_compressed_message_size`;
      telemetry.record(metric, options, size, labels, context);
    }
  }

  /** The call is over, with an error unless it is null. */
  ended(error: Error | null): void {
    // Those whose end nobody waits for.
    for (const attempt of this.#running) this.attemptEnded(attempt, error ?? ABANDONED);
    const { protocolName, clock } = this.#client;
    const status = codeOf(error);
    const failure: Failure | null = error === null ? null : {
      ...failureOf(error),
      ...(status === undefined ? {} : { type: statusName(protocolName, status) }),
    };
    const outcome = {
      ...(status === undefined
        ? {}
        : { "rpc.response.status_code": statusName(protocolName, status) }),
      ...(failure === null ? {} : { "error.type": failure.type }),
    };
    const { telemetry, grpcMetrics } = this.#by;
    const seconds = (clock.now() - this.#begun) / 1000;
    const labels = { ...this.#labels, ...outcome };
    telemetry.record(
      "rpc.client.call.duration",
      DURATION,
      seconds,
      labels,
      this.#operation.context,
    );
    if (grpcMetrics) this.#measure("grpc.client.call.duration", CALL_DURATION, this.#begun, error);
    this.#operation.end(outcome, failure);
  }

  #measure(
    name: string,
    options: ReturnType<typeof durationOf>,
    begun: number,
    error: Error | null,
  ): Attributes {
    const status = codeName(codeOf(error) ?? code.UNKNOWN);
    const seconds = (this.#client.clock.now() - begun) / 1000;
    const labels = { ...this.#grpcLabels, "grpc.status": status };
    this.#by.telemetry.record(name, options, seconds, labels, this.#operation.context);
    return labels;
  }
}

/** Hands the events of an attempt on, and tells when it is over. */
class FollowedAttempt implements AttemptEvents {
  readonly begun: number;
  /** Whether it is over. */
  over = false;
  /** Carries it; null until it has begun. */
  carrier: Attempt | null = null;
  readonly #call: FollowedClientCall;
  readonly #events: AttemptEvents;

  constructor(call: FollowedClientCall, events: AttemptEvents, begun: number) {
    this.#call = call;
    this.#events = events;
    this.begun = begun;
  }

  onHeader(fields: readonly string[]): void {
    this.#events.onHeader(fields);
  }

  onMessage(message: object, size: number): void {
    this.#events.onMessage(message, size);
  }

  onFinished(
    error: ConnectError | null,
    trailers: readonly string[],
    header: readonly string[],
  ): void {
    this.#end(error);
    this.#events.onFinished(error, trailers, header);
  }

  onUnavailable(error: Error): void {
    this.#end(error);
    this.#events.onUnavailable(error);
  }

  onLost(cause: Error, error: ConnectError): void {
    this.#end(error);
    this.#events.onLost(cause, error);
  }

  #end(error: Error | null): void {
    this.over = true;
    this.#call.attemptEnded(this, error);
  }
}

/** The end of an attempt whose call another one answered. */
const ABANDONED = new ConnectError("another attempt was answered", Code.Canceled);

/** The status an error is; none for mistakes of the caller. */
function codeOf(error: Error | null): number | undefined {
  if (error === null) return code.OK;
  return error instanceof ConnectError ? error.code : undefined;
}
