// Command grpc_go_peer is grpc-go for the tests and benchmarks of this project.
//
//	grpc_go_peer server [cert.pem key.pem]     serves Echo and Bench; prints port=N when ready
//	grpc_go_peer scripted                      serves what `x-script` says; prints port=N when ready
//	grpc_go_peer client host:port [ca.pem]     runs all checks of Echo; prints the results as JSON
//	grpc_go_peer bench host:port               runs the benchmark's commands from standard input
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: grpc_go_peer server|scripted|client|bench …")
		os.Exit(2)
	}
	arguments := os.Args[2:]
	var err error
	switch os.Args[1] {
	case "server":
		err = serve(arguments)
	case "scripted":
		err = serveScripted()
	case "client":
		err = runChecks(arguments)
	case "bench":
		err = bench(arguments)
	default:
		err = fmt.Errorf("unknown command %q", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
