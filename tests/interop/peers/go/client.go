package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	echoPath = "/sluice.test.v1.Echo/"
	special  = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
)

type client struct{ conn *grpc.ClientConn }

func within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

func (c client) unary(ctx context.Context, r *request, options ...grpc.CallOption) (*response, error) {
	reply := new(response)
	return reply, c.conn.Invoke(ctx, echoPath+"Unary", r, reply, options...)
}

func (c client) stream(ctx context.Context, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	for _, desc := range echo.Streams {
		if desc.StreamName == method {
			return c.conn.NewStream(ctx, &desc, echoPath+method, options...)
		}
	}
	return nil, fmt.Errorf("no method %s", method)
}

// open starts a call and sends all of its requests.
func (c client) open(ctx context.Context, method string, requests []*request, options ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := c.stream(ctx, method, options...)
	if err != nil {
		return nil, err
	}
	for _, r := range requests {
		if err := stream.SendMsg(r); err != nil {
			return nil, err
		}
	}
	return stream, stream.CloseSend()
}

// collect reads the responses of a call up to its end, which is an error unless it ended well.
func collect(stream grpc.ClientStream) ([]*response, error) {
	var all []*response
	for {
		reply := new(response)
		if err := stream.RecvMsg(reply); err == io.EOF {
			return all, nil
		} else if err != nil {
			return all, err
		}
		all = append(all, reply)
	}
}

func (c client) all(ctx context.Context, method string, requests []*request, options ...grpc.CallOption) ([]*response, error) {
	stream, err := c.open(ctx, method, requests, options...)
	if err != nil {
		return nil, err
	}
	return collect(stream)
}

func equal(actual, expected any) error {
	if !reflect.DeepEqual(actual, expected) {
		return fmt.Errorf("expected %v, got %v", expected, actual)
	}
	return nil
}

func fails(err error, code codes.Code, message string) error {
	if status.Code(err) != code {
		return fmt.Errorf("expected %v, got %v", code, err)
	}
	if message != "" {
		return equal(status.Convert(err).Message(), message)
	}
	return nil
}

func numbered(count int) []*request {
	requests := make([]*request, count)
	for i := range requests {
		requests[i] = &request{text: strconv.Itoa(i)}
	}
	return requests
}

func checkNumbered(replies []*response, count int) error {
	if err := equal(len(replies), count); err != nil {
		return err
	}
	for i, reply := range replies {
		if reply.text != strconv.Itoa(i) {
			return fmt.Errorf("response %d has text %q", i, reply.text)
		}
	}
	return nil
}

