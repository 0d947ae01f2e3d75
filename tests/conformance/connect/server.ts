/**
 * The server under test: reads on standard input how it shall listen, serves, and says where.
 *
 * @module
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { grpc } from "@sluice/sluice";
import { readFrames, writeFrame } from "./frame.ts";
import { messageType, type ServerCompatRequest, SERVICE } from "./schema.ts";
import { handlers } from "./service.ts";

const decoder = new TextDecoder();

function serve(request: ServerCompatRequest): grpc.GrpcServer {
  const registrar = new grpc.Registrar();
  registrar.register(SERVICE.file, handlers);
  const { useTls, serverCreds, clientTlsCert, messageReceiveLimit } = request;
  return grpc.listen({
    addr: "127.0.0.1:0",
    registrar,
    compress: true,
    ...(messageReceiveLimit === 0 ? {} : { maxReceiveSize: messageReceiveLimit }),
    ...(!useTls || serverCreds === undefined ? {} : {
      tls: true,
      certs: [{ cert: decoder.decode(serverCreds.cert), key: decoder.decode(serverCreds.key) }],
    }),
    ...(clientTlsCert.length === 0
      ? {}
      : { clientCa: decoder.decode(clientTlsCert), requireClientCert: true }),
  });
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
