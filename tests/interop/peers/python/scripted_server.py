"""Answers any method as the request's `x-script` says, with gRPC C-core; see go/scripted.go."""

import signal
import time
from concurrent import futures

import grpc

CODES = {code.value[0]: code for code in grpc.StatusCode}


def answer(requests, context, one):
    metadata = dict(context.invocation_metadata())
    previous = int(metadata.get("grpc-previous-rpc-attempts", "0"))
    script = metadata["x-script"].split(",")
    part, _, delay = script[min(previous, len(script) - 1)].partition("~")
    code, _, pushback = part.partition("@")
    requests = list(requests)
    if delay:
        time.sleep(int(delay) / 1000)
    trailer = [("x-attempt", str(previous))]
    trailer += [("grpc-retry-pushback-ms", value) for value in pushback.split("&") if value]
    context.set_trailing_metadata(trailer)
    if code != "0":
        context.abort(CODES[int(code)], "as the script says")
    return requests[:1] if one else requests


def chat(requests, context):
    yield from answer(requests, context, False)


class Scripted(grpc.GenericRpcHandler):
    def service(self, details):
        kinds = {
            "SayHello": lambda: grpc.unary_unary_rpc_method_handler(
                lambda request, context: answer([request], context, True)[0]),
            "ListReplies": lambda: grpc.unary_stream_rpc_method_handler(
                lambda request, context: iter(answer([request], context, True))),
            "SumSizes": lambda: grpc.stream_unary_rpc_method_handler(
                lambda requests, context: answer(requests, context, True)[0]),
            "Chat": lambda: grpc.stream_stream_rpc_method_handler(chat),
        }
        return kinds[details.method.rpartition("/")[2]]()


def main():
    options = [("grpc.so_reuseport", 0)]
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=options)
    server.add_generic_rpc_handlers((Scripted(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    signal.signal(signal.SIGTERM, lambda *_: server.stop(0.1))
    print(f"port={port}", flush=True)
    server.wait_for_termination()


main()
