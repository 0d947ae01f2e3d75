// A server of grpc-go that serves the services of a descriptor set by echoing what it gets, with
// reflection: grpc_reflect_peer SET [CERT KEY]. It prints the port it listens on.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	v1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
)

// end gives the status that the metadata asks for, and the trailers.
func end(ctx context.Context, setTrailer func(metadata.MD)) error {
	md, _ := metadata.FromIncomingContext(ctx)
	trailer := metadata.MD{}
	for _, name := range []string{"x-trailer", "x-trailer-bin"} {
		if values := md.Get(name); len(values) > 0 {
			trailer[name] = values
		}
	}
	setTrailer(trailer)
	asked := md.Get("x-code")
	if len(asked) == 0 {
		return nil
	}
	code, _ := strconv.Atoi(asked[0])
	st := status.New(codes.Code(code), "as asked: <"+asked[0]+">")
	if len(md.Get("x-details")) > 0 {
		detail, _ := anypb.New(durationpb.New(1500000000))
		other := &anypb.Any{TypeUrl: "type.googleapis.com/no.Such", Value: []byte{1, 2}}
		p := st.Proto()
		p.Details = append(p.Details, detail, other)
		st = status.FromProto(p)
	}
	return st.Err()
}

func header(ctx context.Context) metadata.MD {
	md, _ := metadata.FromIncomingContext(ctx)
	out := metadata.MD{}
	for _, name := range []string{"x-header", "x-header-bin"} {
		if values := md.Get(name); len(values) > 0 {
			out[name] = values
		}
	}
	return out
}

type service struct {
	desc protoreflect.ServiceDescriptor
}

// extensions registers what a file, or a message, extends.
func extensions(types *protoregistry.Types, in interface {
	Extensions() protoreflect.ExtensionDescriptors
	Messages() protoreflect.MessageDescriptors
}) {
	for i := 0; i < in.Extensions().Len(); i++ {
		_ = types.RegisterExtension(dynamicpb.NewExtensionType(in.Extensions().Get(i)))
	}
	for i := 0; i < in.Messages().Len(); i++ {
		extensions(types, in.Messages().Get(i))
	}
}

func (s *service) stream(method protoreflect.MethodDescriptor) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) error {
		_ = stream.SetHeader(header(stream.Context()))
		var last proto.Message
		count := 0
		for {
			request := dynamicpb.NewMessage(method.Input())
			err := stream.RecvMsg(request)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			last = request
			count++
			if method.IsStreamingServer() && method.IsStreamingClient() {
				if err := stream.SendMsg(request); err != nil {
					return err
				}
			}
			if !method.IsStreamingClient() {
				break
			}
		}
		if method.IsStreamingServer() && !method.IsStreamingClient() {
			for i := 0; i < 3; i++ {
				if err := stream.SendMsg(last); err != nil {
					return err
				}
			}
		}
		if err := end(stream.Context(), stream.SetTrailer); err != nil {
			return err
		}
		if !method.IsStreamingServer() {
			if last == nil {
				last = dynamicpb.NewMessage(method.Output())
			}
			return stream.SendMsg(last)
		}
		return nil
	}
}

type info map[string]grpc.ServiceInfo

func (i info) GetServiceInfo() map[string]grpc.ServiceInfo { return i }

func main() {
	bytes, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(bytes, &set); err != nil {
		log.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		log.Fatal(err)
	}
	var options []grpc.ServerOption
	if len(os.Args) > 3 {
		pair, err := tls.LoadX509KeyPair(os.Args[2], os.Args[3])
		if err != nil {
			log.Fatal(err)
		}
		options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	}
	server := grpc.NewServer(options...)
	types := &protoregistry.Types{}
	services := info{}
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		extensions(types, file)
		for i := 0; i < file.Services().Len(); i++ {
			desc := file.Services().Get(i)
			s := &service{desc}
			description := grpc.ServiceDesc{
				ServiceName: string(desc.FullName()),
				HandlerType: (*any)(nil),
				Metadata:    file.Path(),
			}
			for j := 0; j < desc.Methods().Len(); j++ {
				method := desc.Methods().Get(j)
				// Unary methods too: on the wire they are streams of one.
				description.Streams = append(description.Streams, grpc.StreamDesc{
					StreamName:    string(method.Name()),
					Handler:       s.stream(method),
					ServerStreams: true,
					ClientStreams: true,
				})
			}
			server.RegisterService(&description, struct{}{})
			services[string(desc.FullName())] = grpc.ServiceInfo{}
		}
		return true
	})
	resolver := &protoregistry.Files{}
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		_ = resolver.RegisterFile(file)
		return true
	})
	reflect := reflection.ServerOptions{Services: services, DescriptorResolver: resolver, ExtensionResolver: types}
	v1.RegisterServerReflectionServer(server, reflection.NewServerV1(reflect))
	v1alpha.RegisterServerReflectionServer(server, reflection.NewServer(reflect))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("port=%d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(server.Serve(listener))
}
