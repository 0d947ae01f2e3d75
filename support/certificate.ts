/**
 * Certificates for tests, made when they run: an authority, and a leaf it signed for the names under
 * which tests reach their servers.
 *
 * @module
 */
import { run, which } from "./process.ts";
import type { Need } from "./peers.ts";

/** Names every leaf is for; the last is the one the gRPC interop programs ask for. */
export const NAMES: readonly string[] = ["localhost", "foo.test.google.fr"];

/** An authority and a leaf, as text and as files. Dispose of it to remove the files. */
export interface CertificateFiles extends AsyncDisposable {
  /** Certificate of the authority, PEM. */
  readonly ca: string;
  /** Certificate of the server, PEM, for {@linkcode NAMES} and 127.0.0.1. */
  readonly cert: string;
  /** Its private key, PKCS#8 PEM. */
  readonly key: string;
  /** Path of {@linkcode ca}. */
  readonly caFile: string;
  /** Path of {@linkcode cert}. */
  readonly certFile: string;
  /** Path of {@linkcode key}. */
  readonly keyFile: string;
}

/** What a test with certificates needs. */
export const OPENSSL: Need = ["openssl", await which("openssl"), "put openssl on PATH"];

const EXTENSIONS = [
  "basicConstraints=critical,CA:FALSE",
  "keyUsage=critical,digitalSignature",
  "extendedKeyUsage=serverAuth,clientAuth",
  `subjectAltName=IP:127.0.0.1,${NAMES.map((name) => `DNS:${name}`).join(",")}`,
].join("\n");

const EC_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Makes an authority and a leaf, valid for a day. */
export async function makeCertificate(): Promise<CertificateFiles> {
  const folder = await Deno.makeTempDir({ prefix: "certificate" });
  const openssl = async (...args: string[]) => {
    const { code, stderr } = await run({ command: "openssl", args, cwd: folder });
    if (code !== 0) throw new Error(`openssl ${args.join(" ")} failed: ${stderr}`);
  };
  await Deno.writeTextFile(`${folder}/extensions`, EXTENSIONS);
  const ca = ["-x509", ...EC_KEY, "-subj", "/CN=Test authority", "-days", "1"];
  await openssl("req", ...ca, "-keyout", "ca.key", "-out", "ca.pem");
  await openssl("req", ...EC_KEY, "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "csr");
  await openssl(
    ...["x509", "-req", "-in", "csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"],
    ...["-days", "1", "-extfile", "extensions", "-out", "cert.pem"],
  );
  const read = (name: string) => Deno.readTextFile(`${folder}/${name}`);
  return {
    ca: await read("ca.pem"),
    cert: await read("cert.pem"),
    key: await read("key.pem"),
    caFile: `${folder}/ca.pem`,
    certFile: `${folder}/cert.pem`,
    keyFile: `${folder}/key.pem`,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}
