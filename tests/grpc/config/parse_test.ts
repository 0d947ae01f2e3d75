// deno-lint-ignore-file camelcase -- names of gRPC
import { assert, assertEquals, assertThrows } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { settingsFor } from "../../../grpc/config/method_settings.ts";
import { parseServiceConfig } from "../../../grpc/config/parse.ts";

/** The error of a config, given as an object and as text. */
function faultOf(config: unknown): grpc.ServiceConfigError {
  const asText = assertThrows(
    () => parseServiceConfig(JSON.stringify(config)),
    grpc.ServiceConfigError,
  );
  const asObject = assertThrows(
    () => parseServiceConfig(config as grpc.ServiceConfig),
    grpc.ServiceConfigError,
  );
  assertEquals(asText.message, asObject.message);
  assert(asText instanceof TypeError);
  return asText;
}

const RETRY = {
  maxAttempts: 3,
  initialBackoff: "0.1s",
  maxBackoff: "1s",
  backoffMultiplier: 2,
  retryableStatusCodes: ["UNAVAILABLE"],
};

const HEDGING = {
  maxAttempts: 4,
  hedgingDelay: "0.5s",
  nonFatalStatusCodes: ["UNAVAILABLE", "INTERNAL", "ABORTED"],
};

const methodWith = (settings: object) => ({ methodConfig: [{ name: [{}], ...settings }] });

/** What a config with these settings says of a method. */
function settings(config: object): ReturnType<typeof settingsFor> {
  return settingsFor(parseServiceConfig(JSON.stringify(methodWith(config))).methods, "/s/m");
}

Deno.test("a service config that says nothing is one", () => {
  for (const config of ["{}", {}, '{"methodConfig":null}', '{"methodConfig":[]}'] as const) {
    const { methods, ...rest } = parseServiceConfig(config as string);
    assertEquals(methods.size, 0);
    assertEquals(rest, {
      throttling: null,
      loadBalancing: null,
      healthService: null,
      maxConnections: null,
    });
  }
});

Deno.test("settings of a method are read as gRPC's JSON says", () => {
  assertEquals(
    settings({
      waitForReady: true,
      timeout: "1.000000001s",
      maxRequestMessageBytes: 0,
      maxResponseMessageBytes: 4294967296,
      retryPolicy: { ...RETRY, retryableStatusCodes: ["unavailable", 10, "Data_Loss", 14] },
    }),
    {
      waitForReady: true,
      timeout: 1000.000001,
      maxRequestSize: 0,
      maxResponseSize: 4294967296,
      policy: {
        kind: "retry",
        maxAttempts: 3,
        initialBackoff: 100,
        maxBackoff: 1000,
        backoffMultiplier: 2,
        codes: new Set([14, 10, 15]),
      },
    },
  );
  assertEquals(settings({ hedgingPolicy: HEDGING })!.policy, {
    kind: "hedging",
    maxAttempts: 4,
    delay: 500,
    codes: new Set([14, 13, 10]),
  });
  assertEquals(settings({ hedgingPolicy: { maxAttempts: 2 } })!.policy, {
    kind: "hedging",
    maxAttempts: 2,
    delay: 0,
    codes: new Set<number>(),
  });
});

Deno.test("the most exact name counts: method, service, all", () => {
  const { methods } = parseServiceConfig({
    methodConfig: [
      { name: [{}], timeout: "1s" },
      { name: [{ service: "a.S" }, { service: "a.T", method: "" }], timeout: "2s" },
      { name: [{ service: "a.S", method: "M" }], waitForReady: false },
      { timeout: "9s" },
      { name: [], timeout: "9s" },
    ],
  });
  const timeout = (path: string) => settingsFor(methods, path)?.timeout;
  assertEquals(timeout("/a.S/M"), Infinity, "nothing is taken over from a less exact one");
  assertEquals(timeout("/a.S/m"), 2000);
  assertEquals(timeout("/a.T/M"), 2000);
  assertEquals(timeout("/b.S/M"), 1000);
  const named = parseServiceConfig({ methodConfig: [{ name: [{ service: "a.S" }] }] }).methods;
  assertEquals(settingsFor(named, "/a.SS/M"), null);
});