var checks = []struct {
	name string
	run  func(c client) error
}{
	{"unary", func(c client) error {
		reply, err := c.unary(within(5*time.Second), &request{text: "hello ☺", payload: []byte("abc"), responseSize: 5})
		if err != nil {
			return err
		}
		return equal([]any{reply.text, string(reply.payload), reply.receivedBytes}, []any{"hello ☺", "rrrrr", int64(3)})
	}},
	{"unary_empty", func(c client) error {
		reply, err := c.unary(within(5*time.Second), &request{})
		if err != nil {
			return err
		}
		return equal(reply.received, int64(1))
	}},
	{"unary_large", func(c client) error {
		reply, err := c.unary(within(20*time.Second), &request{payload: make([]byte, 1<<20), responseSize: 1 << 20})
		if err != nil {
			return err
		}
		return equal([]int64{reply.receivedBytes, int64(len(reply.payload))}, []int64{1 << 20, 1 << 20})
	}},
	{"server_stream", func(c client) error {
		replies, err := c.all(within(5*time.Second), "ServerStream", []*request{{text: "s", responseCount: 10, responseSize: 1000}})
		if err != nil {
			return err
		}
		if err := equal(len(replies), 10); err != nil {
			return err
		}
		for i, reply := range replies {
			if reply.index != int64(i) || len(reply.payload) != 1000 {
				return fmt.Errorf("response %d has index %d and %d bytes", i, reply.index, len(reply.payload))
			}
		}
		return nil
	}},
	{"server_stream_empty", func(c client) error {
		replies, err := c.all(within(5*time.Second), "ServerStream", []*request{{}})
		if err != nil {
			return err
		}
		return equal(len(replies), 0)
	}},
	{"server_stream_many", func(c client) error {
		replies, err := c.all(within(20*time.Second), "ServerStream", []*request{{responseCount: 5000}})
		if err != nil {
			return err
		}
		return equal(len(replies), 5000)
	}},
	{"client_stream", func(c client) error {
		var requests []*request
		for _, text := range "abcde" {
			requests = append(requests, &request{text: string(text), payload: []byte("12")})
		}
		replies, err := c.all(within(5*time.Second), "ClientStream", requests)
		if err != nil {
			return err
		}
		if err := equal(len(replies), 1); err != nil {
			return err
		}
		return equal([]any{replies[0].text, replies[0].received, replies[0].receivedBytes}, []any{"abcde", int64(5), int64(10)})
	}},
	{"client_stream_empty", func(c client) error {
		replies, err := c.all(within(5*time.Second), "ClientStream", nil)
		if err != nil {
			return err
		}
		return equal(len(replies), 1)
	}},
	{"bidi_ping_pong", func(c client) error {
		stream, err := c.stream(within(10*time.Second), "BidiStream")
		if err != nil {
			return err
		}
		for i := range 20 {
			if err := stream.SendMsg(&request{text: strconv.Itoa(i)}); err != nil {
				return err
			}
			reply := new(response)
			if err := stream.RecvMsg(reply); err != nil {
				return err
			}
			if err := equal(reply.text, strconv.Itoa(i)); err != nil {
				return err
			}
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		return equal(stream.RecvMsg(new(response)), io.EOF)
	}},
	{"bidi_many", func(c client) error {
		replies, err := c.all(within(20*time.Second), "BidiStream", numbered(500))
		if err != nil {
			return err
		}
		return checkNumbered(replies, 500)
	}},
	{"bidi_empty", func(c client) error {
		replies, err := c.all(within(5*time.Second), "BidiStream", nil)
		if err != nil {
			return err
		}
		return equal(len(replies), 0)
	}},
	{"every_code", func(c client) error {
		for code := codes.Code(1); code <= 16; code++ {
			message := fmt.Sprintf("code %d", code)
			_, err := c.unary(within(5*time.Second), &request{code: int64(code), message: message})
			if err := fails(err, code, message); err != nil {
				return err
			}
		}
		return nil
	}},
	{"special_message", func(c client) error {
		_, err := c.unary(within(5*time.Second), &request{code: 2, message: special})
		return fails(err, codes.Unknown, special)
	}},
	{"status_after_messages", func(c client) error {
		replies, err := c.all(within(5*time.Second), "ServerStream", []*request{{responseCount: 3, code: 9, message: "then no"}})
		if err := fails(err, codes.FailedPrecondition, "then no"); err != nil {
			return err
		}
		return equal(len(replies), 3)
	}},
	{"metadata", func(c client) error {
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		ctx := metadata.AppendToOutgoingContext(within(5*time.Second),
			"x-echo-header-a", "one", "x-echo-header-a", "two", "x-echo-header-b-bin", string(every),
			"x-echo-trailer-c", "three", "x-echo-trailer-d-bin", "\x00\xff", "x-echo-trailer-d-bin", "\xab")
		var header, trailer metadata.MD
		if _, err := c.unary(ctx, &request{}, grpc.Header(&header), grpc.Trailer(&trailer)); err != nil {
			return err
		}
		var joined []string
		for _, value := range header.Get("x-echo-header-a") {
			joined = append(joined, strings.Split(strings.ReplaceAll(value, " ", ""), ",")...)
		}
		if err := equal(joined, []string{"one", "two"}); err != nil {
			return err
		}
		if err := equal(header.Get("x-echo-header-b-bin"), []string{string(every)}); err != nil {
			return err
		}
		if err := equal(trailer.Get("x-echo-trailer-c"), []string{"three"}); err != nil {
			return err
		}
		return equal(trailer.Get("x-echo-trailer-d-bin"), []string{"\x00\xff", "\xab"})
	}},
	{"metadata_with_error", func(c client) error {
		ctx := metadata.AppendToOutgoingContext(within(5*time.Second), "x-echo-trailer-c", "three")
		var trailer metadata.MD
		_, err := c.unary(ctx, &request{code: 10, message: "no"}, grpc.Trailer(&trailer))
		if err := fails(err, codes.Aborted, "no"); err != nil {
			return err
		}
		return equal(trailer.Get("x-echo-trailer-c"), []string{"three"})
	}},
	{"header_first", func(c client) error {
		ctx := metadata.AppendToOutgoingContext(within(5*time.Second), "x-echo-header-a", "early")
		started := time.Now()
		stream, err := c.open(ctx, "ServerStream", []*request{{responseCount: 1, delayMs: 1000, headerFirst: true}})
		if err != nil {
			return err
		}
		header, err := stream.Header()
		if err != nil {
			return err
		}
		if waited := time.Since(started); waited > 900*time.Millisecond {
			return fmt.Errorf("the header came after %v, with the first message", waited)
		}
		if err := equal(header.Get("x-echo-header-a"), []string{"early"}); err != nil {
			return err
		}
		replies, err := collect(stream)
		if err != nil {
			return err
		}
		return equal(len(replies), 1)
	}},
	{"deadline", func(c client) error {
		started := time.Now()
		_, err := c.unary(within(200*time.Millisecond), &request{delayMs: 3000})
		if time.Since(started) > 2*time.Second {
			return fmt.Errorf("the deadline came late")
		}
		return fails(err, codes.DeadlineExceeded, "")
	}},
	{"deadline_seen", func(c client) error {
		reply, err := c.unary(within(7*time.Second), &request{})
		if err != nil {
			return err
		}
		if reply.remainingMs <= 5000 || reply.remainingMs > 7000 {
			return fmt.Errorf("server saw %d ms of 7000", reply.remainingMs)
		}
		reply, err = c.unary(context.Background(), &request{})
		if err != nil {
			return err
		}
		return equal(reply.remainingMs, int64(0))
	}},
	{"cancel", func(c client) error {
		ctx, cancel := context.WithCancel(within(10 * time.Second))
		stream, err := c.open(ctx, "ServerStream", []*request{{responseCount: 1000, delayMs: 20}})
		if err != nil {
			cancel()
			return err
		}
		err = stream.RecvMsg(new(response))
		cancel()
		if err != nil {
			return err
		}
		_, err = collect(stream)
		return fails(err, codes.Canceled, "")
	}},
	{"cancel_bidi", func(c client) error {
		ctx, cancel := context.WithCancel(within(10 * time.Second))
		defer cancel()
		stream, err := c.stream(ctx, "BidiStream")
		if err != nil {
			return err
		}
		if err := stream.SendMsg(&request{text: "first"}); err != nil {
			return err
		}
		if err := stream.RecvMsg(new(response)); err != nil {
			return err
		}
		cancel()
		return fails(stream.RecvMsg(new(response)), codes.Canceled, "")
	}},
	{"unimplemented_method", func(c client) error {
		return fails(c.conn.Invoke(within(5*time.Second), echoPath+"Missing", &request{}, new(response)), codes.Unimplemented, "")
	}},
	{"unimplemented_service", func(c client) error {
		return fails(c.conn.Invoke(within(5*time.Second), "/sluice.test.v1.Absent/Unary", &request{}, new(response)), codes.Unimplemented, "")
	}},
	{"gzip", func(c client) error {
		r := &request{payload: make([]byte, 100000), responseSize: 100000, compress: true}
		reply, err := c.unary(within(5*time.Second), r, grpc.UseCompressor(gzip.Name))
		if err != nil {
			return err
		}
		if err := equal([]int64{reply.receivedBytes, int64(len(reply.payload))}, []int64{100000, 100000}); err != nil {
			return err
		}
		replies, err := c.all(within(5*time.Second), "BidiStream", []*request{r, r, r, r, r}, grpc.UseCompressor(gzip.Name))
		if err != nil {
			return err
		}
		return equal(len(replies), 5)
	}},
	{"deflate", func(c client) error {
		reply, err := c.unary(within(5*time.Second), &request{payload: make([]byte, 100000)}, grpc.UseCompressor("deflate"))
		if err != nil {
			return err
		}
		return equal(reply.receivedBytes, int64(100000))
	}},
	{"request_too_large", func(c client) error {
		_, err := c.unary(within(20*time.Second), &request{payload: make([]byte, 4<<20)})
		return fails(err, codes.ResourceExhausted, "")
	}},
	{"response_too_large", func(c client) error {
		_, err := c.unary(within(20*time.Second), &request{responseSize: 4 << 20})
		return fails(err, codes.ResourceExhausted, "")
	}},
	{"parallel", func(c client) error {
		errors := make([]error, 200)
		var group sync.WaitGroup
		for i := range errors {
			group.Go(func() {
				reply, err := c.unary(within(20*time.Second), &request{text: strconv.Itoa(i)})
				if err == nil {
					err = equal(reply.text, strconv.Itoa(i))
				}
				errors[i] = err
			})
		}
		group.Wait()
		for _, err := range errors {
			if err != nil {
				return err
			}
		}
		return nil
	}},
}

type result struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func runChecks(arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("usage: grpc_go_peer client host:port [ca.pem]")
	}
	secure := insecure.NewCredentials()
	if len(arguments) > 1 {
		var err error
		if secure, err = credentials.NewClientTLSFromFile(arguments[1], ""); err != nil {
			return err
		}
	}
	conn, err := grpc.NewClient("passthrough:///"+arguments[0], grpc.WithTransportCredentials(secure),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{})))
	if err != nil {
		return err
	}
	defer conn.Close()
	var results []result
	for _, check := range checks {
		one := result{Name: check.name, OK: true}
		if err := check.run(client{conn}); err != nil {
			one.OK, one.Detail = false, err.Error()
		}
		results = append(results, one)
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}
