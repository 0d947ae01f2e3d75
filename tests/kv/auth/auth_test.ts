/** Users, roles, permissions and tokens, against a real etcd. */
import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { delay } from "@std/async";
import { kv } from "@sluice/sluice";
import { Etcd, findEtcd } from "../../../support/etcd.ts";
import { peerTest } from "../../../support/peers.ts";
import { jwtFlags } from "../../../support/jwt.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { readEvents, rejected } from "../../../support/kv.ts";

const needs = [[
  "etcd",
  await findEtcd(),
  "install etcd-server, or set ETCD to the program",
]] as const;

/** Passwords are hashed as cheaply as etcd lets us. */
const CHEAP = "--bcrypt-cost=4";

const root = { name: "root", password: "secret of root" };
const reader = { name: "reader", password: "secret of reader" };

/** Makes root, and a reader of the keys that begin with "open/"; then nobody else may do anything. */
async function withUsers(etcd: Etcd): Promise<void> {
  await using client = kv.newClient({ endpoints: [etcd.endpoint] });
  const { auth } = client;
  await auth.userAdd(root);
  await auth.userGrantRole({ name: "root", role: "root" });
  await auth.userAdd(reader);
  await auth.roleAdd({ role: "readers" });
  await auth.roleGrantPermission({
    role: "readers",
    permission: "READ",
    key: "open/",
    prefix: true,
  });
  await auth.userGrantRole({ name: "reader", role: "readers" });
  await client.put({ key: "open/a", value: "1" });
  await auth.enable();
}

function as(etcd: Etcd, auth?: kv.ClientOptions["auth"], more: Partial<kv.ClientOptions> = {}) {
  return kv.newClient({
    endpoints: [etcd.endpoint],
    retrySleep: 50,
    ...more,
    ...(auth && { auth }),
  });
}

Deno.test("users, roles and permissions are made, shown and removed", async (t) => {
  await using etcd = await Etcd.start({ flags: [CHEAP] });
  await using client = as(etcd);
  const { auth } = client;

  await t.step("users have roles, roles have permissions", async () => {
    await auth.roleAdd({ role: "ops" });
    await auth.roleGrantPermission({
      role: "ops",
      permission: "READWRITE",
      key: "app/",
      prefix: true,
    });
    await auth.roleGrantPermission({ role: "ops", permission: "WRITE", key: "z", fromKey: true });
    await auth.roleGrantPermission({ role: "ops", permission: "READ", key: "one" });
    await auth.userAdd({ name: "ann", password: "a" });
    await auth.userAdd({ name: "cert", noPassword: true });
    await auth.userGrantRole({ name: "ann", role: "ops" });
    assertEquals((await auth.userList()).users, ["ann", "cert"]);
    assertEquals((await auth.roleList()).roles, ["ops"]);
    assertEquals((await auth.userGet({ name: "ann" })).roles, ["ops"]);
    const { permissions } = await auth.roleGet({ role: "ops" });
    assertEquals(
      permissions.map(({ permission, key, rangeEnd }) => [permission, key, rangeEnd]),
      [["READWRITE", "app/", "app0"], ["READ", "one", ""], ["WRITE", "z", "\0"]],
    );
  });

  await t.step("and lose them", async () => {
    await auth.roleRevokePermission({ role: "ops", key: "z", fromKey: true });
    await auth.roleRevokePermission({ role: "ops", key: "app/", prefix: true });
    assertEquals((await auth.roleGet({ role: "ops" })).permissions.length, 1);
    await auth.userRevokeRole({ name: "ann", role: "ops" });
    assertEquals((await auth.userGet({ name: "ann" })).roles, []);
    await auth.userDelete({ name: "ann" });
    await auth.roleDelete({ role: "ops" });
    assertEquals((await auth.userList()).users, ["cert"]);
    assertEquals((await auth.roleList()).roles, []);
  });

  await t.step("errors name their reason", async () => {
    const reasons: [Promise<unknown>, kv.ErrorReason][] = [
      [auth.enable(), "ROOT_USER_NOT_FOUND"],
      [auth.userAdd({ name: "cert", password: "x" }), "USER_EXISTS"],
      [auth.userGet({ name: "nobody" }), "USER_NOT_FOUND"],
      [auth.roleGet({ role: "none" }), "ROLE_NOT_FOUND"],
      [auth.userGrantRole({ name: "cert", role: "none" }), "ROLE_NOT_FOUND"],
      [auth.userRevokeRole({ name: "cert", role: "none" }), "ROLE_NOT_GRANTED"],
    ];
    for (const [promise, reason] of reasons) {
      assertEquals((await rejected(promise, kv.KvError)).reason, reason);
    }
  });

  await t.step("requests that are none are refused, and no password is shown", async () => {
    const wrong: [Promise<unknown>, string][] = [
      [auth.userAdd({ name: "a", pasword: "hush" } as never), "did you mean password?"],
      [auth.userAdd({ name: "a", password: 5 } as never), "password must be a string"],
      [auth.userAdd({ name: "a", password: "" }), "it is empty"],
      [auth.userAdd({ name: "", password: "hush" }), "name must be a string that is not empty"],
      [auth.userAdd({ name: "a", password: "hush", noPassword: true }), "exclude each other"],
      [auth.roleAdd({ name: "a" } as never), "its fields are role"],
      [auth.roleGrantPermission({ role: "r", key: "a" } as never), "without permission"],
      [
        auth.roleGrantPermission({ role: "r", key: "a", permission: "ALL" } as never),
        "READ, WRITE, READWRITE",
      ],
    ];
    for (const [promise, hint] of wrong) {
      const { message } = await rejected(promise, TypeError);
      assertStringIncludes(message, hint);
      assert(!message.includes("hush"), message);
    }
  });

  await t.step("status tells whether calls need a user, where the server can", async () => {
    const [status, error] = await kv.attempt(auth.status());
    if (error !== undefined) {
      assertInstanceOf(error, kv.KvError);
      assertEquals(error.code, 12);
    } else {
      assertEquals(status.enabled, false);
      assert(status.authRevision > 1n);
    }
  });
});

