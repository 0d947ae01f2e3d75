"""gRPC's interoperability service and its cases by grpcio, which is C-core.

`peer.py DESCRIPTORS server 127.0.0.1:1 [certificate key]` serves until it is ended.
`peer.py DESCRIPTORS client 127.0.0.1:1 [authority name]` runs each case and prints a line for it.
DESCRIPTORS is a file with the descriptor set of test_service.proto.
"""
import concurrent.futures
import queue
import sys
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "/grpc.testing.TestService/"
INITIAL = "x-grpc-test-echo-initial"
TRAILING = "x-grpc-test-echo-trailing-bin"
ENOUGH = 20
SIZES = ((31415, 27182), (9, 8), (2653, 1828), (58979, 45904))
SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001F608\t\n"


class Messages:
    """Classes of messages by name."""

    def __init__(self, path):
        pool = descriptor_pool.DescriptorPool()
        with open(path, "rb") as file:
            descriptors = descriptor_pb2.FileDescriptorSet.FromString(file.read())
        for file in descriptors.file:
            pool.Add(file)
        self._pool = pool
        self._factory = message_factory.MessageFactory(pool)

    def __getattr__(self, name):
        descriptor = self._pool.FindMessageTypeByName("grpc.testing." + name)
        if hasattr(message_factory, "GetMessageClass"):
            return message_factory.GetMessageClass(descriptor)
        return self._factory.GetPrototype(descriptor)


pb = Messages(sys.argv[1])
METHODS = {
    "EmptyCall": ("unary_unary", "Empty", "Empty"),
    "UnaryCall": ("unary_unary", "SimpleRequest", "SimpleResponse"),
    "StreamingOutputCall":
        ("unary_stream", "StreamingOutputCallRequest", "StreamingOutputCallResponse"),
    "StreamingInputCall":
        ("stream_unary", "StreamingInputCallRequest", "StreamingInputCallResponse"),
    "FullDuplexCall":
        ("stream_stream", "StreamingOutputCallRequest", "StreamingOutputCallResponse"),
}


# --- Server


def echo_metadata(context):
    metadata = dict(context.invocation_metadata())
    if INITIAL in metadata:
        context.send_initial_metadata(((INITIAL, metadata[INITIAL]),))
    if TRAILING in metadata:
        context.set_trailing_metadata(((TRAILING, metadata[TRAILING]),))


def echo_status(request, context):
    status = request.response_status
    if status.code:
        code = next(code for code in grpc.StatusCode if code.value[0] == status.code)
        context.abort(code, status.message)


def compress(flag, context):
    """Responses are compressed where the request says so."""
    if not flag:
        context.disable_next_message_compression()


def empty_call(_request, _context):
    return pb.Empty()


def unary_call(request, context):
    context.set_compression(
        grpc.Compression.Gzip if request.response_compressed.value else
        grpc.Compression.NoCompression
    )
    echo_metadata(context)
    echo_status(request, context)
    return pb.SimpleResponse(payload={"body": bytes(request.response_size)})


def streaming_output_call(request, context):
    yield from outputs(request, context)
    echo_status(request, context)


def streaming_input_call(requests, _context):
    return pb.StreamingInputCallResponse(
        aggregated_payload_size=sum(len(request.payload.body) for request in requests)
    )


def full_duplex_call(requests, context):
    echo_metadata(context)
    for request in requests:
        echo_status(request, context)
        yield from outputs(request, context)


def outputs(request, context):
    if any(wanted.compressed.value for wanted in request.response_parameters):
        context.set_compression(grpc.Compression.Gzip)
    for wanted in request.response_parameters:
        time.sleep(wanted.interval_us / 1e6)
        compress(wanted.compressed.value, context)
        yield pb.StreamingOutputCallResponse(payload={"body": bytes(wanted.size)})


def read(path):
    with open(path, "rb") as file:
        return file.read()


def serve(addr, files):
    handlers = {
        "EmptyCall": empty_call, "UnaryCall": unary_call,
        "StreamingOutputCall": streaming_output_call,
        "StreamingInputCall": streaming_input_call, "FullDuplexCall": full_duplex_call,
    }
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "grpc.testing.TestService", {
            name: getattr(grpc, METHODS[name][0] + "_rpc_method_handler")(
                handler, request_deserializer=getattr(pb, METHODS[name][1]).FromString,
                response_serializer=getattr(pb, METHODS[name][2]).SerializeToString,
            ) for name, handler in handlers.items()
        },
    ),))
    if files:
        certificate, key = map(read, files)
        server.add_secure_port(addr, grpc.ssl_server_credentials(((key, certificate),)))
    else:
        server.add_insecure_port(addr)
    server.start()
    server.wait_for_termination()


