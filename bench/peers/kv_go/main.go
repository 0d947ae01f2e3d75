// etcd's Go client, measured as bench/kv.ts measures the others: kv_go ENDPOINT SECONDS REVISION PARTS.
// Its last line is one JSON object of figures.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	keys       = 1_000
	liveEvents = 5_000
	putters    = 16
)

var value = strings.Repeat("v", 100)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func cpu() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func memory() float64 {
	fields := strings.Fields(string(must(os.ReadFile("/proc/self/statm"))))
	return float64(must(strconv.Atoi(fields[1]))) * float64(os.Getpagesize()) / (1 << 20)
}

// Calls side by side for a while; gives calls a second and microseconds of CPU a call.
func throughput(seconds float64, concurrency int, call func(key string)) (float64, float64) {
	var next, done atomic.Int64
	all := func(span time.Duration) {
		var group sync.WaitGroup
		end := time.Now().Add(span)
		for range concurrency {
			group.Go(func() {
				for time.Now().Before(end) {
					call(fmt.Sprintf("bench/%d", next.Add(1)%keys))
					done.Add(1)
				}
			})
		}
		group.Wait()
	}
	all(300 * time.Millisecond)
	done.Store(0)
	before, start := cpu(), time.Now()
	all(time.Duration(seconds * float64(time.Second)))
	took := time.Since(start)
	count := float64(done.Load())
	return count / took.Seconds(), float64((cpu()-before).Microseconds()) / count
}

// Events a second from the first call on; 0 if they do not come.
func counted(watch clientv3.WatchChan, count int, work func()) float64 {
	start := time.Now()
	go work()
	seen, late := 0, time.After(10*time.Second)
	for seen < count {
		select {
		case response := <-watch:
			seen += len(response.Events)
		case <-late:
			return 0
		}
	}
	return float64(count) / time.Since(start).Seconds()
}

func main() {
	endpoint, seconds := os.Args[1], must(strconv.ParseFloat(os.Args[2], 64))
	revision, parts := must(strconv.ParseInt(os.Args[3], 10, 64)), os.Args[4]
	client := must(clientv3.New(clientv3.Config{Endpoints: []string{endpoint}}))
	ctx := context.Background()
	figures := map[string]float64{}
	if strings.Contains(parts, "calls") {
		calls := []struct {
			name string
			call func(key string)
		}{
			{"put", func(key string) { must(client.Put(ctx, key, value)) }},
			{"get", func(key string) { must(client.Get(ctx, key)) }},
			{"txn", func(key string) {
				must(client.Txn(ctx).If(clientv3.Compare(clientv3.Version(key), ">", 0)).
					Then(clientv3.OpPut(key, value)).Else(clientv3.OpGet(key)).Commit())
			}},
		}
		for _, one := range calls {
			for _, concurrency := range []int{1, 16, 100} {
				rate, each := throughput(seconds, concurrency, one.call)
				figures[fmt.Sprintf("%s, %d at once", one.name, concurrency)] = rate
				figures[fmt.Sprintf("%s, %d at once, CPU", one.name, concurrency)] = each
			}
		}
	}
	if strings.Contains(parts, "watch") {
		live := client.Watch(ctx, "live/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
		<-live
		figures["watch, live"] = counted(live, liveEvents, func() {
			var next atomic.Int64
			var group sync.WaitGroup
			for range putters {
				group.Go(func() {
					for i := next.Add(1); i <= liveEvents; i = next.Add(1) {
						must(client.Put(ctx, fmt.Sprintf("live/%d", i), value))
					}
				})
			}
			group.Wait()
		})
		count := must(client.Get(ctx, "history-size"))
		size := must(strconv.Atoi(string(count.Kvs[0].Value)))
		replay := client.Watch(ctx, "history/", clientv3.WithPrefix(), clientv3.WithRev(revision))
		figures["watch, replay"] = counted(replay, size, func() {})
	}
	if strings.Contains(parts, "many") {
		many := must(strconv.Atoi(os.Args[5]))
		before, start := memory(), time.Now()
		for i := range many {
			watch := client.Watch(ctx, fmt.Sprintf("many/%d", i), clientv3.WithCreatedNotify())
			if i == many-1 {
				<-watch
			}
		}
		figures["many watches"] = time.Since(start).Seconds()
		figures["many watches, memory"] = memory() - before
		before, start = memory(), time.Now()
		var group sync.WaitGroup
		var next atomic.Int64
		for range 100 {
			group.Go(func() {
				for next.Add(1) <= int64(many) {
					lease := must(client.Grant(ctx, 60))
					must(client.KeepAlive(ctx, lease.ID))
				}
			})
		}
		group.Wait()
		figures["many leases"] = time.Since(start).Seconds()
		figures["many leases, memory"] = memory() - before
	}
	figures["memory at the end"] = memory()
	fmt.Println(string(must(json.Marshal(figures))))
}