Deno.test("a client logs in by itself, once for any number of calls", async (t) => {
  await using etcd = await Etcd.start({
    flags: [CHEAP, "--auth-token=simple", "--auth-token-ttl=1"],
  });
  await withUsers(etcd);

  await t.step("without a user nothing is possible, and the error says so", async () => {
    await using client = as(etcd);
    assertEquals((await rejected(client.get({ key: "open/a" }), kv.KvError)).reason, "USER_EMPTY");
  });

  await t.step("with one, what its roles allow", async () => {
    await using client = as(etcd, reader);
    assertEquals((await client.get({ key: "open/a" })).kvs[0]?.value, "1");
    const denied = await rejected(client.put({ key: "open/a", value: "2" }), kv.KvError);
    assertEquals([denied.reason, denied.name], ["PERMISSION_DENIED", "KvError"]);
    assertEquals(
      (await rejected(client.get({ key: "x" }), kv.KvError)).reason,
      "PERMISSION_DENIED",
    );
  });

  await t.step(
    "100 calls at once ask for the password once; so they do when the token ended",
    async () => {
      let asked = 0;
      const password = () => (asked++, Promise.resolve(root.password));
      await using client = as(etcd, { name: "root", password });
      const round = () =>
        Promise.all(Array.from({ length: 100 }, (_, i) => client.put({ key: `n${i}`, value: "" })));
      await round();
      assertEquals(asked, 1);
      // etcd ends tokens that were not used for their time to live.
      await delay(2_500);
      await round();
      assertEquals(asked, 2);
    },
  );

  await t.step("a wrong password is told at once, and sent once", async () => {
    let asked = 0;
    const password = () => (asked++, "wrong");
    await using client = as(etcd, { name: "root", password }, { retrySleep: 5_000 });
    const start = performance.now();
    const error = await rejected(client.put({ key: "a", value: "" }), kv.LoginError);
    assert(performance.now() - start < 4_000);
    assertEquals([error.reason, asked], ["AUTH_FAILED", 1]);
    assertStringIncludes(
      error.message,
      'cannot log in as "root": etcdserver: authentication failed',
    );
    const unknown = as(etcd, { name: "nobody", password: "x" });
    await using _unknown = unknown;
    assertEquals((await rejected(unknown.get({ key: "a" }), kv.LoginError)).reason, "AUTH_FAILED");
    assertEquals(
      (await rejected(unknown.watch({ key: "a" }), kv.LoginError)).reason,
      "AUTH_FAILED",
    );
  });

  await t.step("its own password changed: the next login takes the new one", async () => {
    let { password } = reader;
    await using admin = as(etcd, root);
    await using client = as(etcd, { name: "reader", password: () => password });
    await client.get({ key: "open/a" });
    await admin.auth.userChangePassword({ name: "reader", password: password = "new" });
    assertEquals((await client.get({ key: "open/a" })).count, 1);
  });

  await t.step("users switched off and on under a client that has one", async () => {
    await using client = as(etcd, root);
    await client.put({ key: "b", value: "1" });
    await client.auth.disable();
    await client.put({ key: "b", value: "2" });
    await client.auth.enable();
    await client.put({ key: "b", value: "3" });
    assertEquals((await client.get({ key: "b" })).kvs[0]?.value, "3");
  });
});