# --- Client


class Client:
    """The methods by name."""

    def __init__(self, channel):
        for name, (kind, request, response) in METHODS.items():
            setattr(self, name, getattr(channel, kind)(
                SERVICE + name, request_serializer=getattr(pb, request).SerializeToString,
                response_deserializer=getattr(pb, response).FromString,
            ))
        self.channel = channel


def equal(actual, expected):
    if actual != expected:
        raise ValueError(f"{actual!r} instead of {expected!r}")


def fails(call, code, message=None):
    """Holds that `call()` fails with a code."""
    try:
        call()
    except grpc.RpcError as error:
        equal(error.code(), code)
        if message is not None:
            equal(error.details(), message)
        return
    raise ValueError("the call did not fail")


class Requests:
    """Requests of a stream, given one by one."""

    def __init__(self):
        self._queue = queue.Queue()

    def __iter__(self):
        return iter(self._queue.get, None)

    def give(self, request):
        self._queue.put(request)

    def end(self):
        self._queue.put(None)


def large(**fields):
    return pb.SimpleRequest(response_size=314159, payload={"body": bytes(271828)}, **fields)


def output(size, body, interval_us=0):
    return pb.StreamingOutputCallRequest(
        response_parameters=[{"size": size, "interval_us": interval_us}],
        payload={"body": bytes(body)},
    )


def empty_unary(client):
    equal(client.EmptyCall(pb.Empty(), timeout=ENOUGH), pb.Empty())


def large_unary(client):
    equal(len(client.UnaryCall(large(), timeout=ENOUGH).payload.body), 314159)


def client_streaming(client):
    requests = (pb.StreamingInputCallRequest(payload={"body": bytes(body)}) for _, body in SIZES)
    equal(client.StreamingInputCall(requests, timeout=ENOUGH).aggregated_payload_size, 74922)


def server_streaming(client):
    request = pb.StreamingOutputCallRequest(
        response_parameters=[{"size": size} for size, _ in SIZES]
    )
    responses = client.StreamingOutputCall(request, timeout=ENOUGH)
    equal([len(response.payload.body) for response in responses], [size for size, _ in SIZES])


def ping_pong(client):
    requests = Requests()
    responses = client.FullDuplexCall(iter(requests), timeout=ENOUGH)
    for size, body in SIZES:
        requests.give(output(size, body))
        equal(len(next(responses).payload.body), size)
    requests.end()
    equal(list(responses), [])


def empty_stream(client):
    equal(list(client.FullDuplexCall(iter(()), timeout=ENOUGH)), [])


def timeout_on_sleeping_server(client):
    requests = Requests()
    responses = client.FullDuplexCall(iter(requests), timeout=0.001)
    requests.give(output(31415, 27182, interval_us=1_000_000))
    fails(lambda: next(responses), grpc.StatusCode.DEADLINE_EXCEEDED)
    requests.end()


def cancel_after_begin(client):
    requests = Requests()
    call = client.StreamingInputCall.future(iter(requests), timeout=ENOUGH)
    call.cancel()
    equal([call.cancelled(), call.code()], [True, grpc.StatusCode.CANCELLED])
    requests.end()


def cancel_after_first_response(client):
    requests = Requests()
    responses = client.FullDuplexCall(iter(requests), timeout=ENOUGH)
    requests.give(output(31415, 27182))
    equal(len(next(responses).payload.body), 31415)
    responses.cancel()
    fails(lambda: next(responses), grpc.StatusCode.CANCELLED)
    requests.end()


def status_code_and_message(client):
    status = {"code": 2, "message": "test status message"}
    unary = pb.SimpleRequest(response_status=status)
    fails(
        lambda: client.UnaryCall(unary, timeout=ENOUGH),
        grpc.StatusCode.UNKNOWN, status["message"],
    )
    request = pb.StreamingOutputCallRequest(response_status=status)
    responses = client.FullDuplexCall(iter((request,)), timeout=ENOUGH)
    fails(lambda: next(responses), grpc.StatusCode.UNKNOWN, status["message"])


def special_status_message(client):
    request = pb.SimpleRequest(response_status={"code": 2, "message": SPECIAL})
    fails(lambda: client.UnaryCall(request, timeout=ENOUGH), grpc.StatusCode.UNKNOWN, SPECIAL)


