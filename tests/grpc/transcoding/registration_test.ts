/** HTTP rules that cannot be served are refused where their service is registered. */
import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { grpc, protoc } from "@sluice/sluice";

let files = 0;

/** A file with a service of methods with those options; requests have the fields of `message`. */
function serviceOf(name: string, ...options: string[]) {
  const methods = options.map((option, i) =>
    `rpc M${i} (M) returns (M) { option (google.api.http) = { ${option} }; }`
  );
  return new protoc.Loader().load(
    `syntax = "proto3"; package p${files};
     import "google/api/annotations.proto";
     service ${name} { ${methods.join("\n")} }
     message M { string id = 1; M inner = 2; repeated string list = 3; map<string, string> map = 4; }`,
    `${name}${files++}.proto`,
  );
}

function mounted(options: boolean | grpc.TranscodingOptions = true): grpc.Registrar {
  const registrar = new grpc.Registrar();
  grpc.mount({ registrar, transcoding: options });
  return registrar;
}

Deno.test("rules that break the grammar, or name what is not there, are refused with why", () => {
  const registrar = mounted();
  for (
    const [option, why] of [
      ['body: "*"', "must have a pattern"],
      ['get: ""', "it must begin with /"],
      ['get: "v1"', "it must begin with /"],
      ['get: "/v1/"', "a segment must be"],
      ['get: "/v1//a"', "a segment must be"],
      ['get: "/v1/{id"', '"}" must stand at'],
      ['get: "/v1/{}"', "named by fields"],
      ['get: "/v1/{id={id}}"', "must not contain another"],
      ['get: "/v1/a*"', "a segment must be"],
      ['get: "/v1/{id=**}/**"', "once at most"],
      ['get: "/v1/{id}/{id}"', "different fields"],
      ['get: "/v1/{inner}/{inner.id}"', "different fields"],
      ['get: "/v1/{id}:"', "a verb must stand"],
      ['get: "/v1/{idd}"', 'did you mean "id"?'],
      ['get: "/v1/{id.x}"', '"id" is none'],
      ['get: "/v1/{list}"', "single value"],
      ['get: "/v1/{map}"', "single value"],
      ['get: "/v1/{inner}"', "single value"],
      ['post: "/v1" body: "innr"', 'did you mean "inner"?'],
      ['post: "/v1" body: "inner.id"', "body must name a field"],
      ['post: "/v1/{id}" body: "id"', "different fields"],
      ['get: "/v1" response_body: "x"', "response_body must name a field"],
      ['custom { kind: "get" path: "/v1" }', "in capitals"],
      ['custom { kind: "OPTIONS" path: "/v1" }', "in capitals"],
      ['custom { kind: "CONNECT" path: "/v1" }', "in capitals"],
      [`get: "/${"a/".repeat(64)}a"`, "<= 64 segments"],
      [`get: "/${"a".repeat(2048)}"`, "<= 2048 characters"],
    ] as const
  ) {
    const error = assertThrows(() => registrar.register(serviceOf("S", option), {}));
    assertInstanceOf(error, grpc.HttpRuleError, option);
    assertInstanceOf(error, TypeError);
    assert(error.message.includes(why), `${option}: ${error.message}`);
    assert(error.method.endsWith(".S/M0"));
  }
  assertEquals(registrar.services, []);
});

Deno.test("two rules for the same requests are refused, and nothing of their service stays", () => {
  const registrar = mounted();
  registrar.register(serviceOf("A", 'get: "/v1/{id}" additional_bindings { get: "/v2/{id}" }'), {});
  const twice = serviceOf("B", 'get: "/free"', 'get: "/v1/{inner.id=*}"');
  const error = assertThrows(() => registrar.register(twice, {}), grpc.HttpRuleError);
  assert(/p\d+\.A\/M0 has them by "\/v1\/\{id\}"/.test(error.message), error.message);
  assertEquals(error.template, "/v1/{inner.id=*}");
  assertEquals(registrar.services.map(({ name }) => name), ["A"]);
  // Its first rule was not kept either.
  registrar.register(
    serviceOf("C", 'get: "/free"', 'post: "/v1/{id}"', 'get: "/v1/{id}:verb"'),
    {},
  );
  const own = serviceOf("D", 'get: "/x" additional_bindings { get: "/x" }');
  assertThrows(() => registrar.register(own, {}), grpc.HttpRuleError, "one rule");
  // Encoded or not, it is one path.
  registrar.register(serviceOf("E", 'get: "/%7Euser"'), {});
  assertThrows(() => registrar.register(serviceOf("F", 'get: "/~user"'), {}), grpc.HttpRuleError);
});

Deno.test("rules of services that were registered before are checked by mount()", () => {
  const registrar = new grpc.Registrar();
  registrar.register(serviceOf("A", 'get: "/v1/{id"'), {});
  assertThrows(() => grpc.mount({ registrar, transcoding: true }), grpc.HttpRuleError);
  // Without transcoding nobody reads them.
  grpc.mount({ registrar });
});

Deno.test("maxRules limits the rules of all services together", () => {
  const registrar = mounted({ maxRules: 2 });
  registrar.register(serviceOf("A", 'get: "/a"'), {});
  const error = assertThrows(() =>
    registrar.register(serviceOf("B", 'get: "/b"', 'get: "/c"'), {})
  );
  assert((error as Error).message.includes("<= 2 rules in all"), String(error));
  registrar.register(serviceOf("C", 'get: "/b"'), {});
});

Deno.test("wrong options of transcoding are refused by name", () => {
  const registrar = new grpc.Registrar();
  for (
    const [transcoding, why] of [
      [1, "its options must be an object"],
      [{ enumsAsInteger: true }, 'did you mean "enumAsInteger"?'],
      [{ enumAsInteger: 1 }, "true or false"],
      [{ maxDepth: 0 }, "an integer from 1 to 1000"],
      [{ maxQueryParameters: -1 }, "an integer >= 0"],
      [{ requestHeaders: "x-a" }, "a list of names"],
      [{ requestHeaders: ["content-length"] }, "the application's"],
      [{ responseHeaders: ["x a"] }, "the application's"],
      [{ responseHeaders: [1] }, "the application's"],
    ] as const
  ) {
    const error = assertThrows(() => grpc.mount({ registrar, transcoding } as never), TypeError);
    assert(error.message.includes(why), error.message);
  }
});
