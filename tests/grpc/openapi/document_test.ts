import { assert, assertEquals, assertThrows } from "@std/assert";
import { grpc, protoc } from "@sluice/sluice";
import { peerTest } from "../../../support/peers.ts";
import { LIBRARY, LIBRARY_PROTO } from "../transcoding/library.ts";
import { VALIDATOR, Validator } from "./validator.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const info = { title: "Library", version: "1.2.3", description: "Books." };

function load(text: string): grpc.OpenApiDocument {
  const file = new protoc.Loader({ sourceInfo: true }).load(text, "a.proto");
  return grpc.openapi([file], { info });
}

const documented: Any = grpc.openapi(
  [new protoc.Loader({ sourceInfo: true }).load(LIBRARY_PROTO, "library.proto")],
  { info, servers: [{ url: "https://library.example" }] },
);

Deno.test("a document has an operation for each rule, with its parameters, body and responses", () => {
  assertEquals(documented.openapi, "3.1.1");
  assertEquals(documented.info, info);
  assertEquals(documented.servers, [{ url: "https://library.example" }]);
  assertEquals(documented.tags, [{ name: "library.Library", description: "Books on shelves." }]);
  assertEquals(
    Object.entries(documented.paths).map(([path, item]) =>
      `${Object.keys(item as object).join()} ${path}`
    ),
    [
      "post /v1/chat",
      "get,put,post /v1/files/{path}",
      "get /v1/isbn/{isbn}",
      "get,post /v1/kinds",
      "put /v1/kinds/{int32Value}/a/{inner_text}",
      "get,post /v1/shelves/{shelf}/books",
      "get,delete,patch /v1/shelves/{shelf}/books/{book}",
      "post /v1/shelves/{shelf}/books/{book}:move",
      "post /v1/shelves/{shelf}/books:addAll",
      "get /v1/shelves/{shelf}:watch",
      "get /v1/titles",
      "get /v1/unserved",
    ],
  );
  const item = documented.paths["/v1/shelves/{shelf}/books/{book}"];
  assertEquals(item.get, {
    operationId: "Library_GetBook",
    tags: ["library.Library"],
    summary: "Gives a book.",
    parameters: [
      {
        name: "shelf",
        in: "path",
        required: true,
        description: "Part of `name`.",
        schema: { type: "string", minLength: 1 },
      },
      {
        name: "book",
        in: "path",
        required: true,
        description: "Part of `name`.",
        schema: { type: "string", minLength: 1 },
      },
      { name: "isbn", in: "query", schema: { type: "string" } },
    ],
    responses: {
      200: {
        description: "The call succeeded.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/library.Book" } } },
      },
      default: {
        description: "The call failed.",
        content: {
          "application/json": { schema: { $ref: "#/components/schemas/google.rpc.Status" } },
        },
      },
    },
  });
  const move = documented.paths["/v1/shelves/{shelf}/books/{book}:move"].post;
  assertEquals(move.requestBody.content["application/json"].schema.properties, {
    otherShelf: { type: "string" },
  });
  const { content } = documented.paths["/v1/titles"].get.responses[200];
  assertEquals(content["application/json"].schema, { type: "array", items: { type: "string" } });
  assertEquals(
    Object.keys(documented.paths["/v1/shelves/{shelf}:watch"].get.responses[200].content),
    ["application/x-ndjson", "text/event-stream"],
  );
  assertEquals(documented.paths["/v1/files/{path}"].post.requestBody.content, {
    "*/*": { schema: {} },
  });
  const query = documented.paths["/v1/kinds"].get.parameters.map(({ name }: Any) => name);
  assert(query.includes("inner.numbers") && query.includes("counts") && !query.includes("any"));
});

Deno.test("schemas are those of protobuf's JSON", () => {
  const { Kinds } = Object.fromEntries(
    Object.entries(documented.components.schemas).map(([name, schema]) => [
      name.replace("library.", ""),
      schema,
    ]),
  ) as Any;
  const of = (name: string) => Kinds.properties[name];
  assertEquals(of("int64Value").type, "string");
  assertEquals(of("uint32Value").maximum, 4294967295);
  assertEquals(of("bytesValue").contentEncoding, "base64");
  assertEquals(of("genre"), { $ref: "#/components/schemas/library.Genre" });
  assertEquals(of("counts").additionalProperties.type, "integer");
  assertEquals(of("manyInt64").items.type, "string");
  assertEquals(of("time"), { type: "string", format: "date-time" });
  assertEquals(of("wrappedInt64").type, "string");
  assertEquals(of("struct"), { type: "object", additionalProperties: true });
  assertEquals(of("value"), {});
  assertEquals(Object.keys(of("any").properties), ["@type"]);
  assertEquals(of("doubleValue").anyOf.length, 2);
  assertEquals(Kinds.additionalProperties, false);
  assertEquals(Kinds.allOf, [{
    oneOf: [
      { required: ["one"] },
      { required: ["other"] },
      { not: { anyOf: [{ required: ["one"] }, { required: ["other"] }] } },
    ],
  }]);
  assertEquals(documented.components.schemas["library.Genre"], {
    type: "string",
    enum: ["GENRE_UNSPECIFIED", "FICTION", "POETRY"],
  });
  const other: Any = grpc.openapi([LIBRARY], {
    info,
    transcoding: { enumAsInteger: true, useProtoFieldName: true, ignoreUnknownFields: true },
  });
  const schemas = other.components.schemas;
  assertEquals(schemas["library.Genre"], { type: "integer", enum: [0, 1, 2] });
  assert("int64_value" in schemas["library.Kinds"].properties);
  assert(!("additionalProperties" in schemas["library.Kinds"]));
});

