/**
 * gRPC, HTTP and an etcd client for Deno, on one HTTP engine of its own, with a loader that turns
 * `.proto` text into working services at run time.
 *
 * ```ts ignore
 * import { grpc, protoc } from "@sluice/sluice";
 *
 * const loader = new protoc.Loader();
 * const file = loader.load(await Deno.readTextFile("hello.proto"), "hello.proto");
 *
 * const registrar = new grpc.Registrar();
 * registrar.register(file, { SayHello: ({ name }) => ({ message: `Hello ${name}` }) });
 * const server = grpc.listen({ addr: "127.0.0.1:50051", registrar });
 *
 * const conn = grpc.newClient({ targets: [server.addr] });
 * const greeter = grpc.newService(conn, file);
 * console.log(await greeter.SayHello({ name: "Deno" }, 1000));
 * ```
 *
 * @module
 */
export * as grpc from "./grpc/mod.ts";
export * as http from "./http/mod.ts";
export * as kv from "./kv/mod.ts";
export * as protoc from "./protoc/mod.ts";
