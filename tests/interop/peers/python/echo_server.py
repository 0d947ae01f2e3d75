"""Serves echo.proto with gRPC C-core. Prints `port=N` when ready. Arguments: [cert.pem key.pem]."""

import signal
import sys
import time
from concurrent import futures

import grpc

from echo_message import decode_request, encode_response

CODES = {code.value[0]: code for code in grpc.StatusCode}


def prepare(context):
    header = [(k, v) for k, v in context.invocation_metadata() if k.startswith("x-echo-header-")]
    trailer = [(k, v) for k, v in context.invocation_metadata() if k.startswith("x-echo-trailer-")]
    context.set_trailing_metadata(trailer)
    return header


class Call:
    def __init__(self, context):
        self.context = context
        self.header = prepare(context)
        self.header_sent = False
        self.index = self.received = self.received_bytes = 0

    def take(self, request):
        self.received += 1
        self.received_bytes += len(request["payload"])
        if request["compress"] and not self.header_sent:
            self.context.set_compression(grpc.Compression.Gzip)
        if request["header_first"]:
            self.send_header()

    def send_header(self):
        if not self.header_sent:
            self.header_sent = True
            self.context.send_initial_metadata(self.header)

    def answer(self, request, text=None):
        if request["delay_ms"]:
            time.sleep(request["delay_ms"] / 1000)
        self.send_header()
        remaining = self.context.time_remaining()
        response = {
            "text": request["text"] if text is None else text,
            "payload": b"r" * request["response_size"],
            "index": self.index,
            "received": self.received,
            "received_bytes": self.received_bytes,
            "remaining_ms": 0 if remaining is None or remaining > 1e9 else int(remaining * 1000),
        }
        self.index += 1
        return response

    def finish(self, request):
        if request["code"]:
            self.send_header()
            self.context.abort(CODES[request["code"]], request["message"])


def unary(request, context):
    call = Call(context)
    call.take(request)
    if request["code"] and request["delay_ms"]:
        time.sleep(request["delay_ms"] / 1000)
    call.finish(request)
    return call.answer(request)


def server_stream(request, context):
    call = Call(context)
    call.take(request)
    for _ in range(request["response_count"]):
        if not context.is_active():
            return
        yield call.answer(request)
    call.finish(request)
    call.send_header()


def client_stream(requests, context):
    call = Call(context)
    texts = []
    last = decode_request(b"")
    for last in requests:
        texts.append(last["text"])
        call.take(last)
    call.finish(last)
    return call.answer(last, "".join(texts))


def bidi_stream(requests, context):
    call = Call(context)
    for request in requests:
        call.take(request)
        if request["code"]:
            call.finish(request)
        for _ in range(request["response_count"] or 1):
            yield call.answer(request)
    call.send_header()


def main():
    options = [("grpc.so_reuseport", 0)]
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=options)
    make = {
        "Unary": (grpc.unary_unary_rpc_method_handler, unary),
        "ServerStream": (grpc.unary_stream_rpc_method_handler, server_stream),
        "ClientStream": (grpc.stream_unary_rpc_method_handler, client_stream),
        "BidiStream": (grpc.stream_stream_rpc_method_handler, bidi_stream),
    }
    handlers = {
        name: kind(handler, request_deserializer=decode_request, response_serializer=encode_response)
        for name, (kind, handler) in make.items()
    }
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("sluice.test.v1.Echo", handlers),)
    )
    if len(sys.argv) > 2:
        with open(sys.argv[1], "rb") as cert, open(sys.argv[2], "rb") as key:
            credentials = grpc.ssl_server_credentials([(key.read(), cert.read())])
        port = server.add_secure_port("127.0.0.1:0", credentials)
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    # Without this SIGTERM would end the interpreter at once, inside calls.
    signal.signal(signal.SIGTERM, lambda *_: server.stop(0.1))
    print(f"port={port}", flush=True)
    server.wait_for_termination()


main()
