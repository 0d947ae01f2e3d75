import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, kv } from "@sluice/sluice";
import { cancelError, toKvError } from "../../kv/errors.ts";
import { recognise, SERVER_ERRORS } from "../../kv/server_errors.ts";

Deno.test("recognise() knows every text of the table, as a status and as a cancel reason", () => {
  assertEquals(SERVER_ERRORS.size, 68);
  for (const [text, { reason, code }] of SERVER_ERRORS) {
    assertEquals(recognise(text)?.reason, reason);
    assertEquals(recognise(`etcdserver: ${text}`)?.reason, reason);
    assertEquals(
      recognise(`rpc error: code = Unknown desc = etcdserver: ${text}`)?.reason,
      reason,
    );
    assert(code > 0 && code <= 16);
  }
  assertEquals(recognise("etcdserver: something new"), undefined);
  assertEquals(recognise("etcdserver: request timed out."), undefined);
});

Deno.test("toKvError() keeps text, code and cause, and names the reason", () => {
  const cause = new ConnectError("etcdserver: requested lease not found", Code.NotFound);
  const error = toKvError(cause);
  assertInstanceOf(error, kv.KvError);
  assertEquals(
    [error.name, error.message, error.code, error.reason, error.cause],
    ["KvError", "etcdserver: requested lease not found", 5, "LEASE_NOT_FOUND", cause],
  );
});

Deno.test("toKvError() takes the code the server sent, not the one of the table", () => {
  const error = toKvError(new ConnectError("etcdserver: not capable", Code.Unavailable));
  assertInstanceOf(error, kv.KvError);
  assertEquals([error.code, error.reason], [grpc.code.UNAVAILABLE, "NOT_CAPABLE"]);
});

Deno.test("toKvError() takes the code of the table where the server has none", () => {
  for (const [text, { reason, code }] of SERVER_ERRORS) {
    if (reason === "COMPACTED") continue;
    const error = toKvError(new ConnectError(text, Code.Unknown));
    assertInstanceOf(error, kv.KvError);
    assertEquals([error.code, error.reason], [code, reason], text);
  }
  const late = toKvError(new ConnectError("context deadline exceeded", Code.Unknown));
  assertInstanceOf(late, kv.KvError);
  assertEquals([late.code, late.reason], [grpc.code.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED"]);
  const strange = toKvError(new ConnectError("out of disk", Code.Unknown));
  assertInstanceOf(strange, kv.KvError);
  assertEquals([strange.code, strange.reason], [grpc.code.UNKNOWN, undefined]);
});

Deno.test("toKvError() gives compaction its class, leaves its own errors and TypeErrors", () => {
  const compacted = toKvError(
    new ConnectError("etcdserver: mvcc: required revision has been compacted", Code.OutOfRange),
  );
  assertInstanceOf(compacted, kv.CompactedError);
  assertEquals([compacted.reason, compacted.compactRevision], ["COMPACTED", 0n]);
  assertEquals(toKvError(compacted), compacted);
  const wrong = new TypeError("no");
  assertEquals(toKvError(wrong), wrong);
  const other = toKvError("a string");
  assertInstanceOf(other, kv.KvError);
  assertEquals([other.message, other.code], ["a string", grpc.code.UNKNOWN]);
});

Deno.test("toKvError() of an error without text gives its code's name", () => {
  assertEquals(toKvError(new ConnectError("", Code.Aborted)).message, "ABORTED");
});

Deno.test("cancelError() gives the reason, or says that there is none", () => {
  assertEquals(cancelError("").message, "the server ended the watch");
  assertEquals(cancelError("because").message, "the server ended the watch: because");
  assert(cancelError("because".repeat(1 << 20)).message.length < 5_000);
  const denied = cancelError(
    "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token",
  );
  assertEquals([denied.reason, denied.code], ["INVALID_AUTH_TOKEN", 16]);
});

Deno.test("errors are KvError and Error, each with its own name", () => {
  const cause = new kv.KvError("x", 14);
  const errors = [
    cause,
    new kv.UnknownOutcomeError("put", cause),
    new kv.CompactedError("x", 1n),
    new kv.HistoryLostError("x", "cluster"),
    new kv.WatchCanceledError("x", 1),
    new kv.LeaseLostError(1n, "expired"),
    new kv.ClientClosedError("put"),
  ];
  for (const error of errors) {
    assertInstanceOf(error, kv.KvError);
    assertInstanceOf(error, Error);
    assertEquals(error.name, error.constructor.name);
  }
  assertEquals(errors[1]!.message, "outcome of put is unknown: x");
  assertEquals(errors[1]!.cause, cause);
});
