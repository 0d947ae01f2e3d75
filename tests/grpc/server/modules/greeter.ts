/** A gRPC service as workers load it. */
import { grpc, protoc } from "@sluice/sluice";

/** The service, for its clients too. */
export const PROTO = `
  syntax = "proto3";
  package workers;
  service Greeter { rpc SayHello (HelloRequest) returns (HelloReply); }
  message HelloRequest { string name = 1; }
  message HelloReply { string message = 1; }
`;

/** Called in each worker. */
export default ({ index }: { index: number }): Omit<grpc.ServerOptions, "addr"> => {
  const registrar = new grpc.Registrar();
  registrar.register(new protoc.Loader().load(PROTO, "workers.proto"), {
    SayHello: ({ name }: { name: string }) => ({ message: `Hello ${name} from ${index}` }),
  });
  return { registrar };
};
