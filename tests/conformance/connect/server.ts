/**
 * The server under test: reads on standard input how it shall listen, serves, and says where.
 *
 * @module
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { grpc, http } from "@sluice/sluice";
import { readFrames, writeFrame } from "./frame.ts";
import { messageType, Protocol, type ServerCompatRequest, SERVICE } from "./schema.ts";
import { handlers } from "./service.ts";

const decoder = new TextDecoder();

function serve(request: ServerCompatRequest): { readonly port: number } {
  const registrar = new grpc.Registrar();
  registrar.register(SERVICE.file, handlers);
  const { useTls, serverCreds, clientTlsCert, messageReceiveLimit } = request;
  const where = {
    addr: "127.0.0.1:0",
    ...(!useTls || serverCreds === undefined ? {} : {
      tls: true,
      certs: [{ cert: decoder.decode(serverCreds.cert), key: decoder.decode(serverCreds.key) }],
    }),
    ...(clientTlsCert.length === 0
      ? {}
      : { clientCa: decoder.decode(clientTlsCert), requireClientCert: true }),
  };
  const settings = {
    registrar,
    compress: true,
    ...(messageReceiveLimit === 0 ? {} : { maxReceiveSize: messageReceiveLimit }),
  };
  return request.protocol === Protocol.GRPC
    ? grpc.listen({ ...where, ...settings })
    : http.listen({ ...where, registrar: grpc.mount(settings) });
}

for await (const frame of readFrames()) {
  const request = fromBinary(messageType("ServerCompatRequest"), frame) as ServerCompatRequest;
  const server = serve(request);
  const response = messageType("ServerCompatResponse");
  writeFrame(toBinary(
    response,
    create(response, {
      host: "127.0.0.1",
      port: server.port,
      ...(request.useTls ? { pemCert: request.serverCreds!.cert } : {}),
    }),
  ));
}