Deno.test("fields that are not known: skipped in text, refused in objects", () => {
  const config = {
    unknown: 1,
    methodConfig: [{ name: [{ service: "s", x: 1 }], y: {}, retryPolicy: { ...RETRY, z: 1 } }],
    retryThrottling: { maxTokens: 10, tokenRatio: 0.1, comment: "" },
  };
  assertEquals(parseServiceConfig(JSON.stringify(config)).methods.size, 1);
  const refused: [object, string][] = [
    [config, 'it has no field "unknown"'],
    [{ method_config: [] }, 'it has no field "method_config": did you mean "methodConfig"?'],
    [
      methodWith({ retryPolicy: { ...RETRY, maxAttempt: 2 } }),
      'methodConfig[0].retryPolicy has no field "maxAttempt": did you mean "maxAttempts"?',
    ],
    [{ frobnicate: undefined }, 'it has no field "frobnicate"'],
    [{ "x y": 1 }, 'it has no field "x y"'],
  ];
  for (const [given, message] of refused) {
    assertThrows(
      () => parseServiceConfig(given),
      grpc.ServiceConfigError,
      `Cannot use service config as ${message}`,
    );
  }
  // Undefined is as if it were not there, but must be known.
  assertEquals(parseServiceConfig(methodWith({ timeout: undefined })).methods.size, 1);
  // Names that objects have of their own accord are none of a config's.
  assertEquals(parseServiceConfig('{"__proto__":{"methodConfig":3},"toString":1}').methods.size, 0);
});

