"""Runs all checks of echo.proto with gRPC C-core against a server and prints the results as JSON.

Arguments: host:port [ca.pem]. Each result is {"name", "ok", "detail"}.
"""

import json
import sys
import threading
import time
import traceback

import grpc

from echo_message import PATH, decode_response, encode_request

SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
checks = []


def check(function):
    checks.append(function)
    return function


def equal(actual, expected, what=""):
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")


def fails(code, call, message=None):
    try:
        call()
    except grpc.RpcError as error:
        equal(error.code(), code, f"code ({error.details()})")
        if message is not None:
            equal(error.details(), message, "message")
        return error
    raise AssertionError(f"expected {code}, got a result")


class Client:
    def __init__(self, channel):
        codec = dict(request_serializer=encode_request, response_deserializer=decode_response)
        self.unary = channel.unary_unary(PATH + "Unary", **codec)
        self.server_stream = channel.unary_stream(PATH + "ServerStream", **codec)
        self.client_stream = channel.stream_unary(PATH + "ClientStream", **codec)
        self.bidi_stream = channel.stream_stream(PATH + "BidiStream", **codec)
        self.missing = channel.unary_unary(PATH + "Missing", **codec)
        self.absent = channel.unary_unary("/sluice.test.v1.Absent/Unary", **codec)


@check
def unary(c):
    reply = c.unary({"text": "hello ☺", "payload": b"abc", "response_size": 5}, timeout=5)
    equal(reply["text"], "hello ☺")
    equal(reply["payload"], b"rrrrr")
    equal(reply["received_bytes"], 3)


@check
def unary_empty(c):
    equal(c.unary({}, timeout=5)["received"], 1)


@check
def unary_large(c):
    reply = c.unary({"payload": b"x" * 1048576, "response_size": 1048576}, timeout=20)
    equal(len(reply["payload"]), 1048576)
    equal(reply["received_bytes"], 1048576)


@check
def server_stream(c):
    replies = list(c.server_stream({"text": "s", "response_count": 10, "response_size": 1000}, timeout=5))
    equal([r["index"] for r in replies], list(range(10)))
    equal({len(r["payload"]) for r in replies}, {1000})


@check
def server_stream_empty(c):
    equal(list(c.server_stream({}, timeout=5)), [])


@check
def server_stream_many(c):
    count = sum(1 for _ in c.server_stream({"text": "s", "response_count": 5000}, timeout=20))
    equal(count, 5000)


@check
def client_stream(c):
    reply = c.client_stream(iter({"text": t, "payload": b"12"} for t in "abcde"), timeout=5)
    equal(reply["text"], "abcde")
    equal((reply["received"], reply["received_bytes"]), (5, 10))


@check
def client_stream_empty(c):
    equal(c.client_stream(iter([]), timeout=5)["received"], 0)


@check
def bidi_ping_pong(c):
    gate = threading.Semaphore(1)

    def requests():
        for i in range(20):
            gate.acquire()
            yield {"text": str(i)}

    seen = []
    for reply in c.bidi_stream(requests(), timeout=10):
        seen.append(reply["text"])
        gate.release()
    equal(seen, [str(i) for i in range(20)])


@check
def bidi_many(c):
    replies = list(c.bidi_stream(iter({"text": str(i)} for i in range(500)), timeout=20))
    equal([r["text"] for r in replies], [str(i) for i in range(500)])


@check
def bidi_empty(c):
    equal(list(c.bidi_stream(iter([]), timeout=5)), [])


@check
def every_code(c):
    for code in grpc.StatusCode:
        number = code.value[0]
        if number:
            message = f"code {number}"
            fails(code, lambda: c.unary({"code": number, "message": message}, timeout=5), message)


@check
def special_message(c):
    fails(grpc.StatusCode.UNKNOWN, lambda: c.unary({"code": 2, "message": SPECIAL}, timeout=5), SPECIAL)


@check
def status_after_messages(c):
    call = c.server_stream({"response_count": 3, "code": 9, "message": "then no"}, timeout=5)
    seen = []
    fails(grpc.StatusCode.FAILED_PRECONDITION, lambda: seen.extend(r["index"] for r in call), "then no")
    # `extend` keeps what came before the error.
    equal(seen, [0, 1, 2])


