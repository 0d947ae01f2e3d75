/**
 * Finds an etcd for the examples: the one `ETCD_ENDPOINTS` names, or one started from `etcd` on PATH
 * with a folder of its own, stopped and removed when disposed of.
 *
 * @module
 */

/** An etcd to talk to. */
export interface Etcd extends AsyncDisposable {
  /** `host:port` of its members. */
  readonly endpoints: string[];
  /** Where it came from. */
  readonly how: string;
}

/** Milliseconds a started etcd may take to answer. */
const START_TIMEOUT_MS = 20_000;

/** Null if there is none. */
export async function findEtcd(): Promise<Etcd | null> {
  const endpoints = Deno.env.get("ETCD_ENDPOINTS");
  if (endpoints) {
    return {
      endpoints: endpoints.split(",").map((one) => one.trim().replace(/^https?:\/\//, "")),
      how: "from ETCD_ENDPOINTS",
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  return await startEtcd();
}

async function startEtcd(): Promise<Etcd | null> {
  const [client, peer] = [freePort(), freePort()];
  const folder = await Deno.makeTempDir({ prefix: "etcd-" });
  const url = (port: number) => `http://127.0.0.1:${port}`;
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command("etcd", {
      args: [
        `--data-dir=${folder}/data`,
        `--listen-client-urls=${url(client)}`,
        `--advertise-client-urls=${url(client)}`,
        `--listen-peer-urls=${url(peer)}`,
        `--initial-advertise-peer-urls=${url(peer)}`,
        `--initial-cluster=default=${url(peer)}`,
      ],
      env: { ETCD_UNSUPPORTED_ARCH: Deno.build.arch === "aarch64" ? "arm64" : "" },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
  } catch (error) {
    await Deno.remove(folder, { recursive: true });
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  const stop = async () => {
    try {
      child.kill("SIGTERM");
    } catch {
      // It has ended by itself.
    }
    await child.status;
    await Deno.remove(folder, { recursive: true });
  };
  for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end;) {
    if (await isHealthy(client)) {
      return {
        endpoints: [`127.0.0.1:${client}`],
        how: "started from PATH",
        [Symbol.asyncDispose]: stop,
      };
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await stop();
  throw new Error(`etcd did not answer within ${START_TIMEOUT_MS} ms`);
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health`);
    return (await response.text()).includes(`"true"`);
  } catch {
    return false;
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
