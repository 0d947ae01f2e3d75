/**
 * JSON web tokens that an etcd of a test makes and takes.
 *
 * @module
 */
import { run } from "./process.ts";

/** Keys for tokens, and the flags by which etcd uses them. Dispose of it to remove the files. */
export interface JwtFlags extends AsyncDisposable {
  readonly flags: readonly string[];
  /** Makes a token that this etcd takes, with RS256. */
  token(claims: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Makes keys for tokens that live for `ttl`, as `3s`. */
export async function jwtFlags(ttl: string): Promise<JwtFlags> {
  const folder = await Deno.makeTempDir({ prefix: "jwt" });
  const openssl = async (...args: string[]) => {
    const { code, stderr } = await run({ command: "openssl", args, cwd: folder });
    if (code !== 0) throw new Error(`openssl ${args.join(" ")} failed: ${stderr}`);
  };
  await openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "key");
  await openssl("pkey", "-in", "key", "-pubout", "-out", "pub");
  const pem = await Deno.readTextFile(`${folder}/key`);
  const der = Uint8Array.from(
    atob(pem.replace(/-----[^-]+-----/g, "").replace(/\s/g, "")),
    (c) => c.charCodeAt(0),
  );
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
  return {
    flags: [
      `--auth-token=jwt,pub-key=${folder}/pub,priv-key=${folder}/key,sign-method=RS256,ttl=${ttl}`,
    ],
    async token(claims) {
      const text = [{ alg: "RS256", typ: "JWT" }, claims]
        .map((part) => base64url(new TextEncoder().encode(JSON.stringify(part)))).join(".");
      const signed = await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(text));
      return `${text}.${base64url(new Uint8Array(signed))}`;
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
