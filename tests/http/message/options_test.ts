import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  checkBoolean,
  checkCallback,
  checkChoice,
  checkCount,
  checkOptions,
  checkSignal,
  checkText,
  checkTime,
  closestName,
  givenOptions,
  optionNames,
} from "../../../http/message/options.ts";
import { HeadersTooLargeError, listen, newClient } from "../../../http/mod.ts";

const NAMES = optionNames<{ timeout?: number; maxIdlePerHost?: number; tls: boolean }>({
  timeout: true,
  maxIdlePerHost: true,
  tls: true,
});

Deno.test("an unknown option is refused with the nearest known one", () => {
  checkOptions("run", NAMES, { timeout: 1, tls: undefined });
  const refused = (given: unknown) =>
    assertThrows(() => checkOptions("run", NAMES, given), TypeError).message;
  assertEquals(
    refused({ timout: 1 }),
    'Cannot run as it has no option "timout": did you mean "timeout"?',
  );
  assertEquals(
    refused({ max_idle_per_host: 1 }),
    'Cannot run as it has no option "max_idle_per_host": did you mean "maxIdlePerHost"?',
  );
  assertEquals(refused({ frobnicate: 1 }), 'Cannot run as it has no option "frobnicate"');
  // Unknown although undefined: a misspelt name is a fault whatever it holds.
  assertEquals(
    refused({ Tsl: undefined }),
    'Cannot run as it has no option "Tsl": did you mean "tls"?',
  );
  for (const given of [null, [], 5, "x", () => {}]) refused(given);
});

Deno.test("names without likeness are not suggested, and long ones cost little", () => {
  assertEquals(closestName("zzz", NAMES), null);
  assertEquals(closestName("x".repeat(1e6), NAMES), null);
});

Deno.test("each kind of value is checked, and the error shows rule and value", () => {
  const cases: [(value: unknown) => void, unknown[], unknown[], string][] = [
    [
      (v) => checkCount("run", "n", v),
      [0, 1, undefined],
      [-1, 0.5, NaN, Infinity, "1", null],
      "an integer >= 0",
    ],
    [(v) => checkCount("run", "n", v, 1, 9), [1, 9], [0, 10, Infinity], "an integer from 1 to 9"],
    [
      (v) => checkCount("run", "n", v, 1, Infinity),
      [1, Infinity],
      [0, -Infinity],
      "an integer >= 1",
    ],
    [
      (v) => checkTime("run", "n", v),
      [0, 0.5, Infinity, undefined],
      [-1, NaN, "5", null],
      "a number >= 0",
    ],
    [
      (v) => checkBoolean("run", "n", v),
      [true, false, undefined],
      [0, "true", null],
      "true or false",
    ],
    [(v) => checkText("run", "n", v), ["", "a", undefined], [0, null, {}], "a string"],
    [(v) => checkCallback("run", "n", v), [() => {}, null, undefined], [0, "f", {}], "a function"],
    [(v) => checkSignal("run", "n", v), [AbortSignal.abort(), undefined], [
      0,
      null,
      {},
      new AbortController(),
    ], "an AbortSignal"],
    [
      (v) => checkChoice("run", "n", v, ["a", "b"]),
      ["a", "b", undefined],
      ["c", null, 0],
      '"a" or "b"',
    ],
  ];
  for (const [check, good, bad, rule] of cases) {
    for (const value of good) check(value);
    for (const value of bad) {
      const { message } = assertThrows(() => check(value), TypeError);
      assertEquals(message.startsWith(`Cannot run as n must be ${rule}`), true, message);
      assertEquals(/: (?:current value is) .+$/.test(message), true, message);
    }
  }
});

Deno.test("what a wrong value holds is not repeated at length, nor what is inside of it", () => {
  const { message } = assertThrows(() => checkCount("run", "n", "s".repeat(10_000)), TypeError);
  assertEquals(message.length < 150, true);
  assertEquals(
    assertThrows(() => checkText("run", "key", { secret: 1 }), TypeError).message,
    "Cannot run as key must be a string: current value is object",
  );
});

Deno.test("options that are undefined leave the defaults they are laid over", () => {
  assertEquals({ a: 1, b: 2, ...givenOptions({ a: undefined, b: 3, c: null }) }, {
    a: 1,
    b: 3,
    c: null,
  });
  assertEquals(givenOptions(undefined), {});
});

Deno.test("undefined options of HTTP/2 leave what limits say", async () => {
  const http2 = { maxHeaderListSize: undefined } as never;
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => stream.closeWrite(),
    limits: { maxHeaderBytes: 1234 },
    http2,
  });
  await using client = newClient({ alpnProtos: ["h2"], http2 });
  const url = `http://${server.addr}/`;
  await client.get(url);
  const error = await assertRejects(
    () => client.get(url, { "x-large": "x".repeat(1234) }),
    HeadersTooLargeError,
  );
  assertEquals(error.limit, 1234);
});
