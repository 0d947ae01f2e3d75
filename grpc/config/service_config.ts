/**
 * gRPC's service config as users write it: field for field its JSON form.
 * {@link https://github.com/grpc/grpc-proto/blob/master/grpc/service_config/service_config.proto}
 *
 * @module
 */

/**
 * How clients call a service: gRPC's service config, as an object. Durations are text in seconds with
 * an `s` behind, `"0.5s"`; status codes are names in any case, `"UNAVAILABLE"`, or numbers. `null` is
 * as good as not given.
 *
 * @example
 * ```ts
 * import type { ServiceConfig } from "@sluice/sluice/grpc";
 *
 * const serviceConfig: ServiceConfig = {
 *   methodConfig: [{
 *     name: [{ service: "demo.Users", method: "Find" }],
 *     timeout: "2s",
 *     retryPolicy: {
 *       maxAttempts: 4,
 *       initialBackoff: "0.1s",
 *       maxBackoff: "1s",
 *       backoffMultiplier: 2,
 *       retryableStatusCodes: ["UNAVAILABLE"],
 *     },
 *   }],
 *   retryThrottling: { maxTokens: 10, tokenRatio: 0.1 },
 * };
 * ```
 */
export interface ServiceConfig {
  /** Balancing policies, each under its name; the first that is known counts. */
  readonly loadBalancingConfig?: readonly LoadBalancingConfig[] | null;
  /** Name of a balancing policy, of older configs; counts without `loadBalancingConfig` only. */
  readonly loadBalancingPolicy?: string | null;
  /** Settings of methods. The most exact name counts: method, service, all. */
  readonly methodConfig?: readonly MethodConfig[] | null;
  /** Stops retries and hedges while too many calls fail. */
  readonly retryThrottling?: RetryThrottling | null;
  /** Which servers are asked for their health. */
  readonly healthCheckConfig?: HealthCheckConfig | null;
  /** Further connections to one address (gRFC A105). */
  readonly connectionScaling?: ConnectionScaling | null;
}

/** One balancing policy: its name, and its settings under it, such as `{ round_robin: {} }`. */
export interface LoadBalancingConfig {
  /** Settings of the policy with this name. */
  readonly [policy: string]: unknown;
}

/** Which methods settings are for. */
export interface MethodName {
  /** Full name of the service. Without it the settings are for all methods. */
  readonly service?: string | null;
  /** Name of the method. Without it the settings are for all methods of the service. */
  readonly method?: string | null;
}

/** Settings of some methods. */
export interface MethodConfig {
  /** The methods; no name may stand twice in a config. Without names nothing here counts. */
  readonly name?: readonly MethodName[] | null;
  /** Whether calls wait for a connection; the option of a call counts before this. */
  readonly waitForReady?: boolean | null;
  /** Deadline of calls; an earlier one that a call or the client gives counts before this. */
  readonly timeout?: string | null;
  /** Bytes a request may have; a lower `maxSendSize` of the client counts before this. */
  readonly maxRequestMessageBytes?: number | null;
  /** Bytes a response may have; a lower `maxReceiveSize` given to the client counts before this. */
  readonly maxResponseMessageBytes?: number | null;
  /** When failed calls are sent again (gRFC A6). Excludes `hedgingPolicy`. */
  readonly retryPolicy?: RetryPolicy | null;
  /** When calls are sent several times at once (gRFC A6). Excludes `retryPolicy`. */
  readonly hedgingPolicy?: HedgingPolicy | null;
}

/** A status code: its name in any case, or its number. */
export type StatusCodeName = string | number;

/**
 * When failed calls are sent again. The n-th pause is
 * `min(initialBackoff * backoffMultiplier ** (n - 1), maxBackoff)`, give or take a fifth.
 * {@link https://github.com/grpc/proposal/blob/master/A6-client-retries.md}
 */
export interface RetryPolicy {
  /** Attempts at most, the first included; 2 at least. More than the client's limit are that limit. */
  readonly maxAttempts: number;
  /** Pause before the second attempt, above `"0s"`. */
  readonly initialBackoff: string;
  /** Longest pause, above `"0s"`. */
  readonly maxBackoff: string;
  /** Factor by which each further pause is longer; above 0. */
  readonly backoffMultiplier: number;
  /** Codes with which a call is sent again; one at least. */
  readonly retryableStatusCodes: readonly StatusCodeName[];
}

/**
 * When calls are sent several times at once, for methods that may run more than once.
 * {@link https://github.com/grpc/proposal/blob/master/A6-client-retries.md#hedging-policy}
 */
export interface HedgingPolicy {
  /** Attempts at most, the first included; 2 at least. More than the client's limit are that limit. */
  readonly maxAttempts: number;
  /** Pause between two attempts; without it all are sent at once. */
  readonly hedgingDelay?: string | null;
  /** Codes with which the other attempts go on; any other ends the call. */
  readonly nonFatalStatusCodes?: readonly StatusCodeName[] | null;
}

/**
 * Stops retries and hedges while too many calls fail. Each call that fails with a code of its policy
 * takes a token, each that succeeds gives `tokenRatio`; with `maxTokens / 2` or less left nothing is
 * sent again.
 * {@link https://github.com/grpc/proposal/blob/master/A6-client-retries.md#throttling-retry-attempts-and-hedged-rpcs}
 */
export interface RetryThrottling {
  /** Tokens at most, and at first: an integer from 1 to 1000. */
  readonly maxTokens: number;
  /** Tokens a successful call gives, above 0; decimal places beyond the third are left out. */
  readonly tokenRatio: number;
}

/** Which servers are asked for their health (gRFC A17). */
export interface HealthCheckConfig {
  /** Service whose health is asked for, `""` for the server's. Without it none is. */
  readonly serviceName?: string | null;
}

/** Further connections to one address, where the peer's limit of streams is reached (gRFC A105). */
export interface ConnectionScaling {
  /** Connections to one address at most. */
  readonly maxConnectionsPerSubchannel?: number | null;
}
