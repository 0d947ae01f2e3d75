/**
 * An authority that signs any certificate a test asks for: other names, other keys, another time.
 *
 * @module
 */
import { run } from "./process.ts";

/** What a leaf is to be. */
export interface LeafOptions {
  /** Common name. @default the first of `names` */
  readonly commonName?: string;
  /** `subjectAltName` entries: `DNS:…` is added to those without a colon. */
  readonly names?: readonly string[];
  /** Days it is valid; -1: it ended yesterday. @default {1} */
  readonly days?: number;
  /** @default {"ec"} */
  readonly keyType?: "ec" | "rsa";
  /** `extendedKeyUsage`. @default {"serverAuth,clientAuth"} */
  readonly usage?: string;
}

/** A certificate and its key, PEM. */
export interface Leaf {
  readonly cert: string;
  /** PKCS#8. */
  readonly key: string;
  /** Path of the certificate, for foreign programs. */
  readonly certFile: string;
  /** Path of the key. */
  readonly keyFile: string;
}

const KEYS = {
  ec: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
  rsa: ["-newkey", "rsa:2048", "-nodes"],
};

let shared: Promise<Authority> | undefined;

/** One authority for all tests of a file, with its files until they are over. */
export function sharedAuthority(): Promise<Authority> {
  return shared ??= Authority.make().then((made) => {
    globalThis.addEventListener("unload", () => Deno.removeSync(made.folder, { recursive: true }));
    return made;
  });
}

/** Dispose of it to remove its files. */
export class Authority implements AsyncDisposable {
  /** Its certificate, PEM. */
  readonly ca: string;
  /** Path of {@linkcode Authority.ca}. */
  readonly caFile: string;
  /** Folder of all files. */
  readonly folder: string;
  #issued = 0;

  private constructor(folder: string, ca: string) {
    this.folder = folder;
    this.ca = ca;
    this.caFile = `${folder}/ca.pem`;
  }

  /** Makes an authority, valid for a day. */
  static async make(name = "Test authority"): Promise<Authority> {
    const folder = await Deno.makeTempDir({ prefix: "authority" });
    const args = ["req", "-x509", ...KEYS.ec, "-subj", `/CN=${name}`, "-days", "1"];
    await openssl(folder, ...args, "-keyout", "ca.key", "-out", "ca.pem");
    return new Authority(folder, await Deno.readTextFile(`${folder}/ca.pem`));
  }

  /** Signs a certificate. */
  async leaf(options: LeafOptions = {}): Promise<Leaf> {
    const { folder } = this;
    const { names = ["localhost", "IP:127.0.0.1"], days = 1, keyType = "ec" } = options;
    const id = this.#issued++;
    const san = names.map((name) => name.includes(":") ? name : `DNS:${name}`).join(",");
    await Deno.writeTextFile(
      `${folder}/${id}.ext`,
      [
        "basicConstraints=critical,CA:FALSE",
        `extendedKeyUsage=${options.usage ?? "serverAuth,clientAuth"}`,
        ...(san === "" ? [] : [`subjectAltName=${san}`]),
      ].join("\n"),
    );
    const subject = `/CN=${options.commonName ?? names[0] ?? "nameless"}`;
    const key = ["-keyout", `${id}.key`, "-out", `${id}.csr`];
    await openssl(folder, "req", ...KEYS[keyType], "-subj", subject, ...key);
    await openssl(
      folder,
      ...["x509", "-req", "-in", `${id}.csr`, "-CA", "ca.pem", "-CAkey", "ca.key"],
      ...["-set_serial", `${id + 2}`, "-days", `${days}`],
      ...["-extfile", `${id}.ext`, "-out", `${id}.pem`],
    );
    const certFile = `${folder}/${id}.pem`;
    const keyFile = `${folder}/${id}.key`;
    return {
      cert: await Deno.readTextFile(certFile),
      key: await Deno.readTextFile(keyFile),
      certFile,
      keyFile,
    };
  }

  /** An authority below this one; its `ca` is what leaves of it are sent along with. */
  async intermediate(commonName: string): Promise<Authority> {
    const folder = `${this.folder}/${this.#issued++}`;
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/ext`, "basicConstraints=critical,CA:TRUE\n");
    const key = ["-subj", `/CN=${commonName}`, "-keyout", "ca.key", "-out", "csr"];
    await openssl(folder, "req", ...KEYS.ec, ...key);
    await openssl(
      folder,
      ...["x509", "-req", "-in", "csr", "-CA", "../ca.pem", "-CAkey", "../ca.key"],
      ...["-set_serial", "1000", "-days", "1", "-extfile", "ext", "-out", "ca.pem"],
    );
    return new Authority(folder, await Deno.readTextFile(`${folder}/ca.pem`));
  }

  /** Removes its files. */
  [Symbol.asyncDispose](): Promise<void> {
    return Deno.remove(this.folder, { recursive: true });
  }
}

async function openssl(cwd: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await run({ command: "openssl", args, cwd });
  if (code !== 0) throw new Error(`openssl ${args.join(" ")} failed: ${stderr}`);
}
