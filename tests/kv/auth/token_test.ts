import { assertEquals, assertRejects } from "@std/assert";
import { TokenKeeper } from "../../../kv/auth/token.ts";

const INVALID = "INVALID_AUTH_TOKEN";

/** Time that stands until a test moves it. */
class StillClock {
  time = 0;
  now = (): number => this.time;
  sleep = (): Promise<void> => Promise.reject(new Error("nobody sleeps here"));
}

/** A JSON web token that ends in so many seconds; its signature names it. */
function jwt(seconds: number, name: string): string {
  const part = (value: unknown) => btoa(JSON.stringify(value)).replace(/=/g, "");
  return [
    part({ alg: "RS256" }),
    part({ username: "root", exp: Date.now() / 1_000 + seconds }),
    name,
  ].join(".");
}

/** A keeper of tokens that the test gives, one a login. */
function keeping(...tokens: (string | undefined | Error)[]) {
  const clock = new StillClock();
  let logins = 0;
  const keeper = new TokenKeeper(() => {
    const token = tokens[logins++];
    return token instanceof Error ? Promise.reject(token) : Promise.resolve(token);
  }, clock);
  return { clock, keeper, logins: () => logins };
}

Deno.test("one login serves all who wait, and all who come later", async () => {
  const { keeper, logins } = keeping("simple.1");
  assertEquals(await Promise.all([keeper.token(), keeper.token(), keeper.token()]), [
    "simple.1",
    "simple.1",
    "simple.1",
  ]);
  assertEquals(keeper.token(), "simple.1");
  assertEquals(logins(), 1);
});

Deno.test("a token that was refused is replaced once, whoever else was refused with it", async () => {
  const { keeper, logins } = keeping("a.1", "b.2");
  await keeper.token();
  assertEquals(await keeper.refused("a.1", INVALID), true);
  const next = keeper.token();
  assertEquals(await keeper.refused("a.1", INVALID), true);
  assertEquals(await next, "b.2");
  assertEquals(await keeper.refused("a.1", INVALID), true);
  assertEquals([keeper.token(), logins()], ["b.2", 2]);
});

Deno.test("a token that tells its end is renewed behind the back of calls before it", async () => {
  const [first, second] = [jwt(100, "first"), jwt(100, "second")];
  const { keeper, clock, logins } = keeping(first, second);
  await keeper.token();
  clock.time = 79_000;
  assertEquals([keeper.token(), logins()], [first, 1]);
  clock.time = 81_000;
  assertEquals([keeper.token(), logins()], [first, 2]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals([keeper.token(), logins()], [second, 2]);
});

Deno.test("calls wait for the renewal of a token that is over, and hear when it fails", async () => {
  const second = jwt(100, "second");
  const { keeper, clock, logins } = keeping(jwt(100, "first"), new Error("down"), second);
  await keeper.token();
  clock.time = 101_000;
  await assertRejects(() => Promise.resolve(keeper.token()), Error, "down");
  clock.time = 102_500;
  assertEquals(await keeper.token(), second);
  assertEquals(logins(), 3);
});

Deno.test("a renewal that fails leaves the token in use, and is not tried at every call", async () => {
  const [first, third] = [jwt(100, "first"), jwt(100, "third")];
  const { keeper, clock, logins } = keeping(first, new Error("down"), third);
  await keeper.token();
  clock.time = 81_000;
  assertEquals(keeper.token(), first);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals([keeper.token(), logins()], [first, 2]);
  clock.time = 82_001;
  assertEquals([keeper.token(), logins()], [first, 3]);
});

Deno.test("clocks that disagree, and tokens that are no JSON, make no login more", async () => {
  for (const token of [jwt(-3_600, "old"), "a.b.c", "a.e30.c", `a.${btoa('{"exp":"x"}')}.c`, "x"]) {
    const { keeper, clock, logins } = keeping(token);
    await keeper.token();
    clock.time = 1e9;
    assertEquals([keeper.token(), logins()], [token, 1]);
  }
});

Deno.test("where nobody needs a token none is sent, until the server wants one", async () => {
  const { keeper, logins } = keeping(undefined, "a.1");
  assertEquals(await keeper.token(), undefined);
  assertEquals([keeper.token(), logins()], [undefined, 1]);
  await keeper.refused(undefined, "USER_EMPTY");
  assertEquals(await keeper.token(), "a.1");
});

Deno.test("a source that gives a token again that was refused is not asked a third time", async () => {
  const { keeper, logins } = keeping("a.1", "a.1", "b.2");
  await keeper.token();
  assertEquals(await keeper.refused("a.1", INVALID), true);
  assertEquals(await keeper.token(), "a.1");
  // It may be that a member was only behind.
  assertEquals(await keeper.refused("a.1", "AUTH_OLD_REVISION"), true);
  assertEquals(await keeper.token(), "b.2");
  const same = keeping("a.1", "a.1");
  await same.keeper.token();
  await same.keeper.refused("a.1", INVALID);
  await same.keeper.token();
  assertEquals(await same.keeper.refused("a.1", INVALID), false);
  assertEquals([logins(), same.logins()], [3, 2]);
});