/** Wrong configs: where, and what has to stand there. */
const FAULTS: readonly [config: unknown, path: string, problem: string][] = [
  [[], "", "it must be an object: current value is an array"],
  ["text", "", "it must be an object"],
  [{ methodConfig: {} }, "methodConfig", "must be an array: current value is object"],
  [{ methodConfig: [1] }, "methodConfig[0]", "must be an object: current value is 1"],
  [{ methodConfig: [null] }, "methodConfig[0]", "must be given: an object"],
  [methodWith({ name: {} }), "methodConfig[0].name", "must be an array"],
  [methodWith({ name: [{ service: 1 }] }), "methodConfig[0].name[0].service", "must be a string"],
  [methodWith({ name: [{ method: "M" }] }), "methodConfig[0].name[0]", "must name the service"],
  [methodWith({ name: [{}, {}] }), "methodConfig[0].name[1]", "stands twice: the default of all"],
  [
    { methodConfig: [{ name: [{ service: "s" }] }, { name: [{ service: "s", method: null }] }] },
    "methodConfig[1].name[0]",
    "stands twice: /s/ has settings already",
  ],
  [methodWith({ waitForReady: "yes" }), "methodConfig[0].waitForReady", "must be true or false"],
  [methodWith({ waitForReady: 1 }), "methodConfig[0].waitForReady", "must be true or false"],
  [methodWith({ maxRequestMessageBytes: -1 }), "methodConfig[0].maxRequestMessageBytes", ">= 0"],
  [methodWith({ maxResponseMessageBytes: 1.5 }), "methodConfig[0].maxResponseMessageBytes", ">= 0"],
  [methodWith({ maxResponseMessageBytes: "1" }), "methodConfig[0].maxResponseMessageBytes", '"1"'],
  [methodWith({ retryPolicy: 1 }), "methodConfig[0].retryPolicy", "must be an object"],
  [
    methodWith({ retryPolicy: RETRY, hedgingPolicy: HEDGING }),
    "methodConfig[0]",
    "must have retryPolicy or hedgingPolicy, not both",
  ],
  ...["1", "s", ".s", "1m", "-1s", "1e3s", " 1s", "1.0000000001s", "1..s", "0x1s", 1, {}].map(
    (timeout): [unknown, string, string] => [
      methodWith({ timeout }),
      "methodConfig[0].timeout",
      'must be a duration in seconds of at least 0, such as "1.5s"',
    ],
  ),
  [methodWith({ timeout: "315576000001s" }), "methodConfig[0].timeout", "must be a duration"],
  ...["maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes"]
    .map((name): [unknown, string, string] => [
      methodWith({ retryPolicy: { ...RETRY, [name]: undefined } }),
      `methodConfig[0].retryPolicy.${name}`,
      "must be given",
    ]),
  ...Object.entries({
    maxAttempts: [1, 0, -3, 2.5, "3", true],
    initialBackoff: ["0s", "-1s", 100],
    maxBackoff: ["0s", "0.000s", "x"],
    backoffMultiplier: [0, -1, "2"],
    retryableStatusCodes: [[], "UNAVAILABLE", {}],
  }).flatMap(([name, values]) =>
    values.map((value): [unknown, string, string] => [
      methodWith({ retryPolicy: { ...RETRY, [name]: value } }),
      `methodConfig[0].retryPolicy.${name}`,
      "must be",
    ])
  ),
  ...[17, -1, 1.5, "NOPE", "14", "", null, {}].map((code): [unknown, string, string] => [
    methodWith({ retryPolicy: { ...RETRY, retryableStatusCodes: [14, code] } }),
    "methodConfig[0].retryPolicy.retryableStatusCodes[1]",
    "a status code",
  ]),
  [
    methodWith({ retryPolicy: { ...RETRY, retryableStatusCodes: ["UNAVAILABEL"] } }),
    "methodConfig[0].retryPolicy.retryableStatusCodes[0]",
    'perhaps "UNAVAILABLE": current value is "UNAVAILABEL"',
  ],
  [methodWith({ hedgingPolicy: {} }), "methodConfig[0].hedgingPolicy.maxAttempts", "must be given"],
  ...Object.entries({ maxAttempts: [1], hedgingDelay: ["1", "-1s"], nonFatalStatusCodes: [14] })
    .flatMap(([name, values]) =>
      values.map((value): [unknown, string, string] => [
        methodWith({ hedgingPolicy: { ...HEDGING, [name]: value } }),
        `methodConfig[0].hedgingPolicy.${name}`,
        "must be",
      ])
    ),
  [{ retryThrottling: { maxTokens: 1 } }, "retryThrottling.tokenRatio", "must be given"],
  [{ retryThrottling: { tokenRatio: 1 } }, "retryThrottling.maxTokens", "must be given"],
  ...[0, -1, 1001, 1.5, "10"].map((maxTokens): [unknown, string, string] => [
    { retryThrottling: { maxTokens, tokenRatio: 1 } },
    "retryThrottling.maxTokens",
    "must be an integer from 1 to 1000",
  ]),
  ...[0, -0.1, "1", 0.0009].map((tokenRatio): [unknown, string, string] => [
    { retryThrottling: { maxTokens: 1, tokenRatio } },
    "retryThrottling.tokenRatio",
    "must be",
  ]),
  [{ healthCheckConfig: { serviceName: 1 } }, "healthCheckConfig.serviceName", "must be a string"],
  [
    { connectionScaling: { maxConnectionsPerSubchannel: 0 } },
    "connectionScaling.maxConnectionsPerSubchannel",
    "must be an integer >= 1",
  ],
  [{ loadBalancingPolicy: "nope" }, "loadBalancingPolicy", '"round_robin" or "pick_first"'],
  [{ loadBalancingConfig: {} }, "loadBalancingConfig", "must be an array"],
  [{ loadBalancingConfig: [] }, "loadBalancingConfig", "must name a policy"],
  [{ loadBalancingConfig: [{}] }, "loadBalancingConfig[0]", "must have one field"],
  [{ loadBalancingConfig: ["x"] }, "loadBalancingConfig[0]", "must be an object"],
  [
    { loadBalancingConfig: [{ pick_first: {}, round_robin: {} }] },
    "loadBalancingConfig[0]",
    "must have one field",
  ],
  [{ loadBalancingConfig: [{ a: {} }, { b: {} }] }, "loadBalancingConfig", "it names a, b; known"],
  [{ loadBalancingConfig: [{ round_robin: 1 }] }, "loadBalancingConfig[0].round_robin", "object"],
  [
    { loadBalancingConfig: [{ pick_first: { shuffleAddressList: 1 } }] },
    "loadBalancingConfig[0].pick_first.shuffleAddressList",
    "must be true or false",
  ],
  [
    { loadBalancingConfig: [{ least_request_experimental: { choiceCount: 1 } }] },
    "loadBalancingConfig[0].least_request_experimental.choiceCount",
    "must be an integer from 2",
  ],
  ...["interval", "baseEjectionTime", "maxEjectionTime"].map((name): [unknown, string, string] => [
    { loadBalancingConfig: [{ outlier_detection_experimental: { [name]: "-1s" } }] },
    `loadBalancingConfig[0].outlier_detection_experimental.${name}`,
    "of at least 0",
  ]),
  [
    { loadBalancingConfig: [{ outlier_detection: { maxEjectionPercent: 101 } }] },
    "loadBalancingConfig[0].outlier_detection.maxEjectionPercent",
    "from 0 to 100",
  ],
  [
    { loadBalancingConfig: [{ outlier_detection: { childPolicy: [{ x: {} }] } }] },
    "loadBalancingConfig[0].outlier_detection.childPolicy",
    "it names x",
  ],
];

