/**
 * A real etcd and the store beside each other, asked the same.
 *
 * @module
 */
import { listen, type StoreOptions } from "../../../kv/server/mod.ts";
import { Etcd } from "../../../support/etcd.ts";
import { type Step, Target } from "../../kv/server/programs.ts";
import { differenceOf, sameUpTo } from "./differences.ts";

/** What both answered, where it is not the same. */
export class Difference extends Error {
  override readonly name = "Difference";
}

/** Stands in requests for the id of the member that is asked. */
export const SELF = -1n;

/** A request with the id of the member it goes to. */
function addressed(step: Step, id: bigint): Step {
  const own = Object.entries(step.request).filter(([name, value]) =>
    value === SELF && (name === "ID" || name === "memberID") && step.service !== "Lease"
  );
  if (own.length === 0) return step;
  return {
    ...step,
    request: { ...step.request, ...Object.fromEntries(own.map(([n]) => [n, id])) },
  };
}

/** What a pair is made of. */
interface PairOptions {
  /** The program of etcd. */
  readonly etcd: string;
  /** Its minor version. */
  readonly version: number;
  readonly flags?: readonly string[];
  readonly limits?: NonNullable<StoreOptions["limits"]>;
}

/** A real etcd and the store. */
export class Pair implements AsyncDisposable {
  readonly theirs: Target;
  readonly ours: Target;
  readonly version: number;
  /** How often each known difference was met. */
  readonly met: Map<string, number> = new Map();
  /** Answers that were compared. */
  compared = 0;
  readonly #stack: AsyncDisposableStack;

  readonly #ids: { readonly theirs: bigint; readonly ours: bigint };

  private constructor(
    stack: AsyncDisposableStack,
    theirs: Target,
    ours: Target,
    version: number,
    ids: { readonly theirs: bigint; readonly ours: bigint },
  ) {
    this.#ids = ids;
    this.#stack = stack;
    this.theirs = theirs;
    this.ours = ours;
    this.version = version;
  }

  /** Starts both. */
  static async start({ etcd, version, flags, limits }: PairOptions): Promise<Pair> {
    await using stack = new AsyncDisposableStack();
    const theirs = stack.use(
      await Etcd.start({ command: etcd, flags: ["--bcrypt-cost=4", ...flags ?? []] }),
    );
    const ours = stack.use(listen(limits === undefined ? {} : { limits }));
    const left = stack.use(new Target(theirs.endpoint));
    const right = stack.use(new Target(ours.addr));
    const ids = { theirs: await left.memberId(), ours: await right.memberId() };
    return new Pair(stack.move(), left, right, version, ids);
  }

  /** Asks both, and gives etcd's answer. Throws {@linkcode Difference}. */
  async ask(step: Step): Promise<string> {
    const [expected, actual] = await Promise.all([
      this.theirs.ask(addressed(step, this.#ids.theirs)),
      this.ours.ask(addressed(step, this.#ids.ours)),
    ]);
    this.compare(step, expected, actual);
    return expected;
  }

  /** Compares what both answered. Throws {@linkcode Difference}. */
  compare(step: Step, expected: string, actual: string): void {
    this.compared++;
    if (expected === actual) return;
    const known = differenceOf(this.version, step, expected, actual);
    if (known === undefined) {
      throw new Difference(
        `${
          Deno.inspect(step, { depth: 12, iterableLimit: 50, compact: true, breakLength: Infinity })
        }\n  etcd:  ${expected}\n  store: ${actual}`,
      );
    }
    this.met.set(known.name, (this.met.get(known.name) ?? 0) + 1);
    if (known.ends) throw new Ended();
  }

  /** Compares two histories or other results that have no request of their own. */
  same(what: string, expected: unknown, actual: unknown): void {
    this.compared++;
    const [left, right] = [JSON.stringify(expected), JSON.stringify(actual)];
    if (left === right || sameUpTo(this.version, what, left, right)) return;
    throw new Difference(`${what}\n  etcd:  ${left}\n  store: ${right}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** Thrown when a known difference has led both to other states. */
export class Ended extends Error {
  override readonly name = "Ended";
}
