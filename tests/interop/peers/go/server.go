package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// call is one call of Echo on the server.
type call struct {
	ctx                            context.Context
	header, trailer                metadata.MD
	setHeader                      func(metadata.MD) error
	sendHeader                     func(metadata.MD) error
	index, received, receivedBytes int64
}

func newCall(ctx context.Context) *call {
	c := &call{ctx: ctx, header: metadata.MD{}, trailer: metadata.MD{}}
	incoming, _ := metadata.FromIncomingContext(ctx)
	for name, values := range incoming {
		if strings.HasPrefix(name, "x-echo-header-") {
			c.header[name] = values
		}
		if strings.HasPrefix(name, "x-echo-trailer-") {
			c.trailer[name] = values
		}
	}
	return c
}

func (c *call) take(r *request) error {
	c.received++
	c.receivedBytes += int64(len(r.payload))
	if r.compress && c.index == 0 {
		// Fails where the client does not accept gzip, or the header is out already.
		_ = grpc.SetSendCompressor(c.ctx, gzip.Name)
	}
	if r.headerFirst {
		return c.sendHeader(nil)
	}
	return nil
}

func (c *call) wait(r *request) error {
	select {
	case <-time.After(time.Duration(r.delayMs) * time.Millisecond):
		return nil
	case <-c.ctx.Done():
		return status.FromContextError(c.ctx.Err()).Err()
	}
}

func (c *call) answer(r *request, text string) (*response, error) {
	if r.delayMs > 0 {
		if err := c.wait(r); err != nil {
			return nil, err
		}
	}
	reply := &response{
		text:          text,
		payload:       bytes.Repeat([]byte{'r'}, int(r.responseSize)),
		index:         c.index,
		received:      c.received,
		receivedBytes: c.receivedBytes,
	}
	if deadline, ok := c.ctx.Deadline(); ok {
		reply.remainingMs = time.Until(deadline).Milliseconds()
	}
	c.index++
	return reply, nil
}

func finish(r *request) error {
	if r.code == 0 {
		return nil
	}
	return status.Error(codes.Code(r.code), r.message)
}

func unary(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	c := newCall(ctx)
	c.sendHeader = func(md metadata.MD) error { return grpc.SendHeader(ctx, md) }
	if err := errors.Join(grpc.SetHeader(ctx, c.header), grpc.SetTrailer(ctx, c.trailer)); err != nil {
		return nil, err
	}
	r := new(request)
	if err := decode(r); err != nil {
		return nil, err
	}
	if err := c.take(r); err != nil {
		return nil, err
	}
	reply, err := c.answer(r, r.text)
	if err != nil {
		return nil, err
	}
	return reply, finish(r)
}

func newStreamCall(stream grpc.ServerStream) (*call, error) {
	c := newCall(stream.Context())
	c.sendHeader = stream.SendHeader
	stream.SetTrailer(c.trailer)
	return c, stream.SetHeader(c.header)
}

func serverStream(_ any, stream grpc.ServerStream) error {
	c, err := newStreamCall(stream)
	if err != nil {
		return err
	}
	r := new(request)
	if err := stream.RecvMsg(r); err != nil {
		return err
	}
	if err := c.take(r); err != nil {
		return err
	}
	for range r.responseCount {
		if err := c.send(stream, r, r.text); err != nil {
			return err
		}
	}
	return finish(r)
}

func (c *call) send(stream grpc.ServerStream, r *request, text string) error {
	reply, err := c.answer(r, text)
	if err != nil {
		return err
	}
	return stream.SendMsg(reply)
}

func clientStream(_ any, stream grpc.ServerStream) error {
	c, err := newStreamCall(stream)
	if err != nil {
		return err
	}
	text := ""
	last := new(request)
	for {
		r := new(request)
		err := stream.RecvMsg(r)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		text += r.text
		if err := c.take(r); err != nil {
			return err
		}
		last = r
	}
	if err := finish(last); err != nil {
		return err
	}
	return c.send(stream, last, text)
}

func bidiStream(_ any, stream grpc.ServerStream) error {
	c, err := newStreamCall(stream)
	if err != nil {
		return err
	}
	for {
		r := new(request)
		err := stream.RecvMsg(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.take(r); err != nil {
			return err
		}
		if r.code != 0 {
			return finish(r)
		}
		for range max(1, r.responseCount) {
			if err := c.send(stream, r, r.text); err != nil {
				return err
			}
		}
	}
}

// Bench, as told in bench.proto.
func benchUnary(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	r := new(item)
	err := decode(r)
	return &item{text: r.text, body: make([]byte, r.count)}, err
}

func benchServerStream(_ any, stream grpc.ServerStream) error {
	r := new(item)
	if err := stream.RecvMsg(r); err != nil {
		return err
	}
	reply := &item{text: r.text}
	for range r.count {
		if err := stream.SendMsg(reply); err != nil {
			return err
		}
	}
	return nil
}

func benchBidiStream(_ any, stream grpc.ServerStream) error {
	for {
		r := new(item)
		if err := stream.RecvMsg(r); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := stream.SendMsg(r); err != nil {
			return err
		}
	}
}

var echo = grpc.ServiceDesc{
	ServiceName: "sluice.test.v1.Echo",
	HandlerType: (*any)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Unary", Handler: unary}},
	Streams: []grpc.StreamDesc{
		{StreamName: "ServerStream", Handler: serverStream, ServerStreams: true},
		{StreamName: "ClientStream", Handler: clientStream, ClientStreams: true},
		{StreamName: "BidiStream", Handler: bidiStream, ServerStreams: true, ClientStreams: true},
	},
}

var benchService = grpc.ServiceDesc{
	ServiceName: "sluice.bench.v1.Bench",
	HandlerType: (*any)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Unary", Handler: benchUnary}},
	Streams: []grpc.StreamDesc{
		{StreamName: "ServerStream", Handler: benchServerStream, ServerStreams: true},
		{StreamName: "BidiStream", Handler: benchBidiStream, ServerStreams: true, ClientStreams: true},
	},
}

func serve(arguments []string) error {
	options := []grpc.ServerOption{grpc.ForceServerCodec(codec{}), grpc.MaxRecvMsgSize(maxMessage())}
	if len(arguments) == 2 {
		tls, err := credentials.NewServerTLSFromFile(arguments[0], arguments[1])
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(tls))
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&echo, nil)
	server.RegisterService(&benchService, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		server.Stop()
	}()
	fmt.Printf("port=%d\n", listener.Addr().(*net.TCPAddr).Port)
	return server.Serve(listener)
}

// maxMessage is the receive limit: grpc's own 4 MiB unless MAX_MESSAGE says otherwise.
func maxMessage() int {
	size := 4 << 20
	fmt.Sscan(os.Getenv("MAX_MESSAGE"), &size)
	return size
}

func init() { encoding.RegisterCompressor(deflate{}) }