Deno.test("a wrong config is refused by a typed error that names the place and the rule", () => {
  for (const [config, path, problem] of FAULTS) {
    // A text that is a JSON text is no object either.
    const error = typeof config === "string"
      ? assertThrows(() => parseServiceConfig(JSON.stringify(config)), grpc.ServiceConfigError)
      : faultOf(config);
    assertEquals(error.path, path, JSON.stringify(config));
    assertEquals(error.name, "ServiceConfigError");
    assert(error.message.startsWith(`Cannot use service config as ${path}`), error.message);
    assert(error.message.includes(problem), `${JSON.stringify(config)}: ${error.message}`);
  }
});

Deno.test("numbers that JSON has no form for are refused in objects", () => {
  for (const value of [NaN, Infinity]) {
    for (
      const config of [
        methodWith({ maxRequestMessageBytes: value }),
        methodWith({ retryPolicy: { ...RETRY, maxAttempts: value } }),
        methodWith({ retryPolicy: { ...RETRY, backoffMultiplier: value } }),
        { retryThrottling: { maxTokens: value, tokenRatio: 1 } },
        { retryThrottling: { maxTokens: 1, tokenRatio: value } },
      ]
    ) assertThrows(() => parseServiceConfig(config), grpc.ServiceConfigError);
  }
});

Deno.test("text that is no JSON, or too long, is refused", () => {
  for (const text of ["", "{", "nope", '{"methodConfig": [}']) {
    assertThrows(
      () => parseServiceConfig(text),
      grpc.ServiceConfigError,
      "Cannot use service config as it must be JSON",
    );
  }
  assertThrows(
    () => parseServiceConfig(`{}${" ".repeat(1 << 20)}`),
    grpc.ServiceConfigError,
    "must have 1048576 characters at most: got 1048578",
  );
  const deep = `${'{"x":['.repeat(10_000)}1${"]}".repeat(10_000)}`;
  assertEquals(parseServiceConfig(deep).methods.size, 0);
});

Deno.test("the number of tokens is counted in thousandths", () => {
  for (const [given, read] of [[0.5466, 0.546], [0.1, 0.1], [0.001, 0.001], [0.29, 0.29], [2, 2]]) {
    const { throttling } = parseServiceConfig({
      retryThrottling: { maxTokens: 10, tokenRatio: given! },
    });
    assertEquals(throttling, { maxTokens: 10, tokenRatio: read! });
  }
});

