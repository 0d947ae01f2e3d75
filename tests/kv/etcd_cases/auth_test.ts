/** Cases of integration/clientv3/user_test.go. */
import { assertEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { rejected } from "../../../support/kv.ts";
import { etcdCase, type Stage } from "./case.ts";

/** The first user, and authentication on. */
async function enable({ client }: Stage): Promise<void> {
  await client.auth.userAdd({ name: "root", password: "123" });
  await client.auth.roleAdd({ role: "root" });
  await client.auth.userGrantRole({ name: "root", role: "root" });
  await client.auth.enable();
}

/** Whether somebody can log in. */
async function logsIn({ client2 }: Stage, name: string, password: string): Promise<boolean> {
  const client = client2({ auth: { name, password }, retry: 1 });
  const [, error] = await kv.attempt(client.get({ key: "a" }));
  return error === undefined || (error as kv.KvError).reason === "PERMISSION_DENIED";
}

etcdCase("TestUserError", async ({ client: { auth } }) => {
  await auth.userAdd({ name: "foo", password: "bar" });
  const reasons: [Promise<unknown>, string][] = [
    [auth.userAdd({ name: "foo", password: "bar" }), "USER_EXISTS"],
    [auth.userDelete({ name: "not-exist-user" }), "USER_NOT_FOUND"],
    [auth.userGrantRole({ name: "foo", role: "test-role-does-not-exist" }), "ROLE_NOT_FOUND"],
  ];
  for (const [call, reason] of reasons) {
    assertEquals((await rejected(call, kv.KvError)).reason, reason);
  }
});

etcdCase("TestAddUserAfterDelete", async (stage) => {
  await enable(stage);
  const { auth } = stage.client2({ auth: { name: "root", password: "123" } });
  await auth.userAdd({ name: "foo", password: "bar" });
  assertEquals(await logsIn(stage, "foo", "bar"), true);
  await auth.userDelete({ name: "foo" });
  assertEquals(await logsIn(stage, "foo", "bar"), false);
  await auth.userAdd({ name: "foo", password: "bar" });
  assertEquals(await logsIn(stage, "foo", "bar"), true);
  await auth.userChangePassword({ name: "foo", password: "bar2" });
  await auth.userChangePassword({ name: "foo", password: "bar1" });
  assertEquals(
    [
      await logsIn(stage, "foo", "bar"),
      await logsIn(stage, "foo", "bar2"),
      await logsIn(stage, "foo", "bar1"),
    ],
    [false, false, true],
  );
});

etcdCase("TestUserErrorAuth", async (stage) => {
  await enable(stage);
  const nobody = stage.client.auth.userAdd({ name: "foo", password: "bar" });
  assertEquals((await rejected(nobody, kv.KvError)).reason, "USER_EMPTY");
  for (const [name, password] of [["wrong-id", "123"], ["root", "wrong-pass"]] as const) {
    const wrong = stage.client2({ auth: { name, password }, retry: 1 });
    assertEquals((await rejected(wrong.get({ key: "a" }), kv.KvError)).reason, "AUTH_FAILED");
  }
  const root = stage.client2({ auth: { name: "root", password: "123" } });
  assertEquals((await root.auth.userList()).users, ["root"]);
});

etcdCase("TestGetTokenWithoutAuth", async ({ client, client2 }) => {
  await client.auth.disable();
  const named = client2({ auth: { name: "root", password: "123" } });
  await named.put({ key: "foo", value: "bar" });
}, { members: 2 });
