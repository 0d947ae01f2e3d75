/** Compression of messages: by client, server, call and message, in both directions, on every protocol. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { compress, decompress, ENCODINGS, store } from "../../grpc/wire/compression.ts";
import { GREETER, type Request } from "../../support/greeter.ts";
import { Random } from "../../support/random.ts";
import { withGreeter } from "../../support/with_greeter.ts";

const LARGE = "x".repeat(5000);

for (const encoding of ENCODINGS) {
  Deno.test(`${encoding}: what is compressed or stored comes out as it was, whatever its size`, () => {
    const random = new Random(1);
    for (const size of [0, 1, 100, 5000, 128 << 10, (128 << 10) + 1, 700_000]) {
      const bytes = new Uint8Array(size).map((_, i) => i % 3 === 0 ? random.below(256) : 7);
      for (const put of [compress, store]) {
        const out = decompress(encoding, put(bytes, encoding), size);
        assertEquals(out.length, size);
        assert(bytes.every((byte, i) => out[i] === byte));
      }
      assert(store(bytes, encoding).length >= size);
    }
  });

  Deno.test(`${encoding}: output beyond the limit, and data that is cut or followed by more, are refused`, () => {
    const bytes = new Uint8Array(1 << 20);
    const small = compress(bytes, encoding);
    const large = assertThrows(() => decompress(encoding, small, bytes.length - 1), ConnectError);
    assertEquals(large.code, Code.ResourceExhausted);
    for (let cut = 1; cut < small.length; cut += Math.ceil(small.length / 50)) {
      const error = assertThrows(
        () => decompress(encoding, small.subarray(0, cut), 1 << 21),
        ConnectError,
      );
      assertEquals(error.code, Code.Internal, `${cut}`);
    }
    assertThrows(() => decompress(encoding, new Uint8Array([1, 2, 3, 4, 5]), 100), ConnectError);
  });
}

Deno.test("zstd: a few frames are a message, many and a window beyond 8 MiB are not", () => {
  const one = compress(new TextEncoder().encode(LARGE), "zstd");
  const frames = (n: number) => new Uint8Array(Array(n).fill([...one]).flat());
  assertEquals(decompress("zstd", frames(16), 16 * LARGE.length).length, 16 * LARGE.length);
  const error = assertThrows(() => decompress("zstd", frames(2), LARGE.length + 1), ConnectError);
  assertEquals(error.code, Code.ResourceExhausted);
  assertThrows(() => decompress("zstd", frames(17), 1 << 20), ConnectError, "corrupt");
  // A window of 2^31 bytes, and a block of one repeated byte.
  const wide = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 0x83, 0, 0, 65]);
  assertThrows(() => decompress("zstd", wide, 1 << 20), ConnectError, "corrupt");
});

/** What a server and its client see of one call. */
interface Seen {
  request: string;
  accepted: readonly string[];
  requestCompressed: boolean;
  response: string;
  responseCompressed: boolean;
  clientSees: string;
}

async function seen(
  server: Partial<grpc.ServerOptions>,
  client: Partial<grpc.ClientOptions>,
  call: grpc.CallOptions = {},
  handle: (context: grpc.CallContext) => void = () => {},
  mark: (message: { name: string }) => { name: string } = (message) => message,
  interceptors: grpc.ClientOptions["interceptors"] = [],
): Promise<Seen> {
  let result!: Seen;
  await withGreeter({
    SayHello(request: Request, context: grpc.CallContext) {
      handle(context);
      const { requestEncoding, acceptedEncodings, responseEncoding } = context;
      result = {
        request: requestEncoding,
        accepted: acceptedEncodings,
        requestCompressed: grpc.wasCompressed(request),
        response: responseEncoding,
        responseCompressed: false,
        clientSees: "",
      };
      return { message: LARGE };
    },
  }, async (greeter) => {
    const reply = await greeter.SayHello(mark({ name: LARGE }), {
      ...call,
      onEncoding: (encoding: string) => result.clientSees = encoding,
    });
    assertEquals(reply.message, LARGE);
    result.responseCompressed = grpc.wasCompressed(reply);
  }, { server, client: { interceptors: interceptors ?? [], ...client } });
  return result;
}

const ACCEPTED = ["identity", "gzip", "deflate", "zstd"];
const PLAIN: Seen = {
  request: "identity",
  accepted: ACCEPTED,
  requestCompressed: false,
  response: "identity",
  responseCompressed: false,
  clientSees: "identity",
};

Deno.test("nothing is compressed unless one side says so", async () => {
  assertEquals(await seen({}, {}), PLAIN);
});

for (const encoding of ENCODINGS) {
  Deno.test(`${encoding} is used in both directions, and both sides see it`, async () => {
    const both = {
      ...PLAIN,
      request: encoding,
      requestCompressed: true,
      response: encoding,
      responseCompressed: true,
      clientSees: encoding,
    };
    const on = { compress: true, encoding };
    assertEquals(await seen(on, on), both);
    assertEquals(await seen(on, {}, on), both);
    assertEquals(await seen({}, on, {}, (context) => context.responseEncoding = encoding), both);
    assertEquals(await seen({ encoding }, on, {}, (context) => context.compress = true), both);
  });
}

Deno.test("calls and handlers switch compression off", async () => {
  const on = { compress: true };
  assertEquals(
    await seen(on, on, { compress: false }, (context) => context.compress = false),
    PLAIN,
  );
  assertEquals(
    await seen(on, {}, {}, (context) => context.responseEncoding = "identity"),
    PLAIN,
  );
});

