/** A service for pages that show a server at work: quick calls, failing ones, and some that wait. */
import { Code, ConnectError, type Registrar } from "../grpc/mod.ts";
import { Loader } from "../protoc/mod.ts";

/** Its file. */
export const workFile = new Loader().load(
  `
  syntax = "proto3";
  package debug;
  service Work {
    rpc Quick (Task) returns (Done);
    rpc Hang (Task) returns (Done);
    rpc Watch (Task) returns (stream Done);
  }
  message Task { bool fail = 1; int32 ms = 2; }
  message Done { bytes data = 1; }
  `,
  "work.proto",
);

/** Registers it. `hanging` resolves when a call waits; `release` lets those that wait end. */
export function registerWork(
  registrar: Registrar,
): { readonly hanging: Promise<void>; release(): void } {
  const hanging = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  registrar.register(workFile, {
    async Quick({ fail, ms }) {
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
      if (fail) throw new ConnectError("it was asked to", Code.Internal);
      return {};
    },
    async Hang() {
      hanging.resolve();
      await released.promise;
      return {};
    },
    async *Watch() {
      yield { data: new Uint8Array(1000) };
      await released.promise;
    },
  });
  return { hanging: hanging.promise, release: () => released.resolve() };
}
