package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
)

// item is the only message of the benchmark.
type item struct {
	text  string
	count int64
	body  []byte
}

func (m *item) marshal() []byte {
	b := make([]byte, 0, 16+len(m.text)+len(m.body))
	b = appendBytes(b, 1, []byte(m.text))
	b = appendInt(b, 2, m.count)
	return appendBytes(b, 3, m.body)
}

func (m *item) set(number protowire.Number, value uint64, data []byte) {
	switch number {
	case 1:
		m.text = string(data)
	case 2:
		m.count = int64(value)
	case 3:
		m.body = append([]byte(nil), data...)
	}
}

type figures struct {
	Count     int     `json:"count"`
	Seconds   float64 `json:"seconds"`
	P50Micros float64 `json:"p50Micros"`
	P99Micros float64 `json:"p99Micros"`
}

type command struct {
	Mode        string  `json:"mode"`
	Concurrency int     `json:"concurrency"`
	Seconds     float64 `json:"seconds"`
}

// bench reads one JSON command a line and prints one JSON result a line.
func bench(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("usage: grpc_go_peer bench host:port")
	}
	conn, err := grpc.NewClient("passthrough:///"+arguments[0],
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{})))
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		if c.Mode != "unary" {
			return fmt.Errorf("unknown mode %q", c.Mode)
		}
		result, err := repeat(conn, c)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
			return err
		}
	}
	return lines.Err()
}

func repeat(conn *grpc.ClientConn, c command) (figures, error) {
	var all []time.Duration
	var first error
	var lock sync.Mutex
	var group sync.WaitGroup
	started := time.Now()
	end := started.Add(time.Duration(c.Seconds * float64(time.Second)))
	for range c.Concurrency {
		group.Go(func() {
			var mine []time.Duration
			var err error
			for before := started; err == nil && before.Before(end); {
				err = conn.Invoke(context.Background(), "/sluice.bench.v1.Bench/Unary", &item{text: "12345678"}, new(item))
				now := time.Now()
				mine = append(mine, now.Sub(before))
				before = now
			}
			lock.Lock()
			defer lock.Unlock()
			all = append(all, mine...)
			if err != nil {
				first = err
			}
		})
	}
	group.Wait()
	elapsed := time.Since(started).Seconds()
	slices.Sort(all)
	micros := func(q float64) float64 {
		return float64(all[int(q*float64(len(all)-1))].Nanoseconds()) / 1000
	}
	return figures{len(all), elapsed, micros(0.5), micros(0.99)}, first
}
