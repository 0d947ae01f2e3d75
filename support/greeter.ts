/** A service with one method of each kind, as text, for tests. */
import { protoc } from "@sluice/sluice";

export const GREETER_PROTO = `
syntax = "proto3";
package test;

service Greeter {
  rpc SayHello (Request) returns (Reply);
  rpc ListReplies (Request) returns (stream Reply);
  rpc SumSizes (stream Request) returns (Reply);
  rpc Chat (stream Request) returns (stream Reply);
}

message Request {
  string name = 1;
  bytes payload = 2;
  int32 count = 3;
}

message Reply {
  string message = 1;
  bytes payload = 2;
}
`;

const loader = new protoc.Loader();
/** The loaded file. */
export const GREETER = loader.load(GREETER_PROTO, "greeter.proto");

export interface Request {
  name: string;
  payload: Uint8Array;
  count: number;
}
