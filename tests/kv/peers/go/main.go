// Command etcd_go_peer is etcd's own Go client for the tests of this project.
//
//	etcd_go_peer ENDPOINT COMMAND ARGUMENT…
//
// Prints what it did, a line each; ends with code 1 and the error if something failed.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
	"go.etcd.io/etcd/client/v3/naming/endpoints"
	"go.etcd.io/etcd/client/v3/naming/resolver"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
)

// LIMIT ends the program should it hang.
const LIMIT = time.Minute

type command struct {
	usage string
	run   func(ctx context.Context, client *clientv3.Client, arguments []string) error
}

var commands = map[string]command{
	// Announces a server; METADATA is JSON.
	"announce": {"SERVICE NAME ADDRESS METADATA", func(ctx context.Context, client *clientv3.Client, a []string) error {
		manager, err := endpoints.NewManager(client, a[0])
		if err != nil {
			return err
		}
		var metadata any
		if err := json.Unmarshal([]byte(a[3]), &metadata); err != nil {
			return err
		}
		return manager.AddEndpoint(ctx, a[0]+"/"+a[1], endpoints.Endpoint{Addr: a[2], Metadata: metadata})
	}},
	// Takes an announcement back.
	"withdraw": {"SERVICE NAME", func(ctx context.Context, client *clientv3.Client, a []string) error {
		manager, err := endpoints.NewManager(client, a[0])
		if err != nil {
			return err
		}
		return manager.DeleteEndpoint(ctx, a[0]+"/"+a[1])
	}},
	// Prints the servers of a service: key, address and metadata as JSON.
	"endpoints": {"SERVICE", func(ctx context.Context, client *clientv3.Client, a []string) error {
		manager, err := endpoints.NewManager(client, a[0])
		if err != nil {
			return err
		}
		list, err := manager.List(ctx)
		if err != nil {
			return err
		}
		for key, endpoint := range list {
			metadata, err := json.Marshal(endpoint.Metadata)
			if err != nil {
				return err
			}
			fmt.Println(key, endpoint.Addr, string(metadata))
		}
		return nil
	}},
	// Asks the servers of a service for their health by turns; prints the address that answered.
	"health": {"SERVICE COUNT", func(ctx context.Context, client *clientv3.Client, a []string) error {
		builder, err := resolver.NewBuilder(client)
		if err != nil {
			return err
		}
		conn, err := grpc.NewClient("etcd:///"+a[0],
			grpc.WithResolvers(builder),
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultServiceConfig(`{"loadBalancingConfig":[{"round_robin":{}}]}`))
		if err != nil {
			return err
		}
		defer conn.Close()
		health := healthpb.NewHealthClient(conn)
		for range number(a[1]) {
			var answered peer.Peer
			_, err := health.Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true), grpc.Peer(&answered))
			if err != nil {
				return err
			}
			fmt.Println(answered.Addr)
		}
		return nil
	}},
	// Goes through the flows of the client and prints their names.
	"flows": {"", runFlows},
	// Adds 1 to COUNTER under a lock, by a read and a write; prints the lock's revisions.
	"lock": {"NAME COUNTER ROUNDS", func(ctx context.Context, client *clientv3.Client, a []string) error {
		return inSession(client, func(session *concurrency.Session) error {
			for range number(a[2]) {
				mutex := concurrency.NewMutex(session, a[0])
				if err := mutex.Lock(ctx); err != nil {
					return err
				}
				fmt.Println(mutex.Header().Revision)
				if err := add(ctx, client, a[1]); err != nil {
					return err
				}
				if err := mutex.Unlock(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}},
	// Prints whether the lock was free, and frees it.
	"trylock": {"NAME", func(ctx context.Context, client *clientv3.Client, a []string) error {
		return inSession(client, func(session *concurrency.Session) error {
			mutex := concurrency.NewMutex(session, a[0])
			err := mutex.TryLock(ctx)
			fmt.Println(err == nil)
			if err != nil {
				return nil
			}
			return mutex.Unlock(ctx)
		})
	}},
	// Writes under a readers' and writers' lock to two keys, and reads both in turn.
	"rwlock": {"NAME KEYS ROUNDS", func(ctx context.Context, client *clientv3.Client, a []string) error {
		return inSession(client, func(session *concurrency.Session) error {
			for range number(a[2]) {
				mutex := recipe.NewRWMutex(session, a[0])
				if err := mutex.Lock(); err != nil {
					return err
				}
				for _, key := range []string{a[1] + "a", a[1] + "b"} {
					if err := add(ctx, client, key); err != nil {
						return err
					}
				}
				if err := mutex.Unlock(); err != nil {
					return err
				}
				mutex = recipe.NewRWMutex(session, a[0])
				if err := mutex.RLock(); err != nil {
					return err
				}
				first, err := value(ctx, client, a[1]+"a")
				if err != nil {
					return err
				}
				second, err := value(ctx, client, a[1]+"b")
				if err != nil {
					return err
				}
				if first != second {
					return fmt.Errorf("read %d and %d", first, second)
				}
				if err := mutex.RUnlock(); err != nil {
					return err
				}
			}
			return nil
		})
	}},
	// Is elected, adds 1 to COUNTER, proclaims, resigns.
	"elect": {"NAME COUNTER ROUNDS", func(ctx context.Context, client *clientv3.Client, a []string) error {
		return inSession(client, func(session *concurrency.Session) error {
			for i := range number(a[2]) {
				election := concurrency.NewElection(session, a[0])
				if err := election.Campaign(ctx, fmt.Sprintf("go-%d", i)); err != nil {
					return err
				}
				if err := add(ctx, client, a[1]); err != nil {
					return err
				}
				if err := election.Proclaim(ctx, fmt.Sprintf("go-%d-again", i)); err != nil {
					return err
				}
				if err := election.Resign(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}},
	// Prints the values of leaders, up to one that is "end".
	"observe": {"NAME", func(ctx context.Context, client *clientv3.Client, a []string) error {
		return inSession(client, func(session *concurrency.Session) error {
			for response := range concurrency.NewElection(session, a[0]).Observe(ctx) {
				value := string(response.Kvs[0].Value)
				fmt.Println(value)
				if value == "end" {
					return nil
				}
			}
			return ctx.Err()
		})
	}},
	// Adds 1 to COUNTER in a transaction.
	"stm": {"COUNTER ROUNDS ISOLATION", func(ctx context.Context, client *clientv3.Client, a []string) error {
		for range number(a[1]) {
			_, err := concurrency.NewSTM(client, func(stm concurrency.STM) error {
				n, _ := strconv.Atoi(stm.Get(a[0]))
				stm.Put(a[0], strconv.Itoa(n+1))
				return nil
			}, concurrency.WithIsolation(concurrency.Isolation(number(a[2]))), concurrency.WithAbortContext(ctx))
			if err != nil {
				return err
			}
		}
		return nil
	}},
	"enqueue": {"NAME VALUE…", func(_ context.Context, client *clientv3.Client, a []string) error {
		for _, value := range a[1:] {
			if err := recipe.NewQueue(client, a[0]).Enqueue(value); err != nil {
				return err
			}
		}
		return nil
	}},
	"dequeue": {"NAME COUNT", func(_ context.Context, client *clientv3.Client, a []string) error {
		for range number(a[1]) {
			value, err := recipe.NewQueue(client, a[0]).Dequeue()
			if err != nil {
				return err
			}
			fmt.Println(value)
		}
		return nil
	}},
	// A value of a priority queue is its priority, too.
	"penqueue": {"NAME PRIORITY…", func(_ context.Context, client *clientv3.Client, a []string) error {
		for _, value := range a[1:] {
			if err := recipe.NewPriorityQueue(client, a[0]).Enqueue(value, uint16(number(value))); err != nil {
				return err
			}
		}
		return nil
	}},
	"pdequeue": {"NAME COUNT", func(_ context.Context, client *clientv3.Client, a []string) error {
		for range number(a[1]) {
			value, err := recipe.NewPriorityQueue(client, a[0]).Dequeue()
			if err != nil {
				return err
			}
			fmt.Println(value)
		}
		return nil
	}},
	"hold": {"NAME", func(_ context.Context, client *clientv3.Client, a []string) error {
		return recipe.NewBarrier(client, a[0]).Hold()
	}},
	"release": {"NAME", func(_ context.Context, client *clientv3.Client, a []string) error {
		return recipe.NewBarrier(client, a[0]).Release()
	}},
	"wait": {"NAME", func(_ context.Context, client *clientv3.Client, a []string) error {
		return recipe.NewBarrier(client, a[0]).Wait()
	}},
	// Enters a double barrier, says so, and leaves it.
	"double": {"NAME COUNT", func(_ context.Context, client *clientv3.Client, a []string) error {
		return inSession(client, func(session *concurrency.Session) error {
			barrier := recipe.NewDoubleBarrier(session, a[0], number(a[1]))
			if err := barrier.Enter(); err != nil {
				return err
			}
			fmt.Println("entered")
			return barrier.Leave()
		})
	}},
}

func inSession(client *clientv3.Client, run func(*concurrency.Session) error) error {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(10))
	if err != nil {
		return err
	}
	if err := run(session); err != nil {
		session.Close()
		return err
	}
	return session.Close()
}

// add adds 1 to a key in two calls, which only a lock makes safe.
func add(ctx context.Context, client *clientv3.Client, key string) error {
	n, err := value(ctx, client, key)
	if err != nil {
		return err
	}
	_, err = client.Put(ctx, key, strconv.Itoa(n+1))
	return err
}

func value(ctx context.Context, client *clientv3.Client, key string) (int, error) {
	response, err := client.Get(ctx, key)
	if err != nil || len(response.Kvs) == 0 {
		return 0, err
	}
	return strconv.Atoi(string(response.Kvs[0].Value))
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

func run() error {
	if len(os.Args) < 3 {
		return fmt.Errorf("usage: etcd_go_peer ENDPOINT COMMAND ARGUMENT…")
	}
	command, ok := commands[os.Args[2]]
	if !ok {
		return fmt.Errorf("unknown command %q", os.Args[2])
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{os.Args[1]},
		DialTimeout: 5 * time.Second,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), LIMIT)
	defer cancel()
	time.AfterFunc(LIMIT+time.Second, func() { os.Exit(3) })
	return command.run(ctx, client, os.Args[3:])
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