Deno.test("a client with a user works where nobody needs one", async () => {
  await using etcd = await Etcd.start({ flags: [CHEAP] });
  await using client = as(etcd, root);
  await client.put({ key: "a", value: "1" });
  assertEquals((await client.get({ key: "a" })).count, 1);
});

peerTest(
  "JSON web tokens are renewed when users change and before they end",
  { needs: [...needs, OPENSSL] },
  async (t) => {
    await using jwt = await jwtFlags("3s");
    await using etcd = await Etcd.start({ flags: [CHEAP, ...jwt.flags] });
    await withUsers(etcd);

    await t.step("each change of users makes all tokens old", async () => {
      await using admin = as(etcd, root);
      await using client = as(etcd, root);
      for (let i = 0; i < 5; i++) {
        await client.put({ key: "a", value: String(i) });
        await admin.auth.userAdd({ name: `user${i}`, password: "x" });
      }
      const { kvs: [a] } = await client.get({ key: "a" });
      assertEquals([a?.value, a?.version], ["4", 5]);
    });

    await t.step("changes that come one after the other fail no call", async () => {
      await using admin = as(etcd, root);
      await using client = as(etcd, root);
      let stopped = false;
      const changing = (async () => {
        for (let i = 0; !stopped; i++) {
          await admin.auth.userAdd({ name: `more${i}`, password: "x" });
          await delay(20);
        }
      })();
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          for (let i = 0; i < 25; i++) await client.put({ key: "busy", value: String(i) });
        }),
      );
      stopped = true;
      await changing;
      assertEquals((await client.get({ key: "busy" })).kvs[0]?.version, 100);
    });

    await t.step("a token that nobody takes is told after a second try", async () => {
      let asked = 0;
      await using client = as(etcd, { token: () => (asked++, "nonsense") });
      const error = await rejected(client.put({ key: "a", value: "" }), kv.KvError);
      assertEquals([error.reason, asked], ["INVALID_AUTH_TOKEN", 2]);
    });

    await t.step("before the end of a token another one is there", async () => {
      let asked = 0;
      const password = () => (asked++, root.password);
      await using client = as(etcd, { name: "root", password });
      const start = performance.now();
      while (asked < 3) {
        await client.get({ key: "a" });
        await delay(20);
      }
      // Two tokens before the third were used for most of their three seconds.
      assert(performance.now() - start > 3_000);
    });

    await t.step("a token from elsewhere is asked for when it is needed", async () => {
      let asked = 0;
      const token = async () => {
        asked++;
        return await jwt.token({ username: "root", revision: 1_000, exp: Date.now() / 1_000 + 60 });
      };
      await using client = as(etcd, { token });
      await Promise.all([1, 2, 3].map((i) => client.put({ key: `t${i}`, value: "" })));
      assertEquals(asked, 1);
    });
  },
);

/** Puts numbers under "open/n", one after the other, until stopped; gives how many. */
function counting(client: kv.Client): () => Promise<number> {
  let stopped = false;
  let count = 0;
  const done = (async () => {
    while (!stopped) {
      await client.put({ key: "open/n", value: String(++count) });
      await delay(5);
    }
  })();
  return async () => {
    stopped = true;
    await done;
    return count;
  };
}

for (const kind of ["simple tokens", "JSON web tokens"]) {
  peerTest(
    `no event is lost and no lease, though ${kind} end and connections break`,
    { needs: kind === "simple tokens" ? [OPENSSL] : [...needs, OPENSSL] },
    async () => {
      await using jwt = await jwtFlags("1s");
      const flags = kind === "simple tokens"
        ? ["--auth-token=simple", "--auth-token-ttl=1"]
        : jwt.flags;
      await using etcd = await Etcd.start({ flags: [CHEAP, ...flags] });
      await withUsers(etcd);
      await using proxy = new FaultProxy({ target: etcd.endpoint });
      await using writer = as(etcd, root);
      // Waits longer than tokens live, so that the streams' have ended when they break.
      await using client = kv.newClient({ endpoints: [proxy.endpoint], auth: root });
      const { ID } = await client.grant({ TTL: 4 });
      const watches = [await client.watch({ key: "open/", prefix: true })];
      const stop = counting(writer);
      for (let round = 0; round < 3; round++) {
        await delay(2_000);
        // On the stream as it is: the server cancels it for the token the stream began with.
        watches.push(await client.watch({ key: "open/", prefix: true, revision: 1 }));
        await delay(500);
        proxy.drop();
        await writer.auth.userAdd({ name: `user${round}`, password: "x" });
      }
      const count = await stop();
      const numbers = Array.from({ length: count }, (_, i) => String(i + 1));
      for (const [i, watch] of watches.entries()) {
        const events = await readEvents(watch, count + (i === 0 ? 0 : 1), 20_000);
        assertEquals(
          events.map(({ kv }) => kv).filter(({ key }) => key === "open/n").map(({ value }) =>
            value
          ),
          numbers,
        );
        watch.close();
      }
      assert(!client.leaseSignal(ID).aborted, "the lease was lost");
      assert((await client.ttl({ ID })).TTL > 0);
    },
  );
}

