import {
  create,
  type DescFile,
  type JsonObject,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { assertEquals, assertThrows } from "@std/assert";
import { listen, newClient, newService, Registrar } from "../../../grpc/mod.ts";
import { Loader, messageOf } from "../../../protoc/mod.ts";
import type { Expect, Same } from "./same.ts";

const loader = new Loader();

const CHAT = loader.load(
  `// A comment with "quotes, { braces; and it's // not over
  syntax = "proto3";
  package chat.v1;
  import "google/protobuf/timestamp.proto";
  import "google/protobuf/struct.proto";
  import "google/protobuf/wrappers.proto";
  import public "google/protobuf/empty.proto";
  import "google/protobuf/descriptor.proto";
  extend google.protobuf.FieldOptions { string note = 50000; Aggregate more = 50001; }
  message Aggregate { string a = 1; repeated int32 b = 2; Aggregate c = 3; }
  option java_package = "com.example; message No { string no = 1; }";
  /* message Commented { string no = 1; } */
  service Chat {
    option deprecated = true;
    rpc Join (JoinRequest) returns (stream Event) { option idempotency_level = NO_SIDE_EFFECTS; }
    rpc send_all(stream .chat.v1.Event)returns(JoinRequest.Reply);
    rpc Talk ( stream  Event ) returns ( stream v1.Event ) {}
    rpc Leave (google.protobuf.Empty)
      returns (google.protobuf.Empty);
  }
  message JoinRequest {
    string room_name = 1 [(note) = "}; string no = 2 [", (more) = { a: "x" b: [1, 2] c { a: 'it''s' } }];
    optional int32 limit = 2;
    repeated Kind kinds = 3 [packed = false];
    map<string, Event> by_name = 4;
    map < int32 , bytes > by_id = 5;
    reserved 9, 12 to 14;
    reserved "old", 'older';
    message Reply { int64 count = 1; uint64 text = 2 [jstype = JS_STRING]; repeated sint64 texts = 3 [jstype=JS_STRING]; Kind kind = 4; }
    enum Kind { KIND_UNSPECIFIED = 0; KIND_OPEN = 1; KIND_LATE = -3 [deprecated = true]; }
  }
  message Event {
    oneof body { string text_body = 1; Event reply_to = 2; google.protobuf.StringValue wrapped = 3; JoinRequest.Kind kind = 4; };
    google.protobuf.Timestamp at = 5;
    google.protobuf.Struct extra = 6;
    google.protobuf.BoolValue flag = 7;
    repeated google.protobuf.BoolValue flags = 8;
    google.protobuf.NullValue nothing = 9;
    string constructor = 10; string __odd__name_ = 11;
    bytes
      data
      = 12;
  }
  message Empty {}` as const,
  "chat.proto",
);
type Known = NonNullable<(typeof CHAT)["~types"]>;
type Shape<Name extends keyof Known["messages"]> = MessageShape<Known["messages"][Name]>;
type Kind = 0 | 1 | -3 | (number & Record<never, never>);

/** Not used at run time: that these hold is what the compiler checks. */
export type Checks = [
  Expect<
    Same<
      keyof Known["messages"],
      | "chat.v1.Aggregate"
      | "chat.v1.JoinRequest"
      | "chat.v1.JoinRequest.Reply"
      | "chat.v1.Event"
      | "chat.v1.Empty"
    >
  >,
  Expect<Same<keyof Known["services"], "chat.v1.Chat">>,
  Expect<Same<Known["enums"], { readonly "chat.v1.JoinRequest.Kind": Kind }>>,
  Expect<
    Same<
      Shape<"chat.v1.JoinRequest">,
      Message<"chat.v1.JoinRequest"> & {
        roomName: string;
        limit?: number | undefined;
        kinds: Kind[];
        byName: { [key: string]: Shape<"chat.v1.Event"> };
        byId: { [key: number]: Uint8Array };
      }
    >
  >,
  Expect<
    Same<
      Shape<"chat.v1.JoinRequest.Reply">,
      Message<"chat.v1.JoinRequest.Reply"> & {
        count: bigint;
        text: string;
        texts: string[];
        kind: Kind;
      }
    >
  >,
  Expect<
    Same<
      Omit<Shape<"chat.v1.Event">, "body" | "flags">,
      Omit<
        Message<"chat.v1.Event"> & {
          at?: Timestamp | undefined;
          extra?: JsonObject | undefined;
          flag?: boolean | undefined;
          nothing: 0;
          constructor$: string;
          OddName: string;
          data: Uint8Array;
        },
        never
      >
    >
  >,
  Expect<
    Same<
      Shape<"chat.v1.Event">["body"]["case"],
      "textBody" | "replyTo" | "wrapped" | "kind" | undefined
    >
  >,
  Expect<Same<Shape<"chat.v1.Empty">, Message<"chat.v1.Empty">>>,
  Expect<
    Same<
      {
        [M in keyof Known["services"]["chat.v1.Chat"]["method"]]:
          Known["services"]["chat.v1.Chat"]["method"][M]["methodKind"];
      },
      {
        join: "server_streaming";
        send_all: "client_streaming";
        talk: "bidi_streaming";
        leave: "unary";
      }
    >
  >,
];

const EDITION = loader.load(
  `edition = "2023"; package e; option features.enum_type = CLOSED; option features.field_presence = IMPLICIT;
   enum Closed { A = 1; B = 2; } enum Open { option features.enum_type = OPEN; Z = 0; }
   message M { int32 one = 1 [features.field_presence = EXPLICIT]; Closed c = 2 [features.field_presence = LEGACY_REQUIRED]; M m = 3 [features.message_encoding = DELIMITED]; }` as const,
  "edition.proto",
);
type Edition = NonNullable<(typeof EDITION)["~types"]>;
export type EditionChecks = [
  Expect<Same<Edition["enums"]["e.Closed"], 1 | 2>>,
  Expect<Same<Edition["enums"]["e.Open"], 0 | (number & Record<never, never>)>>,
];

const PROTO2 = loader.load(
  `message Old { required int32 a = 1; optional string b = 2 [default = "x; } {"]; extensions 100 to max; enum E { ONE = 1; TWO = 2; } optional E e = 3 [default = TWO]; }` as const,
  "old.proto",
);
type Old = NonNullable<(typeof PROTO2)["~types"]>;
export type OldChecks = [
  Expect<
    Same<MessageShape<Old["messages"]["Old"]>, Message<"Old"> & { a: number; b: string; e: 1 | 2 }>
  >,
];

Deno.test("handlers, clients and create() know the types of a text as const", async () => {
  const registrar = new Registrar();
  registrar.register(CHAT, {
    async *Join({ roomName, limit }, context) {
      for (let i = 0; i < (limit ?? 1); i++) {
        yield { body: { case: "textBody", value: `${roomName} ${await Promise.resolve(i)}` } };
      }
      // @ts-expect-error There is no such property.
      assertEquals(context.nothing, undefined);
    },
    send_all: async (events) => {
      let count = 0n;
      for await (const { body } of events) if (body.case === "replyTo") count++;
      return { count, kind: 1 };
    },
  });
  await using server = listen({ addr: "127.0.0.1:0", registrar });
  await using conn = newClient({ targets: [server.addr] });
  const chat = newService(conn, CHAT, "chat.v1.Chat");
  const events = await chat.Join({ roomName: "den", limit: 2 });
  const first = await events.read();
  assertEquals(first?.body.value, "den 0");
  events.close();
  const sending = await newService(conn, CHAT).send_all();
  await sending.write({ body: { case: "replyTo", value: { at: { seconds: 5n } } } });
  await sending.closeWrite();
  assertEquals((await sending.read())?.count satisfies bigint | undefined, 1n);
  const event = create(messageOf(CHAT, "Event"), { data: new Uint8Array(2), constructor$: "c" });
  assertEquals(event.data.length satisfies number, 2);
  assertEquals(event.constructor$, "c");
});

Deno.test("wrong names and types beside a text as const are errors of the compiler", () => {
  const bad = {
    // deno-lint-ignore no-explicit-any
    register: (..._: any[]) => {},
  } as unknown as Registrar;
  bad.register(CHAT, {
    // @ts-expect-error The request has no such field.
    Join: async function* ({ roomNam: _ }) {},
  });
  // @ts-expect-error There is no such method.
  bad.register(CHAT, { Jion: () => {} });
  // @ts-expect-error There is no such service.
  bad.register(CHAT, "Chatt", {});
  // @ts-expect-error A field of a message is of another type.
  create(messageOf(CHAT, "JoinRequest"), { roomName: 5 });
  // @ts-expect-error There is no such message.
  assertThrows(() => messageOf(CHAT, "JoinReqest"), TypeError, 'Cannot find message "JoinReqest"');
  // @ts-expect-error Closed enums have no other values.
  create(messageOf(EDITION, "M"), { c: 3 });
});

Deno.test("text that the compiler does not know, or cannot read, gives what it always gave", () => {
  const text = 'syntax = "proto3"; service S { rpc Do(M) returns (M); } message M {}';
  const group = "message G { repeated group Part = 1 { optional int32 a = 1; } }" as const;
  const files: DescFile[] = [
    loader.load(text, "text.proto"),
    loader.load(new TextEncoder().encode(text), "text.proto"),
    loader.load(`${text}`, "text.proto"),
  ];
  const unread = loader.load(group, "group.proto");
  type Unread = Expect<Same<typeof unread, DescFile>>;
  const ok: Unread = true;
  assertEquals(ok, true);
  assertEquals(messageOf(unread, "G").fields.length, 1);
  new Registrar().register(files[0]!, { Do: ({ anything }) => anything });
  // References to files that the text does not hold are any; what it holds is known.
  loader.load('syntax = "proto3"; package far; message Away {} enum Off { Z = 0; }', "far.proto");
  const near = loader.load(
    `syntax = "proto3"; import "far.proto"; message Near { far.Away away = 1; string name = 2; far.Off off = 3; }
     service Far { rpc Do(far.Away) returns (Near); }` as const,
    "near.proto",
  );
  const made = create(messageOf(near, "Near"), { name: "n" });
  assertEquals([made.name satisfies string, made.away?.what?.ever], ["n", undefined]);
  new Registrar().register(near, { Do: ({ anything }) => ({ name: anything }) });
});

Deno.test("messageOf() finds messages by full names and by names inside of the package", () => {
  for (const name of ["chat.v1.JoinRequest.Reply", "JoinRequest.Reply"] as const) {
    assertEquals(messageOf(CHAT, name).typeName, "chat.v1.JoinRequest.Reply");
  }
  const file: DescFile = CHAT;
  assertThrows(
    () => messageOf(file, "Nothing"),
    TypeError,
    "it has Aggregate, JoinRequest, Event, Empty",
  );
});
