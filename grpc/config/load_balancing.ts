/**
 * Balancing policies of a service config.
 * {@link https://github.com/grpc/proposal/blob/master/A24-lb-policy-config.md}
 *
 * @module
 */
import type { ConfigValue } from "./config_value.ts";

/** A balancing policy and its settings; durations in milliseconds. */
export type LoadBalancing =
  | { readonly kind: "pick_first"; readonly shuffle: boolean }
  | { readonly kind: "round_robin" }
  | { readonly kind: "least_request"; readonly choices: number }
  | OutlierDetection
  | { readonly kind: "own"; readonly name: string; readonly settings: unknown };

/**
 * Keeps endpoints that fail more than others from calls.
 * {@link https://github.com/grpc/proposal/blob/master/A50-xds-outlier-detection.md}
 */
interface OutlierDetection {
  readonly kind: "outlier_detection";
  /** Milliseconds between two looks at the counts. */
  readonly interval: number;
  /** Milliseconds of the first ejection; the n-th takes n times that. */
  readonly baseEjectionTime: number;
  /** Milliseconds of an ejection at most; never below `baseEjectionTime`. */
  readonly maxEjectionTime: number;
  /** Share of the endpoints that may be ejected, in percent. */
  readonly maxEjectionPercent: number;
  readonly successRate: SuccessRateEjection | null;
  readonly failurePercentage: FailurePercentageEjection | null;
  /** Policy that chooses among the others. */
  readonly child: LoadBalancing;
}

/** Ejects endpoints whose share of successes is far below the mean. */
interface SuccessRateEjection {
  /** Thousandths of standard deviations below the mean. */
  readonly stdevFactor: number;
  readonly enforcementPercentage: number;
  readonly minimumHosts: number;
  readonly requestVolume: number;
}

/** Ejects endpoints whose share of failures is above a threshold. */
interface FailurePercentageEjection {
  /** Percent. */
  readonly threshold: number;
  readonly enforcementPercentage: number;
  readonly minimumHosts: number;
  readonly requestVolume: number;
}

/** Policies inside policies. */
const MAX_DEPTH = 8;

/** Endpoints that `least_request` compares at most. */
const MAX_CHOICES = 10;

const MAX_UINT32 = 0xffff_ffff;

const OUTLIER_FIELDS = [
  "interval",
  "baseEjectionTime",
  "maxEjectionTime",
  "maxEjectionPercent",
  "successRateEjection",
  "failurePercentageEjection",
  "childPolicy",
];

type Read = (settings: ConfigValue, own: ReadonlySet<string>, depth: number) => LoadBalancing;

/** Policies by their names in configs. */
const POLICIES: ReadonlyMap<string, Read> = new Map<string, Read>([
  ["pick_first", pickFirst],
  ["round_robin", roundRobin],
  ["least_request_experimental", leastRequest],
  ["least_request", leastRequest],
  ["outlier_detection_experimental", outlierDetection],
  ["outlier_detection", outlierDetection],
]);

/**
 * Reads a list of policies: the first that is known counts. `own` are names of policies beside those
 * of gRPC.
 *
 * @throws {ServiceConfigError} If none is known, or the first that is has wrong settings.
 */
export function loadBalancingOf(
  list: ConfigValue,
  own: ReadonlySet<string>,
  depth = 0,
): LoadBalancing {
  if (depth === MAX_DEPTH) throw list.fault(`must not nest policies more than ${MAX_DEPTH} deep`);
  const seen: string[] = [];
  for (const entry of list.items()) {
    const [name, ...others] = entry.names();
    if (name === undefined || others.length > 0) {
      throw entry.fault("must have one field: the name of a policy, and its settings");
    }
    const settings = entry.field(name);
    if (own.has(name)) return { kind: "own", name, settings: settings.raw };
    const read = POLICIES.get(name);
    if (read !== undefined) {
      if (!settings.given) throw settings.wrong("an object with the policy's settings");
      return read(settings, own, depth);
    }
    seen.push(name);
  }
  throw list.fault(
    seen.length === 0
      ? 'must name a policy, such as { "round_robin": {} }'
      : `has no policy that is known: it names ${seen.slice(0, 5).join(", ")}; known are ${
        knownNames(own)
      }`,
  );
}

