package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// rawCodec leaves messages as they are.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (rawCodec) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), b...)
	return nil
}

// scripted answers any method: what becomes of the n-th attempt stands in the n-th part of the
// request's `x-script`, `code[@pushback][~milliseconds]`. An attempt that ends well sends back its
// requests, one of them where the method gives one response.
func scripted(_ any, stream grpc.ServerStream) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	previous := 0
	if values := md["grpc-previous-rpc-attempts"]; len(values) == 1 {
		previous, _ = strconv.Atoi(values[0])
	}
	script := strings.Split(strings.Join(md["x-script"], ","), ",")
	part, delay, _ := strings.Cut(script[min(previous, len(script)-1)], "~")
	code, pushback, _ := strings.Cut(part, "@")
	var requests []*[]byte
	for {
		request := new([]byte)
		if err := stream.RecvMsg(request); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		requests = append(requests, request)
	}
	ms, _ := strconv.Atoi(delay)
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
	case <-stream.Context().Done():
		return status.FromContextError(stream.Context().Err()).Err()
	}
	trailer := metadata.Pairs("x-attempt", strconv.Itoa(previous))
	if pushback != "" {
		trailer.Set("grpc-retry-pushback-ms", strings.Split(pushback, "&")...)
	}
	stream.SetTrailer(trailer)
	if number, _ := strconv.Atoi(code); number != 0 {
		return status.Error(codes.Code(number), "as the script says")
	}
	method, _ := grpc.MethodFromServerStream(stream)
	if !strings.HasSuffix(method, "/Chat") {
		requests = requests[:1]
	}
	for _, request := range requests {
		if err := stream.SendMsg(request); err != nil {
			return err
		}
	}
	return nil
}

func serveScripted() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer(
		grpc.ForceServerCodec(rawCodec{}),
		grpc.UnknownServiceHandler(scripted),
	)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-stop
		server.Stop()
	}()
	fmt.Printf("port=%d\n", listener.Addr().(*net.TCPAddr).Port)
	return server.Serve(listener)
}