@check
def metadata(c):
    sent = (
        ("x-echo-header-a", "one"), ("x-echo-header-a", "two"),
        ("x-echo-header-b-bin", bytes(range(256))), ("x-echo-trailer-c", "three"),
        ("x-echo-trailer-d-bin", b"\x00\xff"), ("x-echo-trailer-d-bin", b"\xab"),
    )
    for call in (
        c.unary.with_call({"text": "m"}, metadata=sent, timeout=5)[1],
        drained(c.bidi_stream(iter([{"text": "m"}]), metadata=sent, timeout=5)),
    ):
        header = [(k, v) for k, v in call.initial_metadata() if k.startswith("x-echo")]
        trailer = [(k, v) for k, v in call.trailing_metadata() if k.startswith("x-echo")]
        equal(sorted(values(header)), sorted(values(sent[:3])), "header")
        equal(sorted(values(trailer)), sorted(values(sent[3:])), "trailer")


def drained(call):
    for _ in call:
        pass
    return call


def values(metadata):
    """Pairs with comma-joined ASCII values taken apart: a proxy or server may join them."""
    return [(k, part) for k, v in metadata
            for part in (v.replace(" ", "").split(",") if isinstance(v, str) else [v])]


@check
def metadata_with_error(c):
    error = fails(grpc.StatusCode.ABORTED, lambda: c.unary(
        {"code": 10, "message": "no"}, metadata=(("x-echo-trailer-c", "three"),), timeout=5))
    equal(dict(error.trailing_metadata()).get("x-echo-trailer-c"), "three")


@check
def header_first(c):
    call = c.server_stream({"response_count": 1, "delay_ms": 1000, "header_first": True},
                           metadata=(("x-echo-header-a", "early"),), timeout=5)
    started = time.monotonic()
    equal(dict(call.initial_metadata()).get("x-echo-header-a"), "early")
    waited = time.monotonic() - started
    if waited > 0.9:
        raise AssertionError(f"the header came after {waited:.3f} s, with the first message")
    equal(len(list(call)), 1)


@check
def deadline(c):
    started = time.monotonic()
    fails(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: c.unary({"delay_ms": 3000}, timeout=0.2))
    if time.monotonic() - started > 2:
        raise AssertionError("the deadline came late")


@check
def deadline_seen(c):
    remaining = c.unary({}, timeout=7)["remaining_ms"]
    # C-core may round what it sends up.
    if not 5000 < remaining <= 7100:
        raise AssertionError(f"server saw {remaining} ms of 7000")
    equal(c.unary({})["remaining_ms"], 0)


@check
def cancel(c):
    call = c.server_stream({"response_count": 1000, "delay_ms": 20})
    next(call)
    call.cancel()
    fails(grpc.StatusCode.CANCELLED, lambda: list(call))


@check
def cancel_bidi(c):
    event = threading.Event()

    def requests():
        yield {"text": "first"}
        event.wait(5)

    call = c.bidi_stream(requests())
    equal(next(call)["text"], "first")
    call.cancel()
    fails(grpc.StatusCode.CANCELLED, lambda: list(call))
    event.set()


@check
def unimplemented_method(c):
    fails(grpc.StatusCode.UNIMPLEMENTED, lambda: c.missing({}, timeout=5))


@check
def unimplemented_service(c):
    fails(grpc.StatusCode.UNIMPLEMENTED, lambda: c.absent({}, timeout=5))


@check
def gzip(c):
    reply = c.unary({"payload": b"x" * 100000, "response_size": 100000, "compress": True},
                    compression=grpc.Compression.Gzip, timeout=5)
    equal((reply["received_bytes"], len(reply["payload"])), (100000, 100000))
    replies = list(c.bidi_stream(
        iter({"payload": b"y" * 5000, "response_size": 5000, "compress": True} for _ in range(5)),
        compression=grpc.Compression.Gzip, timeout=5))
    equal([len(r["payload"]) for r in replies], [5000] * 5)


@check
def deflate(c):
    reply = c.unary({"payload": b"x" * 100000}, compression=grpc.Compression.Deflate, timeout=5)
    equal(reply["received_bytes"], 100000)


@check
def request_too_large(c):
    fails(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: c.unary({"payload": b"x" * 4194304}, timeout=20))


@check
def response_too_large(c):
    fails(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: c.unary({"response_size": 4194304}, timeout=20))


@check
def parallel(c):
    calls = [c.unary.future({"text": str(i)}, timeout=20) for i in range(200)]
    equal([call.result()["text"] for call in calls], [str(i) for i in range(200)])


def main():
    target = sys.argv[1]
    options = [("grpc.enable_http_proxy", 0)]
    if len(sys.argv) > 2:
        with open(sys.argv[2], "rb") as ca:
            channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(ca.read()), options)
    else:
        channel = grpc.insecure_channel(target, options)
    client = Client(channel)
    results = []
    for function in checks:
        result = {"name": function.__name__, "ok": True, "detail": ""}
        try:
            function(client)
        except Exception:
            result.update(ok=False, detail=traceback.format_exc())
        results.append(result)
    channel.close()
    print(json.dumps(results))


main()
