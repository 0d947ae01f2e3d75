package main

import (
	"compress/zlib"
	"io"
)

// deflate is the third message encoding of gRPC (zlib, RFC 1950), which grpc-go leaves to its users.
type deflate struct{}

func (deflate) Name() string { return "deflate" }

func (deflate) Compress(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }

func (deflate) Decompress(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }
