import { assert, assertEquals } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { Random } from "../../../support/random.ts";

/** Milliseconds a call has. */
const DEADLINE_MS = 400;

/** How late a call may end: the machine may be busy. */
const SLACK_MS = 3000;

/** What a server behind its proxy has executed. */
interface Target {
  readonly server: grpc.GrpcServer;
  readonly proxy: FaultProxy;
  served: number;
}

for (const seed of [1, 2, 3, 4]) {
  Deno.test(`targets that come, go and hang: no call hangs, none runs twice, shares are even (seed ${seed})`, async () => {
    const random = new Random(seed);
    await using stack = new AsyncDisposableStack();
    const executed = new Map<string, number>();
    const targets: Target[] = [];
    for (let i = 0; i < 3 + seed % 3; i++) {
      const target = { served: 0 } as Target;
      const run = (name: string) => {
        target.served++;
        executed.set(name, (executed.get(name) ?? 0) + 1);
        return { message: name };
      };
      const registrar = new grpc.Registrar();
      registrar.register(GREETER, {
        SayHello: ({ name }: Request) => run(name),
        async SumSizes(requests: AsyncIterable<Request>) {
          let name = "";
          for await (const request of requests) name += request.name;
          return run(name);
        },
      });
      const server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 20 });
      const proxy = new FaultProxy({ target: server.addr });
      stack.use(server);
      stack.use(proxy);
      targets.push(Object.assign(target, { server, proxy }));
    }
    const conn = stack.use(grpc.newClient({
      targets: targets.map(({ proxy }) => proxy.endpoint),
      backoff: { initial: 5, max: 40 },
      connectTimeout: 300,
      keepalive: { interval: 100, timeout: 100 },
    }));
    const greeter = grpc.newService(conn, GREETER);

    let started = 0;
    const outcomes: Record<string, number> = {};
    /** One call of a random kind. */
    const call = async (): Promise<void> => {
      const name = `${seed}:${started++}`;
      const options = { timeout: DEADLINE_MS, waitForReady: random.below(2) === 0 };
      const before = performance.now();
      let outcome = "ok";
      try {
        let reply;
        if (random.below(3) > 0) reply = await greeter.SayHello({ name }, options);
        else {
          const stream = await greeter.SumSizes(options);
          for (const letter of name) await stream.write({ name: letter });
          stream.closeWrite();
          reply = await stream.read();
        }
        assertEquals(reply.message, name);
      } catch (error) {
        assert(error instanceof ConnectError, String(error));
        outcome = Code[error.code]!;
        if ((error.cause as { requestSent?: string } | undefined)?.requestSent === "no") {
          assertEquals(executed.get(name), undefined, `${name}: ${error.message}`);
        }
      }
      const took = performance.now() - before;
      assert(took < DEADLINE_MS + SLACK_MS, `${name} took ${took} ms: ${outcome}`);
      if (outcome === "ok") assertEquals(executed.get(name), 1);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    };

    /** Something happens to one target; at least one other stays as it is. */
    const harm = (): void => {
      const { proxy } = targets[1 + random.below(targets.length - 1)]!;
      switch (random.below(5)) {
        case 0:
          proxy.mode = "refuse";
          return proxy.drop();
        case 1:
          proxy.mode = "hold";
          return;
        case 2:
          proxy.mode = "hold";
          return proxy.drop();
        case 3:
          return proxy.drop();
        default:
          proxy.mode = "pass";
      }
    };

    for (let round = 0; round < 30; round++) {
      harm();
      await Promise.all(Array.from({ length: 20 }, call));
    }
    for (const [name, times] of executed) assertEquals(times, 1, name);
    // The first target never failed: whatever was free to go elsewhere came through.
    assert((outcomes.ok ?? 0) > started / 2, JSON.stringify(outcomes));
    for (const outcome of Object.keys(outcomes)) {
      assert(["ok", "DeadlineExceeded", "Unavailable"].includes(outcome), outcome);
    }

    // All come back, and get the same share.
    for (const { proxy } of targets) proxy.mode = "pass";
    const even = async (): Promise<boolean> => {
      for (const target of targets) target.served = 0;
      const name = `${seed}:even`;
      for (let i = 0; i < 4 * targets.length; i++) {
        await greeter.SayHello({ name: `${name} ${i}` }, { timeout: 20_000, waitForReady: true })
          .catch(() => {});
      }
      return targets.every(({ served }) => served === 4);
    };
    const end = performance.now() + 20_000;
    while (!await even()) assert(performance.now() < end, "shares did not become even");
  });
}
