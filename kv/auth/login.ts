/**
 * Logging in: a name and its password for a token, or a token from elsewhere.
 *
 * @module
 */
import { code } from "../../grpc/mod.ts";
import type { Calls } from "../calls.ts";
import type { PasswordAuth, Secret, TokenAuth } from "../credentials.ts";
import { KvError, LoginError } from "../errors.ts";
import { raced, waiting } from "../wait.ts";
import type { AuthService } from "./service.ts";

/** Milliseconds that logging in may take, or asking for a token, whatever time the calls have. */
const LOGIN_TIMEOUT_MS = 10_000;

/** Bytes of a token: it is sent with every call. */
const MAX_TOKEN_BYTES = 16_384;

/** Makes what gets a token: undefined where the server takes calls without. */
export function tokenFetcher(
  auth: PasswordAuth | TokenAuth,
  calls: Calls,
  service: AuthService,
): () => Promise<string | undefined> {
  if ("token" in auth) {
    return async () => checkedToken(await ask("auth.token", auth.token, calls));
  }
  return async () => {
    const { name } = auth;
    const password = await ask("auth.password", auth.password, calls);
    try {
      const { token } = await calls.run(
        "log in",
        "repeatable",
        service.Authenticate,
        { name, password },
        LOGIN_TIMEOUT_MS,
      );
      return checkedToken(token);
    } catch (error) {
      if (!(error instanceof KvError) || error instanceof LoginError) throw error;
      if (error.reason === "AUTH_NOT_ENABLED") return undefined;
      throw new LoginError(`cannot log in as ${JSON.stringify(name)}: ${error.message}`, error);
    }
  };
}

/** A secret: as it was given, or asked of its source. */
async function ask(name: string, secret: Secret, calls: Calls): Promise<string> {
  if (typeof secret === "string") return secret;
  let value: string;
  try {
    value = await waiting(
      `ask for ${name}`,
      { timeout: LOGIN_TIMEOUT_MS, signal: calls.closing },
      calls.clock,
      // An error thrown at once rejects too.
      (signal) => raced((async () => await secret())(), signal),
    );
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const known = error instanceof KvError ? error.code : code.UNAUTHENTICATED;
    throw new LoginError(
      `cannot log in: ${name} failed: ${text}`,
      new KvError(text, known, { cause: error }),
    );
  }
  if (typeof value === "string" && value !== "") return value;
  throw unusable(`${name} gave no text`);
}

function checkedToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token) && token.length <= MAX_TOKEN_BYTES) return token;
  throw unusable(
    `a token must be 1 to ${MAX_TOKEN_BYTES} visible characters of ASCII: this one has ${token.length} characters`,
  );
}

function unusable(text: string): LoginError {
  return new LoginError(`cannot log in: ${text}`, new KvError(text, code.UNAUTHENTICATED));
}
