// Arguments of the demo.

/** How the demo runs. */
export interface Arguments {
  /** Where the page is served; a free port if it was not named and is taken. */
  readonly addr: string | null;
  /** `host:port` of a cluster to use instead of a store of its own. */
  readonly etcd: string | null;
  /** Whether it goes on serving the page when everything was done once. */
  readonly serve: boolean;
}

export const USAGE = `Usage: deno task demo [--once | --serve] [--etcd host:port] [--addr host:port]

  --once             do everything once and end, also on a terminal
  --serve            go on serving the page, also without a terminal
  --etcd host:port   put this cluster behind the page, instead of a store of its own
  --addr host:port   serve the page here (default: 127.0.0.1:8000, or any free port)`;

/**
 * Reads the arguments; null if they ask for help.
 *
 * @throws {TypeError} If they cannot be understood.
 */
export function parseArguments(args: readonly string[], terminal: boolean): Arguments | null {
  let [addr, etcd, serve]: [string | null, string | null, boolean] = [null, null, terminal];
  const rest = args.flatMap((arg) => arg.startsWith("--") ? arg.split(/=(.*)/s, 2) : [arg]);
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === "--help" || name === "-h") return null;
    if (name === "--once") serve = false;
    else if (name === "--serve") serve = true;
    else if (name === "--addr") addr = hostAndPort(name, rest.shift());
    else if (name === "--etcd") etcd = hostAndPort(name, rest.shift());
    else throw new TypeError(`Cannot run the demo with ${JSON.stringify(name)}\n\n${USAGE}`);
  }
  return { addr, etcd, serve };
}

function hostAndPort(name: string, value: string | undefined): string {
  const address = value?.replace(/^http:\/\//, "");
  if (address !== undefined && /^(?:[\w.-]+|\[[\da-fA-F:.]+\])?:\d{1,5}$/.test(address)) {
    return address;
  }
  const current = value === undefined ? "missing" : JSON.stringify(value);
  throw new TypeError(
    `Cannot run the demo as ${name} must be host:port: current value is ${current}`,
  );
}
