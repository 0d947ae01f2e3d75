/**
 * Connect's own clients of the protocols browsers speak, over `fetch`.
 *
 * @module
 */
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createFetchClient } from "@connectrpc/connect/protocol";
import { createTransport as connectTransport } from "@connectrpc/connect/protocol-connect";
import { createTransport as grpcWebTransport } from "@connectrpc/connect/protocol-grpc-web";

const TRANSPORTS = { connect: connectTransport, "grpc-web": grpcWebTransport };

const send = createFetchClient(fetch);

/** Makes a client of a service on a server. */
export function webClient<S extends DescService>(
  service: S,
  protocol: keyof typeof TRANSPORTS,
  addr: string,
  interceptors: Interceptor[] = [],
): Client<S> {
  return createClient(
    service,
    TRANSPORTS[protocol]({
      baseUrl: `http://${addr}`,
      // Those of fetch cannot be changed, which interceptors of clients may want.
      httpClient: async (request) => {
        const response = await send(request);
        return { ...response, header: new Headers(response.header) };
      },
      useBinaryFormat: true,
      interceptors,
      acceptCompression: [],
      sendCompression: null,
      compressMinBytes: 1024,
      readMaxBytes: 0xffffffff,
      writeMaxBytes: 0xffffffff,
    }),
  );
}
