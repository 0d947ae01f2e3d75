import {
  checkBoolean,
  checkOptions,
  isMemory,
  optionNames,
  parseAddr,
  unixPath,
} from "../http/engine.ts";
import type { ErrorReason } from "./server_errors.ts";

/**
 * The token of a client. Every call and every stream that is opened asks for the token it is sent
 * with; the room that logs in implements this, the core only knows that there is such a thing.
 */
export interface Credentials {
  /**
   * The token to send, in the metadata `token`; undefined sends none. A promise while one is being
   * fetched: the caller stops waiting for it when the call is given up or its time is over.
   */
  token(): string | undefined | Promise<string | undefined>;
  /**
   * Called when the server refused a call for its token; `token` is what was sent. Resolves with
   * whether to send the call again, with what `token()` then gives.
   */
  refused(token: string | undefined, reason: ErrorReason): Promise<boolean>;
}

/** Refusals that another token may cure; the server did nothing. */
const REFUSALS: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  "INVALID_AUTH_TOKEN",
  // JSON web tokens carry the revision of users and roles they were made at.
  "AUTH_OLD_REVISION",
  // No token was sent, and by now it takes one.
  "USER_EMPTY",
]);

/** Whether another token may help. */
export function isTokenRefusal(reason: ErrorReason | undefined): reason is ErrorReason {
  return reason !== undefined && REFUSALS.has(reason);
}

// ---- options -------------------------------------------------------------------------------------

/** A secret, or what gives it when it is needed: from a file, or from a service that renews it. */
export type Secret = string | (() => string | Promise<string>);

/** Rules for all ways to log in. */
export interface AuthPolicy {
  /**
   * Send password and token over connections without TLS to other machines too. Who can listen there
   * can do what the user may. Connections to this machine (127.0.0.0/8, ::1, localhost, Unix sockets, in memory)
   * need no permission.
   * @default {false}
   */
  readonly allowPlaintext?: boolean;
}

/** A user and its password. */
export interface PasswordAuth extends AuthPolicy {
  /** Name of the user. */
  readonly name: string;
  /** Its password. A function is asked at every login. */
  readonly password: Secret;
}

/** A token made elsewhere, as a JSON web token that etcd 3.7 takes. */
export interface TokenAuth extends AuthPolicy {
  /** The token. A function is asked at first, before the token ends, and when it was refused. */
  readonly token: Secret;
}

const PASSWORD_NAMES = optionNames<PasswordAuth>({
  name: true,
  password: true,
  allowPlaintext: true,
});
const TOKEN_NAMES = optionNames<TokenAuth>({ token: true, allowPlaintext: true });

/**
 * Checks how to log in.
 *
 * @throws {TypeError} If it is none; says what to change.
 */
export function checkAuth(auth: PasswordAuth | TokenAuth): void {
  const what = "log in";
  if (typeof auth === "object" && auth !== null && "token" in auth) {
    checkOptions(what, TOKEN_NAMES, auth);
    checkSecret("auth.token", auth.token);
  } else {
    checkOptions(what, PASSWORD_NAMES, auth);
    const { name, password } = auth as PasswordAuth;
    if (typeof name !== "string" || name === "") {
      throw new TypeError("Cannot log in without a user: give auth: { name, password }");
    }
    checkSecret("auth.password", password);
  }
  checkBoolean(what, "auth.allowPlaintext", auth.allowPlaintext);
}

/**
 * Refuses targets that password and token would go to in the open.
 *
 * @throws {TypeError} If there is one; says what to change.
 */
export function checkPlaintext(
  auth: AuthPolicy,
  targets: readonly string[],
  secure: boolean,
): void {
  if (secure || auth.allowPlaintext === true) return;
  const open = targets.find((target) => !isLocal(target));
  if (open === undefined) return;
  throw new TypeError(
    `Cannot log in at ${open} without TLS as others could read the password: use tls, or say ` +
      "auth: { allowPlaintext: true }",
  );
}

/** Whether a target is on this machine. */
function isLocal(target: string): boolean {
  if (isMemory(target) || unixPath(target) !== null) return true;
  const { hostname } = parseAddr(target.replace(/^dns:(\/\/[^/]*\/|\/\/)?/, ""));
  return /^(127\.\d+\.\d+\.\d+|::1|(.+\.)?localhost)$/i.test(hostname);
}

function checkSecret(name: string, value: unknown): void {
  if (typeof value === "function" || (typeof value === "string" && value !== "")) return;
  const kind = value === "" ? "empty" : value === null ? "null" : typeof value;
  throw new TypeError(
    `Cannot log in as ${name} must be a string that is not empty, or a function: it is ${kind}`,
  );
}