Deno.test("comments, deprecation and the behavior of fields are told", () => {
  const document: Any = load(`
    syntax = "proto3";
    package a;
    import "google/api/annotations.proto";
    import "google/api/field_behavior.proto";
    // A service.
    service S {
      // Does it.
      //
      // At length.
      rpc Do (M) returns (M) {
        option deprecated = true;
        option (google.api.http) = { post: "/do" body: "*" };
      }
    }
    // A message.
    message M {
      // Its name.
      string name = 1 [(google.api.field_behavior) = REQUIRED, (google.api.field_behavior) = IMMUTABLE];
      string id = 2 [(google.api.field_behavior) = OUTPUT_ONLY]; // Made here.
      M inner = 3 [deprecated = true];
      Kind kind = 4;
    }
    // A kind.
    enum Kind {
      // Nothing said.
      UNKNOWN = 0;
      GOOD = 1;
    }
  `);
  const { post } = document.paths["/do"];
  assertEquals([post.summary, post.description, post.deprecated], [
    "Does it.",
    "Does it.\n\nAt length.",
    true,
  ]);
  assertEquals(document.components.schemas["a.M"], {
    type: "object",
    description: "A message.",
    properties: {
      name: { type: "string", description: "Its name." },
      id: { type: "string", description: "Made here.", readOnly: true },
      inner: { $ref: "#/components/schemas/a.M", deprecated: true },
      kind: { $ref: "#/components/schemas/a.Kind" },
    },
    required: ["name"],
    additionalProperties: false,
  });
  assertEquals(
    document.components.schemas["a.Kind"].description,
    "A kind.\n\n- UNKNOWN: Nothing said.",
  );
});

Deno.test("a document does not change with the order of services, and ids stay apart", () => {
  const text = (name: string, path: string) => `
    syntax = "proto3"; package ${name}; import "google/api/annotations.proto";
    service S { rpc Get (M) returns (M) { option (google.api.http) = {
      get: "${path}/{id}" additional_bindings { get: "${path}/x/{id}" } }; } }
    message M { string id = 1; }`;
  const loader = new protoc.Loader();
  const [a, b] = ["a", "b"].map((name) => loader.load(text(name, `/${name}`), `${name}.proto`));
  const document: Any = grpc.openapi([a!, b!], { info });
  assertEquals(JSON.stringify(document), JSON.stringify(grpc.openapi([b!, a!], { info })));
  const ids = Object.values(document.paths).flatMap((item) =>
    Object.values(item as Any).map((operation) => (operation as Any).operationId)
  );
  assertEquals(
    ids,
    ["S_Get2", "S_Get", "b_S_Get2", "b_S_Get"].sort((x, y) => ids.indexOf(x) - ids.indexOf(y)),
  );
  assertEquals(new Set(ids).size, 4);
  const registrar = new grpc.Registrar();
  registrar.register(a!, {});
  assertEquals(Object.keys(grpc.openapi(registrar, { info }).paths).length, 2);
});

Deno.test("openapi() refuses what it cannot describe", () => {
  const wrong = (source: unknown, options: unknown) =>
    assertThrows(() => grpc.openapi(source as never, options as never), TypeError);
  assertEquals(wrong({}, { info }).message.includes("give a Registrar"), true);
  assertEquals(wrong([1], { info }).message.includes("give a Registrar"), true);
  assertEquals(wrong([], { info: {} }).message.includes("title and version"), true);
  assertEquals(wrong([], {}).message.includes("title and version"), true);
  assertEquals(wrong([], { info, server: [] }).message.includes('did you mean "servers"?'), true);
  assertEquals(wrong([], { info, servers: "x" }).message.includes("a list"), true);
});

peerTest("documents are valid OpenAPI 3.1", {
  needs: [[
    "@seriousme/openapi-schema-validator",
    VALIDATOR,
    "npm install @seriousme/openapi-schema-validator in $SLUICE_PEERS",
  ]],
}, async () => {
  await using validator = new Validator();
  assertEquals(await validator.fault(documented), null);
  assertEquals(await validator.fault(grpc.openapi([], { info })), null);
  assert(await validator.fault({ ...documented, paths: [] }) !== null);
});
