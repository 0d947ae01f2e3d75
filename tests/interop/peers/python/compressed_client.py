"""Makes UnaryCall of gRPC's test service by grpcio (C-core), compressed in each way, and prints how it went."""
import sys

import grpc


def varint(n):
    out = b""
    while True:
        low, n = n & 127, n >> 7
        if n == 0:
            return out + bytes([low])
        out += bytes([low | 128])


def request(expect_compressed):
    """SimpleRequest: 314159 bytes are wanted, compressed; 271828 are sent."""
    body = b"\0" * 271828
    payload = b"\x12" + varint(len(body)) + body
    return (
        b"\x10" + varint(314159) + b"\x1a" + varint(len(payload)) + payload +
        b"\x32\x02\x08\x01" + b"\x42\x02\x08" + bytes([expect_compressed])
    )


for compression in ("Gzip", "Deflate", "NoCompression"):
    channel = grpc.insecure_channel(sys.argv[1], compression=getattr(grpc.Compression, compression))
    call = channel.unary_unary("/grpc.testing.TestService/UnaryCall")
    for expected in (True, False):
        try:
            print(compression, expected, len(call(request(expected), timeout=30)))
        except grpc.RpcError as error:
            print(compression, expected, error.code().name)
