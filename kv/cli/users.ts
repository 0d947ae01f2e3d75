/**
 * Commands on users, roles and permissions.
 *
 * @module
 */
import { prefixRange } from "../range.ts";
import type { Permission, PermissionType } from "../auth/types.ts";
import { type Flags, UsageError } from "./arguments.ts";
import { type Cli, type Commands, show, showChange } from "./command_table.ts";
import { askPassword } from "./connect.ts";
import { base64, headerJson, omitEmpty } from "./format.ts";
import { selectorOf } from "./keys.ts";

const RANGE: Flags = {
  "prefix": { type: "boolean", about: "all keys that begin with the key" },
  "from-key": { type: "boolean", about: "the key and all keys behind it" },
};
const INTERACTIVE: Flags = {
  "interactive": { type: "boolean", about: "taken and not needed: a password is read from stdin" },
};
const PERMISSIONS: readonly PermissionType[] = ["READ", "WRITE", "READWRITE"];

/** Commands on users, roles and permissions. */
export const USER_COMMANDS: Commands = {
  "auth enable": {
    usage: "",
    about: "Enables authentication",
    args: [0, 0],
    async run({ client, timeout, world }) {
      await client.auth.enable(timeout);
      await world.print("Authentication Enabled\n");
    },
  },
  "auth disable": {
    usage: "",
    about: "Disables authentication",
    args: [0, 0],
    async run({ client, timeout, world }) {
      await client.auth.disable(timeout);
      await world.print("Authentication Disabled\n");
    },
  },
  "auth status": {
    usage: "",
    about: "Returns authentication status",
    args: [0, 0],
    async run(cli) {
      const { header, enabled, authRevision } = await cli.client.auth.status(cli.timeout);
      await show(cli, {
        simple: () => `Authentication Status: ${enabled}\nAuthRevision: ${authRevision}\n`,
        json: () => ({ header: headerJson(header), ...omitEmpty({ enabled, authRevision }) }),
      });
    },
  },
  "user add": {
    usage: "<user name or user:password> [options]",
    about: "Adds a new user",
    flags: {
      ...INTERACTIVE,
      "new-user-password": { type: "string", about: "its password" },
      "no-password": { type: "boolean", about: "known by its certificate alone" },
    },
    args: [1, 1],
    async run(cli) {
      const { client, args: [text], given, timeout, world } = cli;
      const colon = text!.indexOf(":");
      const name = colon < 0 ? text! : text!.slice(0, colon);
      if (given.has("no-password")) {
        const { header } = await client.auth.userAdd({ name, noPassword: true }, timeout);
        return await showChange(cli, `User ${name} created`, header);
      }
      const password = given.text("new-user-password") ??
        (colon >= 0 ? text!.slice(colon + 1) : await askPassword(world, `Password of ${name}: `));
      const { header } = await client.auth.userAdd({ name, password }, timeout);
      await showChange(cli, `User ${name} created`, header);
    },
  },
  "user delete": {
    usage: "<user name>",
    about: "Deletes a user",
    args: [1, 1],
    async run(cli) {
      const name = cli.args[0]!;
      const { header } = await cli.client.auth.userDelete({ name }, cli.timeout);
      await showChange(cli, `User ${name} deleted`, header);
    },
  },
  "user get": {
    usage: "<user name> [options]",
    about: "Gets detailed information of a user",
    flags: { "detail": { type: "boolean", about: "also what its roles may do" } },
    args: [1, 1],
    async run(cli) {
      const { client, args, given, timeout, world } = cli;
      const name = args[0]!;
      const { header, roles } = await client.auth.userGet({ name }, timeout);
      if (given.has("detail")) {
        let text = `User: ${name}\n`;
        for (const role of roles) {
          const { permissions } = await client.auth.roleGet({ role }, timeout);
          text += `\n${roleText(role, permissions)}`;
        }
        return await world.print(text);
      }
      await show(cli, {
        simple: () => `User: ${name}\nRoles:${roles.map((role) => ` ${role}`).join("")}\n`,
        json: () => ({ header: headerJson(header), ...omitEmpty({ roles }) }),
      });
    },
  },
  "user list": {
    usage: "",
    about: "Lists all users",
    args: [0, 0],
    async run(cli) {
      const { header, users } = await cli.client.auth.userList(cli.timeout);
      await show(cli, {
        simple: () => users.map((name) => `${name}\n`).join(""),
        json: () => ({ header: headerJson(header), ...omitEmpty({ users }) }),
      });
    },
  },
  "user passwd": {
    usage: "<user name> [options]",
    about: "Changes password of user",
    flags: INTERACTIVE,
    args: [1, 1],
    async run(cli) {
      const { client, args, timeout, world } = cli;
      const name = args[0]!;
      const password = await askPassword(world, `New password of ${name}: `);
      const { header } = await client.auth.userChangePassword({ name, password }, timeout);
      await showChange(cli, "Password updated", header);
    },
  },
  "user grant-role": {
    usage: "<user name> <role name>",
    about: "Grants a role to a user",
    args: [2, 2],
    async run(cli) {
      const [name, role] = cli.args as [string, string];
      const { header } = await cli.client.auth.userGrantRole({ name, role }, cli.timeout);
      await showChange(cli, `Role ${role} is granted to user ${name}`, header);
    },
  },
  "user revoke-role": {
    usage: "<user name> <role name>",
    about: "Revokes a role from a user",
    args: [2, 2],
    async run(cli) {
      const [name, role] = cli.args as [string, string];
      const { header } = await cli.client.auth.userRevokeRole({ name, role }, cli.timeout);
      await showChange(cli, `Role ${role} is revoked from user ${name}`, header);
    },
  },
  "role add": {
    usage: "<role name>",
    about: "Adds a new role",
    args: [1, 1],
    async run(cli) {
      const role = cli.args[0]!;
      const { header } = await cli.client.auth.roleAdd({ role }, cli.timeout);
      await showChange(cli, `Role ${role} created`, header);
    },
  },
  "role delete": {
    usage: "<role name>",
    about: "Deletes a role",
    args: [1, 1],
    async run(cli) {
      const role = cli.args[0]!;
      const { header } = await cli.client.auth.roleDelete({ role }, cli.timeout);
      await showChange(cli, `Role ${role} deleted`, header);
    },
  },
  "role get": {
    usage: "<role name>",
    about: "Gets detailed information of a role",
    args: [1, 1],
    async run(cli) {
      const role = cli.args[0]!;
      const { header, permissions } = await cli.client.auth.roleGet({ role }, cli.timeout);
      await show(cli, {
        simple: () => roleText(role, permissions),
        json: () => ({
          header: headerJson(header),
          ...omitEmpty({ perm: permissions.map(permissionJson) }),
        }),
      });
    },
  },
  "role list": {
    usage: "",
    about: "Lists all roles",
    args: [0, 0],
    async run(cli) {
      const { header, roles } = await cli.client.auth.roleList(cli.timeout);
      await show(cli, {
        simple: () => roles.map((name) => `${name}\n`).join(""),
        json: () => ({ header: headerJson(header), ...omitEmpty({ roles }) }),
      });
    },
  },
  "role grant-permission": {
    usage: "[options] <role name> <permission type> <key> [endkey]",
    about: "Grants a key to a role",
    flags: RANGE,
    args: [3, 4],
    async run(cli) {
      const [role, type, ...keys] = cli.args;
      const permission = PERMISSIONS.find((one) => one === type!.toUpperCase());
      if (permission === undefined) throw new UsageError(`invalid permission type: ${type}`);
      const request = { role: role!, permission, ...selectorOf(keys, cli.given) };
      const { header } = await cli.client.auth.roleGrantPermission(request, cli.timeout);
      await showChange(cli, `Role ${role} updated`, header);
    },
  },
  "role revoke-permission": {
    usage: "<role name> <key> [endkey]",
    about: "Revokes a key from a role",
    flags: RANGE,
    args: [2, 3],
    async run(cli) {
      const [role, ...keys] = cli.args;
      const request = { role: role!, ...selectorOf(keys, cli.given) };
      const { header } = await cli.client.auth.roleRevokePermission(request, cli.timeout);
      await showChange(
        cli,
        `Permission of ${revoked(cli, keys)} is revoked from role ${role}`,
        header,
      );
    },
  },
};

