/**
 * Retry and hedging policies against foreign servers: what they send as failure, trailers and
 * pushback, and what they read of the attempts. The script of a call stands in its metadata: a part
 * for each attempt, `code[@pushback][~milliseconds]`.
 */
import { assert, assertEquals } from "@std/assert";
import { Code } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { GREETER } from "../../support/greeter.ts";
import { peerTest } from "../../support/peers.ts";
import { codeOf } from "../../support/with_greeter.ts";
import { FOREIGN, grpcCore, startServer } from "./foreign.ts";

const RETRY: grpc.RetryPolicy = {
  maxAttempts: 4,
  initialBackoff: "0.01s",
  maxBackoff: "0.05s",
  backoffMultiplier: 2,
  retryableStatusCodes: ["UNAVAILABLE"],
};

const SERVICE_CONFIG: grpc.ServiceConfig = {
  methodConfig: [
    { name: [{ service: "test.Greeter" }], retryPolicy: RETRY },
    {
      name: [{ service: "test.Greeter", method: "SumSizes" }],
      hedgingPolicy: {
        maxAttempts: 3,
        hedgingDelay: "0.05s",
        nonFatalStatusCodes: ["UNAVAILABLE"],
      },
    },
  ],
};

interface Outcome {
  readonly code: Code | undefined;
  readonly reply: string | undefined;
  /** The attempt whose trailer came. */
  readonly attempt: string | null;
}

for (const foreign of FOREIGN) {
  peerTest(`${foreign.name} is called again as policies say`, foreign, async () => {
    await using server = await startServer(foreign, undefined, "scripted");
    await using conn = grpc.newClient({ targets: [server.addr], serviceConfig: SERVICE_CONFIG });
    const greeter = grpc.newService(conn, GREETER);

    /** One call of a kind, with a script. */
    const call = async (method: string, script: string): Promise<Outcome> => {
      let attempt: string | null = null;
      let reply: string | undefined;
      const options = {
        timeout: 20_000,
        headers: { "x-script": script },
        onTrailer: (trailer: Headers) => attempt = trailer.get("x-attempt"),
      };
      const run = async (): Promise<void> => {
        if (method === "SayHello") {
          ({ message: reply } = await greeter.SayHello({ name: "one" }, options));
          return;
        }
        const stream = await greeter[method]!(options);
        const names = method === "ListReplies" ? ["one"] : ["one", "two", "three"];
        for (const name of names) await stream.write({ name });
        stream.closeWrite();
        const replies: string[] = [];
        for await (const { message } of stream) replies.push(message);
        reply = replies.join();
      };
      const code = await codeOf(run());
      return { code, reply, attempt };
    };

    for (
      const [method, reply] of [
        ["SayHello", "one"],
        ["ListReplies", "one"],
        ["Chat", "one,two,three"],
      ] as const
    ) {
      const failed = (code: Code, attempt: string): Outcome => ({
        code,
        reply: undefined,
        attempt,
      });
      assertEquals(await call(method, "0"), { code: undefined, reply, attempt: "0" });
      assertEquals(await call(method, "14,14,0"), { code: undefined, reply, attempt: "2" });
      assertEquals(await call(method, "14"), failed(Code.Unavailable, "3"));
      assertEquals(await call(method, "14,5"), failed(Code.NotFound, "1"));
      assertEquals(await call(method, "14@-1,0"), failed(Code.Unavailable, "0"));
      assertEquals(await call(method, "14@no,0"), failed(Code.Unavailable, "0"));
      if (foreign !== grpcCore) {
        // C-core sends but one of two values.
        assertEquals(await call(method, "14@10&20,0"), failed(Code.Unavailable, "0"));
      }
      const before = performance.now();
      assertEquals(await call(method, "14@300,0"), { code: undefined, reply, attempt: "1" });
      assert(performance.now() - before >= 300);
    }

    // The first hangs: whichever is first is given.
    assertEquals(await call("SumSizes", "0~2000,0"), {
      code: undefined,
      reply: "one",
      attempt: "1",
    });
    assertEquals((await call("SumSizes", "14")).code, Code.Unavailable);
    assertEquals((await call("SumSizes", "14,5")).code, Code.NotFound);
    assertEquals((await call("SumSizes", "14@-1,0")).code, Code.Unavailable);
    assertEquals((await call("SumSizes", "14@1,14,0")).attempt, "2");
  });
}
