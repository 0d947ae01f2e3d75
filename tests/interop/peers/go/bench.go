package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
)

// item is the only message of the benchmark.
type item struct {
	body  []byte
	count int64
}

func (m *item) marshal() []byte {
	b := make([]byte, 0, 16+len(m.body))
	return appendInt(appendBytes(b, 1, m.body), 2, m.count)
}

func (m *item) set(number protowire.Number, value uint64, data []byte) {
	switch number {
	case 1:
		m.body = append([]byte(nil), data...)
	case 2:
		m.count = int64(value)
	}
}

type figures struct {
	Calls     int     `json:"calls"`
	Seconds   float64 `json:"seconds"`
	P50Micros float64 `json:"p50Micros"`
	P99Micros float64 `json:"p99Micros"`
}

func bench(arguments []string) error {
	if len(arguments) != 3 {
		return fmt.Errorf("usage: grpc_go_peer bench host:port CONCURRENT SECONDS")
	}
	concurrent, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseFloat(arguments[2], 64)
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient("passthrough:///"+arguments[0],
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{})))
	if err != nil {
		return err
	}
	defer conn.Close()
	once := func() error {
		reply := new(item)
		return conn.Invoke(context.Background(), "/sluice.bench.v1.Bench/Unary", &item{body: []byte("12345678")}, reply)
	}
	run := func(length time.Duration) ([]time.Duration, error) {
		var all []time.Duration
		var first error
		var lock sync.Mutex
		var group sync.WaitGroup
		end := time.Now().Add(length)
		for range concurrent {
			group.Go(func() {
				var mine []time.Duration
				for time.Now().Before(end) {
					started := time.Now()
					if err := once(); err != nil {
						lock.Lock()
						first = err
						lock.Unlock()
						return
					}
					mine = append(mine, time.Since(started))
				}
				lock.Lock()
				all = append(all, mine...)
				lock.Unlock()
			})
		}
		group.Wait()
		return all, first
	}
	if _, err := run(300 * time.Millisecond); err != nil {
		return err
	}
	started := time.Now()
	times, err := run(time.Duration(seconds * float64(time.Second)))
	if err != nil {
		return err
	}
	elapsed := time.Since(started).Seconds()
	slices.Sort(times)
	micros := func(q float64) float64 {
		return float64(times[int(q*float64(len(times)-1))].Nanoseconds()) / 1000
	}
	return json.NewEncoder(os.Stdout).Encode(figures{len(times), elapsed, micros(0.5), micros(0.99)})
}
