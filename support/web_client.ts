/**
 * Connect's own clients of the protocols browsers speak, over `fetch`.
 *
 * @module
 */
import type { DescService } from "@bufbuild/protobuf";
import {
  type Client,
  createClient,
  type Interceptor,
  type StreamResponse,
  type Transport,
} from "@connectrpc/connect";
import { createFetchClient } from "@connectrpc/connect/protocol";
import { createTransport as connectTransport } from "@connectrpc/connect/protocol-connect";
import { createTransport as grpcWebTransport } from "@connectrpc/connect/protocol-grpc-web";

const TRANSPORTS = { connect: connectTransport, "grpc-web": grpcWebTransport };

/** Makes a client of a service on a server. */
export function webClient<S extends DescService>(
  service: S,
  protocol: keyof typeof TRANSPORTS,
  addr: string,
  interceptors: Interceptor[] = [],
): Client<S> {
  /** Connect leaves the body of a response that ends with an error unread: a call ends its own. */
  const begin = (): { transport: Transport; end(): Promise<void> } => {
    const responses: Bodies = [];
    const transport = TRANSPORTS[protocol]({
      baseUrl: `http://${addr}`,
      httpClient: createFetchClient((...request) => fetchInto(responses, ...request)),
      useBinaryFormat: true,
      interceptors,
      acceptCompression: [],
      sendCompression: null,
      compressMinBytes: 1024,
      readMaxBytes: 0xffffffff,
      writeMaxBytes: 0xffffffff,
    });
    return {
      transport,
      async end() {
        for (const body of responses) await body.cancel().catch(() => {});
      },
    };
  };
  return createClient(service, {
    async unary(...call) {
      const { transport, end } = begin();
      try {
        return await transport.unary(...call);
      } finally {
        await end();
      }
    },
    async stream(...call) {
      const { transport, end } = begin();
      try {
        const response = await transport.stream(...call);
        return { ...response, message: endedBy(response.message, end) } as StreamResponse<
          typeof call[0]["input"],
          typeof call[0]["output"]
        >;
      } catch (error) {
        await end();
        throw error;
      }
    },
  } as Transport);
}

type Bodies = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>[];

/** `fetch` that puts the body's reader in `bodies`; fields of its responses can be changed. */
async function fetchInto(
  bodies: Bodies,
  ...request: Parameters<typeof fetch>
): Promise<Response> {
  const { status, headers, body } = await fetch(...request);
  if (body === null) return new Response(null, { status, headers });
  const reader = body.getReader();
  bodies.push(reader);
  const copy = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(copy, { status, headers });
}

async function* endedBy<T>(
  messages: AsyncIterable<T>,
  end: () => Promise<void>,
): AsyncGenerator<T> {
  try {
    yield* messages;
  } finally {
    await end();
  }
}
