// Hashes of passwords: bcrypt, as etcd has them, so that users move between the two with their files.

import { ServerFault } from "../fault.ts";

/** Passwords hashed at once; more wait in vain. */
const MAX_AT_ONCE = 64;

let atOnce = 0;

/** Loads the library when the first password comes, and bounds what hashing may cost. */
async function bcrypt<T>(run: (library: typeof import("bcryptjs")) => Promise<T>): Promise<T> {
  if (atOnce >= MAX_AT_ONCE) throw new ServerFault("TOO_MANY_REQUESTS");
  atOnce++;
  try {
    return await run(await import("bcryptjs"));
  } finally {
    atOnce--;
  }
}

/** The hash of a password. `cost` is that of bcrypt: the rounds, as a power of two. */
export function hashPassword(password: string, cost: number): Promise<string> {
  return bcrypt(({ hash }) => hash(password, cost));
}

/** Whether a password has a hash. */
export function passwordHas(hash: string, password: string): Promise<boolean> {
  return bcrypt(({ compare }) => compare(password, hash));
}