def custom_metadata(client):
    initial, trailing = "test_initial_metadata_value", b"\xab\xab\xab"
    metadata = ((INITIAL, initial), (TRAILING, trailing))
    _, unary = client.UnaryCall.with_call(large(), metadata=metadata, timeout=ENOUGH)
    stream = client.FullDuplexCall(
        iter((output(314159, 271828),)), metadata=metadata, timeout=ENOUGH
    )
    equal([len(response.payload.body) for response in stream], [314159])
    for call in (unary, stream):
        equal(dict(call.initial_metadata())[INITIAL], initial)
        equal(dict(call.trailing_metadata())[TRAILING], trailing)


def unimplemented(path):
    def case(client):
        call = client.channel.unary_unary(
            path, request_serializer=pb.Empty.SerializeToString,
            response_deserializer=pb.Empty.FromString,
        )
        fails(lambda: call(pb.Empty(), timeout=ENOUGH), grpc.StatusCode.UNIMPLEMENTED)
    return case


def client_compressed_unary(client):
    yes, no = {"value": True}, {"value": False}
    fails(
        lambda: client.UnaryCall(large(expect_compressed=yes), timeout=ENOUGH),
        grpc.StatusCode.INVALID_ARGUMENT,
    )
    for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
        client.UnaryCall(large(expect_compressed=yes), compression=compression, timeout=ENOUGH)
        fails(
            lambda: client.UnaryCall(
                large(expect_compressed=no), compression=compression, timeout=ENOUGH
            ),
            grpc.StatusCode.INVALID_ARGUMENT,
        )
    client.UnaryCall(large(expect_compressed=no), timeout=ENOUGH)


def server_compressed_unary(client):
    for flag in (True, False):
        request = large(response_compressed={"value": flag})
        equal(len(client.UnaryCall(request, timeout=ENOUGH).payload.body), 314159)


def large_unary_in(compression):
    def case(client):
        request = large(expect_compressed={"value": True}, response_compressed={"value": True})
        response = client.UnaryCall(request, compression=compression, timeout=ENOUGH)
        equal(len(response.payload.body), 314159)
    return case


def client_compressed_streaming(client):
    request = pb.StreamingInputCallRequest(
        payload={"body": bytes(27182)}, expect_compressed={"value": True}
    )
    fails(
        lambda: client.StreamingInputCall(iter((request,)), timeout=ENOUGH),
        grpc.StatusCode.INVALID_ARGUMENT,
    )
    response = client.StreamingInputCall(
        iter((request,)), compression=grpc.Compression.Gzip, timeout=ENOUGH
    )
    equal(response.aggregated_payload_size, 27182)


def server_compressed_streaming(client):
    request = pb.StreamingOutputCallRequest(response_parameters=[
        {"size": 31415, "compressed": {"value": True}},
        {"size": 92653, "compressed": {"value": False}},
    ])
    responses = client.StreamingOutputCall(request, timeout=ENOUGH)
    equal([len(response.payload.body) for response in responses], [31415, 92653])


CASES = {
    case.__name__: case for case in (
        empty_unary, large_unary, client_streaming, server_streaming, ping_pong, empty_stream,
        timeout_on_sleeping_server, cancel_after_begin, cancel_after_first_response,
        status_code_and_message, special_status_message, custom_metadata,
        client_compressed_unary, server_compressed_unary, client_compressed_streaming,
        server_compressed_streaming,
    )
} | {
    "unimplemented_method": unimplemented(SERVICE + "UnimplementedCall"),
    "unimplemented_service":
        unimplemented("/grpc.testing.UnimplementedService/UnimplementedCall"),
    "large_unary_gzip": large_unary_in(grpc.Compression.Gzip),
    "large_unary_deflate": large_unary_in(grpc.Compression.Deflate),
}


def run_all(addr, files):
    if files:
        authority, name = files
        channel = grpc.secure_channel(
            addr, grpc.ssl_channel_credentials(read(authority)),
            (("grpc.ssl_target_name_override", name),),
        )
    else:
        channel = grpc.insecure_channel(addr)
    grpc.channel_ready_future(channel).result(ENOUGH)
    for name, case in CASES.items():
        try:
            case(Client(channel))
            print(name, "passed", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            print(name, "failed:", repr(error), flush=True)
    channel.close()


{"server": serve, "client": run_all}[sys.argv[2]](sys.argv[3], sys.argv[4:])