Deno.test("single requests are left out, through interceptors too", async () => {
  for (const interceptors of [[], [(next: (r: never) => unknown) => (r: never) => next(r)]]) {
    const one = await seen(
      {},
      { compress: true },
      {},
      () => {},
      (message) => grpc.uncompressed(message),
      interceptors as never,
    );
    assertEquals([one.request, one.requestCompressed], ["gzip", false]);
  }
});

Deno.test("single responses of streams are left out, by mark or by switch, through interceptors too", async () => {
  for (const interceptors of [[], [(next: (r: never) => unknown) => (r: never) => next(r)]]) {
    await withGreeter({
      async *ListReplies(_: Request, context: grpc.CallContext) {
        yield { message: LARGE };
        yield grpc.uncompressed({ message: LARGE });
        yield { message: "small" };
        context.compress = false;
        yield { message: LARGE };
        context.compress = true;
        yield { message: LARGE };
      },
    }, async (greeter) => {
      const compressed: boolean[] = [];
      for await (const reply of await greeter.ListReplies({})) {
        compressed.push(grpc.wasCompressed(reply));
      }
      assertEquals(compressed, [true, false, false, false, true]);
    }, { server: { compress: true, interceptors: interceptors as never } });
  }
});

Deno.test("single requests of streams are left out, and those that are sent again as well", async () => {
  await withGreeter({
    async SumSizes(requests: AsyncIterable<Request>) {
      const compressed: boolean[] = [];
      for await (const request of requests) compressed.push(grpc.wasCompressed(request));
      return { message: compressed.join() };
    },
  }, async (greeter) => {
    const stream = await greeter.SumSizes({ compress: true, encoding: "zstd" });
    await stream.write({ name: LARGE });
    await stream.write(grpc.uncompressed({ name: LARGE }));
    await stream.write({ name: LARGE });
    stream.closeWrite();
    assertEquals((await stream.read()).message, "true,false,true");
  });
});

Deno.test("what a response cannot be sent in is refused, and says what the client accepts", async () => {
  const faults: string[] = [];
  const attempt = (change: () => void) => {
    try {
      change();
      faults.push("taken");
    } catch (error) {
      faults.push((error as Error).message);
    }
  };
  await withGreeter({
    async *ListReplies(_: Request, context: grpc.CallContext) {
      attempt(() => context.responseEncoding = "br");
      attempt(() => context.compress = 1 as never);
      yield { message: LARGE };
      attempt(() => context.responseEncoding = "gzip");
      attempt(() => context.compress = true);
      attempt(() => context.compress = false);
      attempt(() => context.responseEncoding = "identity");
    },
  }, async (greeter) => {
    await Array.fromAsync(await greeter.ListReplies({}));
  });
  assertEquals(
    faults.map((fault) => fault.replace(/^Cannot answer \/test.Greeter\/ListReplies /, "")),
    [
      'as responseEncoding must be one that the client accepts, identity, gzip, deflate, zstd, and this library has, identity, gzip, deflate, zstd: current value is "br"',
      "as compress must be true or false: current value is 1",
      "with another responseEncoding as the response's header was sent: set it before the first response",
      "with another compress as the response's header was sent: set it before the first response",
      "taken",
      "taken",
    ],
  );
});

Deno.test("a client sees what a server accepts, and settings that are none are refused", async () => {
  const accepted: (readonly string[])[] = [];
  await withGreeter({ SayHello: () => ({}) }, async (greeter) => {
    const options = {
      compress: true,
      onEncoding: (_: string, names: readonly string[]) => {
        accepted.push(names);
      },
    };
    await greeter.SayHello({}, options);
    await assertRejects(() => greeter.SayHello({}, { encoding: "br" }), TypeError, "encoding");
    await assertRejects(() => greeter.SayHello({}, { compress: 1 }), TypeError, "compress");
  });
  assertEquals(accepted, [ACCEPTED]);
  assertThrows(
    () =>
      grpc.listen({ addr: "memory:", registrar: new grpc.Registrar(), encoding: "br" as never }),
    TypeError,
    "encoding",
  );
  assertThrows(
    () => grpc.newClient({ targets: ["a:1"], encoding: "snappy" as never }),
    TypeError,
    "encoding",
  );
});

for (const protocol of ["grpc-web", "connect"] as const) {
  Deno.test(`${protocol}: responses are compressed as the server says, and stored where a handler says so`, async () => {
    for (const encoding of ENCODINGS) {
      const registrar = new grpc.Registrar();
      const used: string[] = [];
      registrar.register(GREETER, {
        SayHello({ name }, context) {
          used.push(`${context.requestEncoding} ${context.responseEncoding}`);
          if (name === "switch") context.compress = false;
          const reply = { message: LARGE };
          return name === "mark" ? grpc.uncompressed(reply) : reply;
        },
        async *ListReplies() {
          yield { message: LARGE };
          yield grpc.uncompressed({ message: LARGE });
        },
      });
      await using server = http.listen({
        addr: "127.0.0.1:0",
        registrar: grpc.mount({ registrar, compress: true, encoding }),
      });
      await using conn = grpc.newClient({
        targets: [server.addr],
        protocol,
        compress: true,
        encoding,
      });
      const greeter = grpc.newService(conn, GREETER);
      const seen: string[] = [];
      const options = { onEncoding: (one: string) => void seen.push(one) };
      for (const name of ["mark", "switch", LARGE]) {
        assertEquals((await greeter.SayHello({ name }, options)).message, LARGE);
      }
      const replies: { message: string }[] = await Array.fromAsync(
        await greeter.ListReplies({}, options),
      );
      assertEquals(replies.map(({ message }) => message), [LARGE, LARGE]);
      assertEquals(used.at(-1), `${encoding} ${encoding}`);
      assertEquals(seen, Array(4).fill(encoding));
    }
  });
}