Deno.test("a watch ends when the server does not take its user any more", async () => {
  await using etcd = await Etcd.start({ flags: [CHEAP] });
  await withUsers(etcd);
  await using proxy = new FaultProxy({ target: etcd.endpoint });
  await using admin = as(etcd, root);
  await using client = kv.newClient({ endpoints: [proxy.endpoint], auth: reader });
  const watch = await client.watch({ key: "open/", prefix: true });
  assertEquals(
    (await rejected(client.watch({ key: "closed" }), kv.KvError)).reason,
    "PERMISSION_DENIED",
  );
  await admin.auth.userChangePassword({ name: "reader", password: "other" });
  proxy.drop();
  const error = await rejected(watch.read(20_000), kv.LoginError);
  assertEquals(error.reason, "AUTH_FAILED");
});

Deno.test("a password goes over plaintext to this machine only, unless it is allowed", async () => {
  const local = ["127.0.0.1:1", "localhost:1", "[::1]:1", "http://127.8.8.8:1"];
  for (const endpoint of local) {
    await using _client = kv.newClient({ endpoints: [endpoint], auth: root });
  }
  for (const endpoint of ["10.0.0.1:2379", "etcd.example:2379", "127.0.0.1.example:2379"]) {
    const endpoints = ["127.0.0.1:1", endpoint];
    for (const auth of [root, { token: "abc" }]) {
      const { message } = assertThrows(() => kv.newClient({ endpoints, auth }), TypeError);
      assertStringIncludes(message, `Cannot log in at ${endpoint} without TLS`);
      assertStringIncludes(message, "allowPlaintext");
      assert(!message.includes("secret"));
    }
  }
  const endpoints = ["192.0.2.1:2379"];
  await kv.newClient({ endpoints, auth: { ...root, allowPlaintext: true } }).close();
  await kv.newClient({ endpoints, auth: root, tls: true }).close();
});

Deno.test("options of a login that are none are refused, and no password is shown", () => {
  const wrong: [unknown, string][] = [
    [{ name: "root" }, "auth.password must be a string that is not empty, or a function"],
    [{ name: "root", password: "" }, "it is empty"],
    [{ password: "hush" }, "without a user"],
    [{ name: "root", pasword: "hush" }, 'did you mean "password"?'],
    [{ token: 5 }, "auth.token must be a string"],
    [{ token: "t", name: "root" }, 'no option "name"'],
    [{ name: "root", password: "hush", allowPlaintext: "yes" }, "must be true or false"],
    ["root:hush", "must be an object"],
    [null, "must be an object"],
  ];
  for (const [auth, hint] of wrong) {
    const { message } = assertThrows(
      () => kv.newClient({ endpoints: ["127.0.0.1:1"], auth: auth as never }),
      TypeError,
    );
    assertStringIncludes(message, hint);
    assert(!message.includes("hush"), message);
  }
});

Deno.test("a token source that fails, hangs or gives no token is told, and harms no write", async () => {
  const cases: [() => unknown, string][] = [
    [() => {
      throw new Error("vault is sealed");
    }, "auth.token failed: vault is sealed"],
    [() => Promise.reject("no"), "auth.token failed: no"],
    [() => "", "gave no text"],
    [() => 5, "gave no text"],
    [() => "two\nlines", "visible characters of ASCII"],
    [() => "x".repeat(20_000), "visible characters of ASCII"],
  ];
  for (const [token, hint] of cases) {
    await using client = kv.newClient({
      endpoints: ["127.0.0.1:1"],
      auth: { token: token as never },
    });
    const error = await rejected(client.put({ key: "a", value: "" }), kv.LoginError);
    assertStringIncludes(error.message, hint);
    assertEquals(error.code, 16);
  }
  await using client = kv.newClient({
    endpoints: ["127.0.0.1:1"],
    auth: { token: () => new Promise<string>(() => {}) },
  });
  const late = await rejected(client.put({ key: "a", value: "" }, 50), kv.KvError);
  assertEquals([late.name, late.code], ["KvError", 4]);
});