function revoked({ given }: Cli, [key, end]: readonly string[]): string {
  if (given.has("from-key")) return `range [${key}, <open ended>`;
  if (given.has("prefix")) {
    const { rangeEnd } = prefixRange(new TextEncoder().encode(key));
    return `range [${key}, ${new TextDecoder().decode(rangeEnd)})`;
  }
  return end === undefined ? `key ${key}` : `range [${key}, ${end})`;
}

function roleText(role: string, permissions: readonly Permission[]): string {
  const lines = (type: PermissionType) =>
    permissions.filter(({ permission }) => permission === type || permission === "READWRITE")
      .map((one) => `\t${keysOf(one)}\n`).join("");
  return `Role ${role}\nKV Read:\n${lines("READ")}KV Write:\n${lines("WRITE")}`;
}

function keysOf({ key, rangeEnd, keyBytes, rangeEndBytes }: Permission): string {
  if (rangeEnd === "") return key;
  if (rangeEnd === "\0") return `[${key}, <open ended>`;
  const { rangeEnd: end } = prefixRange(keyBytes);
  const isPrefix = end.length === rangeEndBytes.length &&
    end.every((byte, i) => byte === rangeEndBytes[i]);
  return `[${key}, ${rangeEnd})${isPrefix ? ` (prefix ${key})` : ""}`;
}

function permissionJson({ permission, keyBytes, rangeEndBytes }: Permission): unknown {
  return omitEmpty({
    permType: PERMISSIONS.indexOf(permission),
    key: base64(keyBytes),
    range_end: base64(rangeEndBytes),
  });
}