/** The policy of `loadBalancingPolicy`: a name in any case. */
export function namedPolicy(name: ConfigValue, own: ReadonlySet<string>): LoadBalancing {
  const text = name.text();
  if (own.has(text)) return { kind: "own", name: text, settings: undefined };
  const lower = text.toLowerCase();
  if (lower === "round_robin") return { kind: "round_robin" };
  if (lower === "pick_first") return { kind: "pick_first", shuffle: false };
  throw name.wrong('"round_robin" or "pick_first"');
}

function knownNames(own: ReadonlySet<string>): string {
  return ["pick_first", "round_robin", "least_request", "outlier_detection", ...own].join(", ");
}

function pickFirst(settings: ConfigValue): LoadBalancing {
  settings.object(["shuffleAddressList"]);
  return { kind: "pick_first", shuffle: settings.field("shuffleAddressList").boolean() ?? false };
}

function roundRobin(settings: ConfigValue): LoadBalancing {
  settings.object([]);
  return { kind: "round_robin" };
}

function leastRequest(settings: ConfigValue): LoadBalancing {
  settings.object(["choiceCount"]);
  const count = settings.field("choiceCount");
  // "If choice_count < 2, the config will be rejected", beyond 10 it is 10 (gRFC A48).
  const choices = count.given ? count.integer(2, MAX_UINT32) : 2;
  return { kind: "least_request", choices: Math.min(choices, MAX_CHOICES) };
}

function outlierDetection(
  settings: ConfigValue,
  own: ReadonlySet<string>,
  depth: number,
): LoadBalancing {
  settings.object(OUTLIER_FIELDS);
  const time = (name: string, otherwise: number): number => {
    const field = settings.field(name);
    return field.given ? field.duration(false) : otherwise;
  };
  const baseEjectionTime = time("baseEjectionTime", 30_000);
  const child = settings.field("childPolicy");
  return {
    kind: "outlier_detection",
    interval: time("interval", 10_000),
    baseEjectionTime,
    maxEjectionTime: Math.max(baseEjectionTime, time("maxEjectionTime", 300_000)),
    maxEjectionPercent: numberOf(settings, "maxEjectionPercent", 10, 100),
    successRate: successRateOf(settings.field("successRateEjection")),
    failurePercentage: failurePercentageOf(settings.field("failurePercentageEjection")),
    child: child.given ? loadBalancingOf(child, own, depth + 1) : { kind: "round_robin" },
  };
}

function successRateOf(settings: ConfigValue): SuccessRateEjection | null {
  if (!settings.given) return null;
  settings.object(["stdevFactor", "enforcementPercentage", "minimumHosts", "requestVolume"]);
  return {
    stdevFactor: numberOf(settings, "stdevFactor", 1900),
    enforcementPercentage: numberOf(settings, "enforcementPercentage", 100, 100),
    minimumHosts: numberOf(settings, "minimumHosts", 5),
    requestVolume: numberOf(settings, "requestVolume", 100),
  };
}

function failurePercentageOf(settings: ConfigValue): FailurePercentageEjection | null {
  if (!settings.given) return null;
  settings.object(["threshold", "enforcementPercentage", "minimumHosts", "requestVolume"]);
  return {
    threshold: numberOf(settings, "threshold", 85, 100),
    enforcementPercentage: numberOf(settings, "enforcementPercentage", 100, 100),
    minimumHosts: numberOf(settings, "minimumHosts", 5),
    requestVolume: numberOf(settings, "requestVolume", 50),
  };
}

function numberOf(
  settings: ConfigValue,
  name: string,
  otherwise: number,
  most: number = MAX_UINT32,
): number {
  const field = settings.field(name);
  return field.given ? field.integer(0, most) : otherwise;
}