Deno.test("the first balancing policy that is known counts, with gRPC's defaults", () => {
  const read = (config: grpc.ServiceConfig, own?: string[]) =>
    parseServiceConfig(config, new Set(own)).loadBalancing;
  assertEquals(read({ loadBalancingConfig: [{ x: {} }, { pick_first: {} }, { y: 1 }] }), {
    kind: "pick_first",
    shuffle: false,
  });
  assertEquals(read({ loadBalancingConfig: [{ pick_first: { shuffleAddressList: true } }] }), {
    kind: "pick_first",
    shuffle: true,
  });
  assertEquals(read({ loadBalancingConfig: [{ round_robin: {} }] }), { kind: "round_robin" });
  for (const [choiceCount, choices] of [[null, 2], [3, 3], [10, 10], [4294967295, 10]] as const) {
    const policy = { least_request_experimental: { choiceCount } };
    assertEquals(read({ loadBalancingConfig: [policy] }), { kind: "least_request", choices });
  }
  assertEquals(read({ loadBalancingConfig: [{ mine: { a: 1 } }] }, ["mine"]), {
    kind: "own",
    name: "mine",
    settings: { a: 1 },
  });
  for (const loadBalancingPolicy of ["round_robin", "ROUND_ROBIN"]) {
    assertEquals(read({ loadBalancingPolicy }), { kind: "round_robin" });
  }
  assertEquals(
    read({ loadBalancingPolicy: "nope", loadBalancingConfig: [{ pick_first: {} }] })?.kind,
    "pick_first",
  );
  const outliers = {
    kind: "outlier_detection",
    interval: 10_000,
    baseEjectionTime: 30_000,
    maxEjectionTime: 300_000,
    maxEjectionPercent: 10,
    successRate: null,
    failurePercentage: null,
    child: { kind: "round_robin" },
  };
  assertEquals(
    read({ loadBalancingConfig: [{ outlier_detection_experimental: {} }] }) as object,
    outliers,
  );
  assertEquals(
    read({
      loadBalancingConfig: [{
        outlier_detection_experimental: {
          interval: "1s",
          baseEjectionTime: "400s",
          maxEjectionPercent: 50,
          successRateEjection: { stdevFactor: 1000 },
          failurePercentageEjection: { threshold: 40, requestVolume: 5 },
          childPolicy: [{ nope: {} }, { least_request: {} }],
        },
      }],
    }) as object,
    {
      ...outliers,
      interval: 1000,
      baseEjectionTime: 400_000,
      maxEjectionTime: 400_000,
      maxEjectionPercent: 50,
      successRate: {
        stdevFactor: 1000,
        enforcementPercentage: 100,
        minimumHosts: 5,
        requestVolume: 100,
      },
      failurePercentage: {
        threshold: 40,
        enforcementPercentage: 100,
        minimumHosts: 5,
        requestVolume: 5,
      },
      child: { kind: "least_request", choices: 2 },
    },
  );
});

Deno.test("policies inside policies have a depth", () => {
  let policy: object = { round_robin: {} };
  for (let i = 0; i < 9; i++) policy = { outlier_detection: { childPolicy: [policy] } };
  assertThrows(
    () => parseServiceConfig({ loadBalancingConfig: [policy] } as grpc.ServiceConfig),
    grpc.ServiceConfigError,
    "must not nest policies more than 8 deep",
  );
});

Deno.test("health and connections are read", () => {
  const health = (healthCheckConfig: object | null) =>
    parseServiceConfig({ healthCheckConfig }).healthService;
  assertEquals(health({ serviceName: "a.S" }), "a.S");
  assertEquals(health({ serviceName: "" }), "");
  assertEquals(health({}), null);
  assertEquals(health(null), null);
  const scaling = { connectionScaling: { maxConnectionsPerSubchannel: 3 } };
  assertEquals(parseServiceConfig(scaling).maxConnections, 3);
  assertEquals(parseServiceConfig({ connectionScaling: {} }).maxConnections, null);
});
