/**
 * From a service config, as text or an object, to settings.
 * {@link https://github.com/grpc/proposal/blob/master/A21-service-config-error-handling.md}
 *
 * @module
 */
import { ConfigValue, ServiceConfigError } from "./config_value.ts";
import { type LoadBalancing, loadBalancingOf, namedPolicy } from "./load_balancing.ts";
import { type MethodTable, methodTable } from "./method_settings.ts";
import type { ServiceConfig } from "./service_config.ts";

/** A service config, checked. */
export interface ServiceSettings {
  readonly methods: MethodTable;
  readonly throttling: ThrottleSettings | null;
  /** Null: nothing is said. */
  readonly loadBalancing: LoadBalancing | null;
  /** Service whose health is asked for, `""` for the server's; null: none. */
  readonly healthService: string | null;
  /** Connections to one address; null: nothing is said. */
  readonly maxConnections: number | null;
}

/** When nothing is sent again. */
export interface ThrottleSettings {
  readonly maxTokens: number;
  readonly tokenRatio: number;
}

/** Characters of a config as text: it may come from a name server. */
const MAX_TEXT = 1 << 20;

const FIELDS: readonly (keyof ServiceConfig)[] = [
  "loadBalancingConfig",
  "loadBalancingPolicy",
  "methodConfig",
  "retryThrottling",
  "healthCheckConfig",
  "connectionScaling",
];

const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Reads a service config. `ownPolicies` are the names of balancing policies beside those of gRPC.
 *
 * @param strict Whether fields that are not known are refused. gRFC A21 asks to skip them, as configs
 * are written for other clients, too; by default an object is taken to be written for this one.
 *
 * @throws {ServiceConfigError} If it is wrong: then nothing of it counts.
 */
export function parseServiceConfig(
  config: string | ServiceConfig,
  ownPolicies: ReadonlySet<string> = NO_NAMES,
  strict: boolean = typeof config !== "string",
): ServiceSettings {
  const root = new ConfigValue(typeof config === "string" ? fromJson(config) : config, "", strict);
  root.object(FIELDS);
  const policies = root.field("loadBalancingConfig");
  const policy = root.field("loadBalancingPolicy");
  return {
    methods: methodTable(root.field("methodConfig")),
    throttling: throttlingOf(root.field("retryThrottling")),
    loadBalancing: policies.given
      ? loadBalancingOf(policies, ownPolicies)
      : policy.given
      ? namedPolicy(policy, ownPolicies)
      : null,
    healthService: healthServiceOf(root.field("healthCheckConfig")),
    maxConnections: maxConnectionsOf(root.field("connectionScaling")),
  };
}

function fromJson(text: string): unknown {
  if (text.length > MAX_TEXT) {
    throw new ServiceConfigError(
      "",
      `must have ${MAX_TEXT} characters at most: got ${text.length}`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ServiceConfigError("", `must be JSON: ${(cause as Error).message}`, { cause });
  }
  return value;
}

function throttlingOf(throttling: ConfigValue): ThrottleSettings | null {
  if (!throttling.given) return null;
  throttling.object(["maxTokens", "tokenRatio"]);
  const maxTokens = throttling.field("maxTokens").integer(1, 1000);
  const ratio = throttling.field("tokenRatio");
  // "Decimal places beyond 3 are ignored."
  const tokenRatio = Math.floor(Number((ratio.positive() * 1000).toFixed(6))) / 1000;
  if (tokenRatio === 0) throw ratio.wrong("0.001 or more");
  return { maxTokens, tokenRatio };
}

function healthServiceOf(config: ConfigValue): string | null {
  if (!config.given) return null;
  config.object(["serviceName"]);
  const name = config.field("serviceName");
  return name.given ? name.text() : null;
}

function maxConnectionsOf(config: ConfigValue): number | null {
  if (!config.given) return null;
  config.object(["maxConnectionsPerSubchannel"]);
  const count = config.field("maxConnectionsPerSubchannel");
  return count.given ? count.integer(1) : null;
}
