import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import {
  advance,
  isAlive,
  type LifeEvent,
  type LifeLimits,
  limitOf,
  OPENING,
  type Phase,
} from "../../../http/h2/lifecycle.ts";

const error = new Error("x");
const EVENTS: readonly LifeEvent[] = [
  { kind: "settings" },
  { kind: "acknowledged" },
  { kind: "goaway" },
  { kind: "announce" },
  { kind: "drain" },
  { kind: "fail", error },
  { kind: "linger", error },
  { kind: "close", error },
];
const LIMITS: LifeLimits = { prefaceTimeout: 1, settingsTimeout: 2, idleTimeout: 3 };

function after(...kinds: LifeEvent["kind"][]): Phase {
  return kinds.reduce<Phase>(
    (phase, kind) => advance(phase, EVENTS.find((event) => event.kind === kind)!),
    OPENING,
  );
}

/** A phase in a word. */
function name(phase: Phase): string {
  return phase.awaits ? `${phase.kind} ${phase.awaits}` : phase.kind;
}

Deno.test("a connection opens, is announced to end, drains, lingers and closes", () => {
  const phases = ["settings", "acknowledged", "announce", "drain", "linger", "close"] as const;
  assertEquals(phases.map((_, i) => name(after(...phases.slice(0, i + 1)))), [
    "opening settings",
    "open",
    "announced",
    "draining",
    "lingering",
    "closed",
  ]);
});

Deno.test("no event leads back: every path ends, and closed is for ever", () => {
  const order = [
    ...["opening preface", "opening settings", "open"],
    ...["finishing preface", "finishing settings", "finishing"],
    ...["announced preface", "announced settings", "announced"],
    ...["draining preface", "draining settings", "draining", "failed", "lingering", "closed"],
  ];
  const seen = new Set<string>();
  const visit = (phase: Phase) => {
    if (seen.has(name(phase))) return;
    seen.add(name(phase));
    for (const event of EVENTS) {
      const next = advance(phase, event);
      assertStrictEquals(advance(next, event), next, `${event.kind} twice in ${name(phase)}`);
      if (next === phase) continue;
      assert(
        order.indexOf(name(next)) > order.indexOf(name(phase)),
        `${name(phase)} to ${name(next)}`,
      );
      visit(next);
    }
  };
  visit(OPENING);
  assertEquals(seen.size, order.length);
});

Deno.test("the peer's GOAWAY ends a connection with its streams, and may be followed by ours", () => {
  assertEquals(name(after("settings", "goaway")), "finishing settings");
  assertEquals(name(after("settings", "acknowledged", "goaway")), "finishing");
  assertEquals(name(after("settings", "acknowledged", "goaway", "announce")), "announced");
  assertEquals(name(after("settings", "acknowledged", "announce", "goaway")), "announced");
  assertEquals(name(after("settings", "acknowledged", "drain", "goaway")), "draining");
});

Deno.test("a failure is not overtaken by a graceful end, and both may linger", () => {
  assertEquals(name(after("fail", "announce", "drain", "settings")), "failed");
  assertEquals(name(after("fail", "linger")), "lingering");
  assertEquals(name(after("settings", "drain", "linger", "fail")), "lingering");
});

Deno.test("each phase has the limit of what it waits for", () => {
  const limit = (phase: Phase, idle = true) => limitOf(phase, idle, LIMITS)?.name ?? "none";
  assertEquals(limit(OPENING), "prefaceTimeout");
  assertEquals(limit(after("settings")), "settingsTimeout");
  assertEquals(limit(after("settings", "acknowledged")), "idleTimeout");
  assertEquals(limit(after("settings", "acknowledged"), false), "none");
  assertEquals(limit(after("settings", "acknowledged", "announce")), "announcement");
  assertEquals(limit(after("settings", "acknowledged", "drain")), "none");
  // A client that gives up before the server said a word still waits for that within its limit.
  assertEquals(limit(after("drain")), "prefaceTimeout");
  assertEquals(limit(after("drain", "settings")), "settingsTimeout");
  assertEquals(limit(after("drain", "settings", "acknowledged")), "none");
  for (const end of ["fail", "linger", "close"] as const) assertEquals(limit(after(end)), "none");
  assertEquals(limitOf(OPENING, true, { ...LIMITS, prefaceTimeout: 0 }), null);
});

Deno.test("what still runs is cut in every phase, where that comes before other limits", () => {
  const phases = [OPENING, after("settings", "acknowledged"), after("announce"), after("drain")];
  for (const phase of [...phases, after("fail"), after("linger")]) {
    assertEquals(limitOf(phase, false, LIMITS, 0.5), { name: "cut", ms: 1 });
    assert(
      limitOf(phase, false, LIMITS, 1e6)?.name !== "cut" || limitOf(phase, false, LIMITS) === null,
    );
  }
  assertEquals(limitOf(after("close"), true, LIMITS, 1), null);
});

Deno.test("frames are exchanged until a connection fails or everything is said", () => {
  assertEquals(
    [OPENING, after("settings"), after("announce"), after("drain")].every(isAlive),
    true,
  );
  assertEquals([after("fail"), after("linger"), after("close")].some(isAlive), false);
});
