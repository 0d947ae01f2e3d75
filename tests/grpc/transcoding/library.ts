/** A service with HTTP rules of every kind, and a server for it. */
import type { Registry } from "@bufbuild/protobuf";
import { grpc, http, protoc } from "@sluice/sluice";

export const LIBRARY_PROTO = `
syntax = "proto3";
package library;

import "google/api/annotations.proto";
import "google/api/httpbody.proto";
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

// Books on shelves.
service Library {
  // Gives a book.
  rpc GetBook (GetBookRequest) returns (Book) {
    option (google.api.http) = {
      get: "/v1/{name=shelves/*/books/*}"
      additional_bindings { get: "/v1/isbn/{isbn}" }
    };
  }
  rpc ListBooks (ListBooksRequest) returns (ListBooksResponse) {
    option (google.api.http) = {
      get: "/v1/{parent=shelves/*}/books"
      additional_bindings { get: "/v1/titles" response_body: "titles" }
    };
  }
  rpc CreateBook (CreateBookRequest) returns (Book) {
    option (google.api.http) = { post: "/v1/{parent=shelves/*}/books" body: "book" };
  }
  rpc UpdateBook (UpdateBookRequest) returns (Book) {
    option (google.api.http) = { patch: "/v1/{book.name=shelves/*/books/*}" body: "book" };
  }
  rpc MoveBook (MoveBookRequest) returns (Book) {
    option (google.api.http) = { post: "/v1/{name=shelves/*/books/*}:move" body: "*" };
  }
  rpc DeleteBook (GetBookRequest) returns (Nothing) {
    option (google.api.http) = { delete: "/v1/{name=shelves/*/books/*}" };
  }
  rpc Everything (Kinds) returns (Kinds) {
    option (google.api.http) = {
      get: "/v1/kinds"
      additional_bindings { post: "/v1/kinds" body: "*" }
      additional_bindings { put: "/v1/kinds/{int32_value}/{inner.text=a/**}" body: "inners" }
    };
  }
  rpc Purge (Nothing) returns (Nothing) {
    option (google.api.http) = { custom { kind: "PURGE" path: "/v1/cache" } };
  }
  rpc AnyMethod (Nothing) returns (Book) {
    option (google.api.http) = { custom { kind: "*" path: "/any/**" } };
  }
  rpc Watch (ListBooksRequest) returns (stream Book) {
    option (google.api.http) = { get: "/v1/{parent=shelves/*}:watch" };
  }
  rpc AddAll (stream CreateBookRequest) returns (ListBooksResponse) {
    option (google.api.http) = { post: "/v1/{parent=shelves/*}/books:addAll" body: "*" };
  }
  rpc Chat (stream Book) returns (stream Book) {
    option (google.api.http) = { post: "/v1/chat" body: "*" };
  }
  rpc Upload (UploadRequest) returns (google.api.HttpBody) {
    option (google.api.http) = { post: "/v1/files/{path=**}" body: "file" };
  }
  rpc UploadParts (stream UploadRequest) returns (UploadReply) {
    option (google.api.http) = { put: "/v1/files/{path=**}" body: "file" };
  }
  rpc Download (UploadRequest) returns (stream google.api.HttpBody) {
    option (google.api.http) = { get: "/v1/files/{path=**}" };
  }
  rpc Unserved (Nothing) returns (Nothing) {
    option (google.api.http) = { get: "/v1/unserved" };
  }
  rpc Plain (Nothing) returns (Nothing);
}

message Nothing {}
message GetBookRequest { string name = 1; string isbn = 2; }
message Book {
  string name = 1;
  string title = 2;
  int64 pages = 3;
  Genre genre = 4;
}
enum Genre { GENRE_UNSPECIFIED = 0; FICTION = 1; POETRY = 2; }
message ListBooksRequest { string parent = 1; int32 page_size = 2; string page_token = 3; Book like = 4; }
message ListBooksResponse { repeated Book books = 1; string next_page_token = 2; repeated string titles = 3; }
message CreateBookRequest { string parent = 1; Book book = 2; string book_id = 3; }
message UpdateBookRequest { Book book = 1; google.protobuf.FieldMask update_mask = 2; }
message MoveBookRequest { string name = 1; string other_shelf = 2; }
message UploadRequest { string path = 1; google.api.HttpBody file = 2; }
message UploadReply { int64 size = 1; int32 parts = 2; string path = 3; }
message Inner { string text = 1; Inner inner = 2; repeated int32 numbers = 3; }
message Kinds {
  double double_value = 1;
  float float_value = 2;
  int32 int32_value = 3;
  int64 int64_value = 4;
  uint32 uint32_value = 5;
  uint64 uint64_value = 6;
  sint32 sint32_value = 7;
  sint64 sint64_value = 8;
  fixed32 fixed32_value = 9;
  fixed64 fixed64_value = 10;
  sfixed32 sfixed32_value = 11;
  sfixed64 sfixed64_value = 12;
  bool bool_value = 13;
  string string_value = 14;
  bytes bytes_value = 15;
  Genre genre = 16;
  Inner inner = 17;
  repeated int64 many_int64 = 18;
  repeated string many_string = 19;
  repeated Genre many_genre = 20;
  repeated bytes many_bytes = 21;
  map<string, int32> counts = 22;
  map<int64, Genre> genres = 23;
  google.protobuf.Timestamp time = 24;
  google.protobuf.Duration duration = 25;
  google.protobuf.FieldMask mask = 26;
  google.protobuf.StringValue wrapped_string = 27;
  google.protobuf.Int64Value wrapped_int64 = 28;
  google.protobuf.BoolValue wrapped_bool = 29;
  google.protobuf.BytesValue wrapped_bytes = 30;
  google.protobuf.Struct struct = 31;
  google.protobuf.Value value = 32;
  google.protobuf.Any any = 33;
  optional int32 maybe = 34;
  oneof choice { string one = 35; int32 other = 36; }
  repeated google.protobuf.Timestamp times = 37;
  repeated Inner inners = 38;
  google.protobuf.DoubleValue wrapped_double = 39;
}
`;

const loader = new protoc.Loader();
/** The loaded file. */
export const LIBRARY = loader.load(LIBRARY_PROTO, "library.proto");
/** Its types, for `Any`. */
export const REGISTRY: Registry = loader.registry;

/** Runs `visit` with a server of the handlers, and its URL. */
export async function withLibrary(
  handlers: grpc.Handlers,
  visit: (url: string, addr: string) => Promise<void>,
  settings: Partial<grpc.MountOptions> = {},
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(LIBRARY, handlers);
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, transcoding: true, ...settings }),
    handler: (stream) => new Response(`not a call: ${stream.method}`, { status: 418 }),
    limits: { drainTimeout: 500 },
  });
  await visit(`http://${server.addr}`, server.addr);
}
