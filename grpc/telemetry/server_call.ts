/**
 * A call on the server as traces, metrics and recorders show it.
 *
 * @module
 */
import type { ConnectError } from "@connectrpc/connect";
import {
  addressAttributes,
  type CallRecorder,
  type Clock,
  type Failure,
  failureOf,
  type Operation,
  type ServerWatch,
  SpanKind,
  splitAuthority,
} from "../../http/engine.ts";
import { code, codeName } from "../wire/code.ts";
import type { Method } from "../wire/method.ts";
import {
  durationOf,
  grpcDurationOf,
  grpcSizeOf,
  methodName,
  OTHER_METHOD,
  statusName,
  systemName,
} from "./names.ts";
import type { RpcTelemetry } from "./options.ts";

const DURATION = durationOf("Duration of incoming calls");
const CALL_DURATION = grpcDurationOf("End-to-end time of a call on the server");
const SENT = grpcSizeOf("Bytes of the responses of a call, as they were sent");
const RECEIVED = grpcSizeOf("Bytes of the requests of a call, as they came");
const STARTED = { description: "Calls begun", unit: "{call}" };

/** Statuses that are the server's fault: what RPC's conventions take for errors of a server. */
const FAULTS: ReadonlySet<number> = new Set([
  code.UNKNOWN,
  code.DEADLINE_EXCEEDED,
  code.UNIMPLEMENTED,
  code.INTERNAL,
  code.UNAVAILABLE,
  code.DATA_LOSS,
]);

/** A call as it came in. */
interface IncomingCall {
  /** Undefined if it is for none that is served. */
  readonly method: Method | undefined;
  /** `grpc`, `grpc-web` or `connect`. */
  readonly protocolName: string;
  readonly fields: readonly string[];
  readonly authority: string;
  /** The client's address. */
  readonly peer: string;
}

/** Bytes of the messages of a call, compressed as they were. */
interface Messages {
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** See the module. */
export class FollowedServerCall {
  readonly #by: RpcTelemetry | null;
  readonly #recorder: CallRecorder | null;
  readonly #clock: Clock;
  readonly #begun: number;
  readonly #protocolName: string;
  readonly #method: string;
  readonly #labels: { readonly [name: string]: string };
  readonly #operation: Operation | null;
  #ended = false;

  constructor(
    by: RpcTelemetry | null,
    recorder: CallRecorder | null,
    clock: Clock,
    call: IncomingCall,
    onPlatform: boolean,
  ) {
    const method = this.#method = call.method === undefined
      ? OTHER_METHOD
      : methodName(call.method.desc);
    this.#by = by;
    this.#recorder = recorder;
    this.#clock = clock;
    this.#begun = clock.now();
    this.#protocolName = call.protocolName;
    this.#labels = { "rpc.system.name": systemName(call.protocolName), "rpc.method": method };
    this.#operation = by === null ? null : this.#follow(by, call, onPlatform);
    recorder?.begun(method);
  }

  #follow(
    { telemetry, grpcMetrics }: RpcTelemetry,
    call: IncomingCall,
    onPlatform: boolean,
  ): Operation {
    const client = splitAuthority(call.peer);
    const parent = onPlatform && telemetry.traced
      ? telemetry.active()
      : telemetry.received(call.fields);
    if (grpcMetrics) {
      telemetry.count("grpc.server.call.started", STARTED, 1, { "grpc.method": this.#grpcMethod });
    }
    return telemetry.begin(
      this.#method === OTHER_METHOD ? this.#labels["rpc.system.name"]! : this.#method,
      SpanKind.SERVER,
      {
        ...this.#labels,
        ...addressAttributes("server", splitAuthority(call.authority)),
        ...addressAttributes("client", client),
        ...addressAttributes("network.peer", client),
      },
      parent,
    );
  }

  get #grpcMethod(): string {
    return this.#method === OTHER_METHOD ? "other" : this.#method;
  }

  /** Runs what belongs to the call. */
  run<T>(body: () => T): T {
    return this.#operation === null ? body() : this.#operation.run(body);
  }

  /**
   * The call is over, with a status and the error behind it if there is one; `messages` tells the bytes
   * of its messages, where that is known. May be called again.
   */
  ended(status: number, error: ConnectError | null, messages: Messages | null = null): void {
    if (this.#ended) return;
    this.#ended = true;
    const ms = this.#clock.now() - this.#begun;
    this.#recorder?.ended(this.#method, ms, status !== code.OK);
    if (this.#by === null) return;
    const { telemetry, grpcMetrics } = this.#by;
    const operation = this.#operation!;
    const name = statusName(this.#protocolName, status);
    const failure: Failure | null = !FAULTS.has(status)
      ? null
      : { ...(error === null ? {} : failureOf(error)), type: name };
    const outcome = {
      "rpc.response.status_code": name,
      ...(failure === null ? {} : { "error.type": name }),
    };
    const seconds = ms / 1000;
    telemetry.record(
      "rpc.server.call.duration",
      DURATION,
      seconds,
      { ...this.#labels, ...outcome },
      operation.context,
    );
    if (grpcMetrics) {
      const labels = { "grpc.method": this.#grpcMethod, "grpc.status": codeName(status) };
      telemetry.record(
        "grpc.server.call.duration",
        CALL_DURATION,
        seconds,
        labels,
        operation.context,
      );
      if (messages !== null) {
        const name = (way: string): string =>
          `grpc.server.call.${way}_total_compressed_message_size`;
        const { sentBytes, receivedBytes } = messages;
        telemetry.record(name("sent"), SENT, sentBytes, labels, operation.context);
        telemetry.record(name("rcvd"), RECEIVED, receivedBytes, labels, operation.context);
      }
    }
    operation.end(outcome, failure);
  }
}

/**
 * Follows a call, unless nobody does. `own` is how the services are shown: null not at all, undefined
 * as their server is.
 */
export function followCall(
  watch: ServerWatch | null,
  own: RpcTelemetry | null | undefined,
  clock: Clock,
  call: IncomingCall,
): FollowedServerCall | null {
  const shared = watch === null || watch.telemetry === null
    ? null
    : { telemetry: watch.telemetry, grpcMetrics: false };
  const by = own === undefined ? shared : own;
  const recorder = watch === null ? null : watch.recorder;
  if (by === null && recorder === null) return null;
  return new FollowedServerCall(by, recorder, clock, call, watch?.onPlatform === true);
}
