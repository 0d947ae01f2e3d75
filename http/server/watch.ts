/**
 * Those who follow the exchanges of a server: a trace, metrics, a page that shows it at work. A server
 * that nobody follows has none, and looks once a request.
 *
 * @module
 */
import type { Telemetry } from "../telemetry/telemetry.ts";

/** Counts calls by name while somebody looks. */
export interface CallRecorder {
  /** A call begins. The name is one of few: a method of a service, or of HTTP. */
  begun(name: string): void;
  /** It is over, `ms` milliseconds later. */
  ended(name: string, ms: number, failed: boolean): void;
}

/** Followers of a server. */
export interface ServerWatch {
  readonly telemetry: Telemetry | null;
  readonly recorder: CallRecorder | null;
  /** Whether the platform serves, which may show requests itself: then the active span is its. */
  readonly onPlatform: boolean;
}

/** Told of the end of one exchange. */
export interface ExchangeFollower {
  /** The handler failed: its answer tells only that. */
  failed(error: unknown): void;
  /** The response is complete, with a status; or `reason` says why it never will be. Called once. */
  over(status: number, reason: unknown): void;
}

/** A server's followers; null: nobody follows it. */
export function watchOf(
  telemetry: Telemetry | null,
  recorder: CallRecorder | null,
  onPlatform: boolean,
): ServerWatch | null {
  return telemetry === null && recorder === null ? null : { telemetry, recorder, onPlatform };
}
