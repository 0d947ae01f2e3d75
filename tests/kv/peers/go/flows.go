package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/leasing"
	"go.etcd.io/etcd/client/v3/mirror"
	"go.etcd.io/etcd/client/v3/namespace"
	"go.etcd.io/etcd/client/v3/naming/endpoints"
	"go.etcd.io/etcd/client/v3/ordering"
)

// A flow of the client, on keys that begin with its name.
type flow struct {
	name string
	run  func(ctx context.Context, client *clientv3.Client, prefix string) error
}

func expect(what string, got, want any) error {
	if fmt.Sprint(got) == fmt.Sprint(want) {
		return nil
	}
	return fmt.Errorf("%s: got %v, not %v", what, got, want)
}

var flows = []flow{
	{"keys, ranges and transactions", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		for i := range 5 {
			if _, err := client.Put(ctx, fmt.Sprintf("%s%d", prefix, i), fmt.Sprint(9-i)); err != nil {
				return err
			}
		}
		got, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithLimit(2),
			clientv3.WithSort(clientv3.SortByValue, clientv3.SortAscend))
		if err != nil {
			return err
		}
		if err := expect("sorted", string(got.Kvs[0].Key)+fmt.Sprint(got.Count, got.More), prefix+"45 true"); err != nil {
			return err
		}
		txn, err := client.Txn(ctx).If(clientv3.Compare(clientv3.Value(prefix+"0"), "=", "9")).
			Then(clientv3.OpPut(prefix+"0", "x"), clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpGet(prefix + "0")}, nil)).
			Else(clientv3.OpDelete(prefix + "0")).Commit()
		if err != nil {
			return err
		}
		inner := txn.Responses[1].GetResponseTxn().Responses[0].GetResponseRange()
		if err := expect("nested", string(inner.Kvs[0].Value)+fmt.Sprint(txn.Succeeded), "xtrue"); err != nil {
			return err
		}
		gone, err := client.Delete(ctx, prefix, clientv3.WithPrefix(), clientv3.WithPrevKV())
		if err != nil {
			return err
		}
		return expect("deleted", fmt.Sprint(gone.Deleted, len(gone.PrevKvs)), "5 5")
	}},
	{"compaction", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		put, err := client.Put(ctx, prefix, "1")
		if err != nil {
			return err
		}
		if _, err = client.Put(ctx, prefix, "2"); err != nil {
			return err
		}
		if _, err = client.Compact(ctx, put.Header.Revision+1, clientv3.WithCompactPhysical()); err != nil {
			return err
		}
		_, err = client.Get(ctx, prefix, clientv3.WithRev(put.Header.Revision))
		if !errors.Is(err, rpctypes.ErrCompacted) {
			return fmt.Errorf("a read of what was compacted: %v", err)
		}
		response := <-client.Watch(ctx, prefix, clientv3.WithRev(1))
		return expect("a watch of it", response.CompactRevision, put.Header.Revision+1)
	}},
	{"watches", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		put, err := client.Put(ctx, prefix+"a", "1")
		if err != nil {
			return err
		}
		watch := client.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(put.Header.Revision),
			clientv3.WithPrevKV(), clientv3.WithFragment(), clientv3.WithCreatedNotify())
		if response := <-watch; !response.Created {
			return fmt.Errorf("not created: %v", response)
		}
		deletions := client.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithFilterPut())
		large := strings.Repeat("x", 1<<20)
		for i := range 4 {
			if _, err := client.Put(ctx, fmt.Sprintf("%sb%d", prefix, i), large); err != nil {
				return err
			}
		}
		if _, err := client.Delete(ctx, prefix+"a"); err != nil {
			return err
		}
		seen := []string{}
		for len(seen) < 6 {
			for _, event := range (<-watch).Events {
				previous := ""
				if event.PrevKv != nil {
					previous = string(event.PrevKv.Value)
				}
				seen = append(seen, fmt.Sprintf("%s %s%s", event.Type, event.Kv.Key[len(prefix):], previous))
			}
		}
		if err := expect("events", seen, "[PUT a PUT b0 PUT b1 PUT b2 PUT b3 DELETE a1]"); err != nil {
			return err
		}
		if response := <-deletions; len(response.Events) != 1 || response.Events[0].Type != clientv3.EventTypeDelete {
			return fmt.Errorf("filtered: %v", response)
		}
		if err := client.RequestProgress(ctx); err != nil {
			return err
		}
		progress := <-watch
		return expect("progress", progress.IsProgressNotify(), true)
	}},
	{"leases", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		lease, err := client.Grant(ctx, 3)
		if err != nil {
			return err
		}
		if _, err := client.Put(ctx, prefix, "1", clientv3.WithLease(lease.ID)); err != nil {
			return err
		}
		alive, err := client.KeepAlive(ctx, lease.ID)
		if err != nil {
			return err
		}
		for range 3 {
			if response := <-alive; response == nil || response.TTL != 3 {
				return fmt.Errorf("renewed: %v", response)
			}
		}
		left, err := client.TimeToLive(ctx, lease.ID, clientv3.WithAttachedKeys())
		if err != nil {
			return err
		}
		if err := expect("keys", len(left.Keys), 1); err != nil {
			return err
		}
		if _, err := client.Revoke(ctx, lease.ID); err != nil {
			return err
		}
		if _, err := client.KeepAliveOnce(ctx, lease.ID); !errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return fmt.Errorf("renewed after its end: %v", err)
		}
		got, err := client.Get(ctx, prefix)
		if err != nil {
			return err
		}
		return expect("keys of a lease that ended", got.Count, 0)
	}},
	{"namespaces", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		inside := namespace.NewKV(client.KV, prefix)
		if _, err := inside.Put(ctx, "a", "1"); err != nil {
			return err
		}
		watch := namespace.NewWatcher(client.Watcher, prefix).Watch(ctx, "", clientv3.WithPrefix())
		if _, err := inside.Put(ctx, "b", "2"); err != nil {
			return err
		}
		if err := expect("watched", string((<-watch).Events[0].Kv.Key), "b"); err != nil {
			return err
		}
		got, err := inside.Get(ctx, "", clientv3.WithFromKey())
		if err != nil {
			return err
		}
		return expect("inside", got.Count, 2)
	}},
	{"a leasing cache", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		cache, stop, err := leasing.NewKV(client, prefix+"leases/")
		if err != nil {
			return err
		}
		defer stop()
		for range 2 {
			if _, err := cache.Get(ctx, prefix+"a"); err != nil {
				return err
			}
			if _, err := client.Put(ctx, prefix+"other", "1"); err != nil {
				return err
			}
		}
		if _, err := cache.Put(ctx, prefix+"a", "2"); err != nil {
			return err
		}
		got, err := cache.Get(ctx, prefix+"a")
		if err != nil {
			return err
		}
		return expect("cached", string(got.Kvs[0].Value), "2")
	}},
	{"reads in order", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		ordered := ordering.NewKV(client.KV, func(clientv3.Op, clientv3.OpResponse, int64) error {
			return errors.New("a read was older than one before")
		})
		for range 20 {
			if _, err := ordered.Put(ctx, prefix, "1"); err != nil {
				return err
			}
			if _, err := ordered.Get(ctx, prefix, clientv3.WithSerializable()); err != nil {
				return err
			}
		}
		return nil
	}},
	{"a mirror", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		for i := range 2_500 {
			if _, err := client.Put(ctx, fmt.Sprintf("%s%05d", prefix, i), "1"); err != nil {
				return err
			}
		}
		syncer := mirror.NewSyncer(client, prefix, 0)
		pages, errs := syncer.SyncBase(ctx)
		count := 0
		for page := range pages {
			count += len(page.Kvs)
		}
		if err := <-errs; err != nil {
			return err
		}
		updates := syncer.SyncUpdates(ctx)
		if _, err := client.Put(ctx, prefix+"x", "2"); err != nil {
			return err
		}
		return expect("mirrored", fmt.Sprint(count, len((<-updates).Events)), "2500 1")
	}},
	{"endpoints by name", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		manager, err := endpoints.NewManager(client, prefix)
		if err != nil {
			return err
		}
		watch, err := manager.NewWatchChannel(ctx)
		if err != nil {
			return err
		}
		if err := manager.AddEndpoint(ctx, prefix+"/a", endpoints.Endpoint{Addr: "127.0.0.1:1"}); err != nil {
			return err
		}
		if err := expect("told", (<-watch)[0].Endpoint.Addr, "127.0.0.1:1"); err != nil {
			return err
		}
		all, err := manager.List(ctx)
		if err != nil {
			return err
		}
		return expect("listed", len(all), 1)
	}},
	{"upkeep", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		endpoint := client.Endpoints()[0]
		status, err := client.Status(ctx, endpoint)
		if err != nil {
			return err
		}
		if err := expect("leads", status.Leader, status.Header.MemberId); err != nil {
			return err
		}
		if _, err := client.HashKV(ctx, endpoint, 0); err != nil {
			return err
		}
		if _, err := client.Defragment(ctx, endpoint); err != nil {
			return err
		}
		if _, err := client.AlarmList(ctx); err != nil {
			return err
		}
		if _, err := client.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
			return err
		}
		if _, err := client.MoveLeader(ctx, status.Leader); err != nil {
			return err
		}
		snapshot, err := client.SnapshotWithVersion(ctx)
		if err != nil {
			return err
		}
		defer snapshot.Snapshot.Close()
		var file bytes.Buffer
		if _, err := io.Copy(&file, snapshot.Snapshot); err != nil {
			return err
		}
		if file.Len()%512 != 32 {
			return fmt.Errorf("a snapshot of %d bytes", file.Len())
		}
		members, err := client.MemberList(ctx)
		if err != nil {
			return err
		}
		return expect("members", len(members.Members), 1)
	}},
	{"users", func(ctx context.Context, client *clientv3.Client, prefix string) error {
		for _, user := range []string{"root", "bob"} {
			if _, err := client.UserAdd(ctx, user, "pw"); err != nil {
				return err
			}
			if _, err := client.RoleAdd(ctx, user); err != nil {
				return err
			}
			if _, err := client.UserGrantRole(ctx, user, user); err != nil {
				return err
			}
		}
		if _, err := client.RoleGrantPermission(ctx, "bob", prefix, clientv3.GetPrefixRangeEnd(prefix),
			clientv3.PermissionType(clientv3.PermReadWrite)); err != nil {
			return err
		}
		if _, err := client.AuthEnable(ctx); err != nil {
			return err
		}
		as := func(user string) (*clientv3.Client, error) {
			return clientv3.New(clientv3.Config{Endpoints: client.Endpoints(), Username: user, Password: "pw",
				DialTimeout: 5 * time.Second})
		}
		root, err := as("root")
		if err != nil {
			return err
		}
		defer root.Close()
		defer root.AuthDisable(context.Background())
		bob, err := as("bob")
		if err != nil {
			return err
		}
		defer bob.Close()
		if _, err := bob.Put(ctx, prefix+"mine", "1"); err != nil {
			return err
		}
		if _, err := bob.Put(ctx, "theirs", "1"); !errors.Is(err, rpctypes.ErrPermissionDenied) {
			return fmt.Errorf("bob wrote: %v", err)
		}
		if _, err := client.Get(ctx, "a"); !errors.Is(err, rpctypes.ErrUserEmpty) {
			return fmt.Errorf("nobody read: %v", err)
		}
		listed, err := root.UserList(ctx)
		if err != nil {
			return err
		}
		return expect("users", listed.Users, "[bob root]")
	}},
}

// Runs all flows and prints their names.
func runFlows(ctx context.Context, client *clientv3.Client, _ []string) error {
	for _, one := range flows {
		limited, cancel := context.WithTimeout(ctx, 30*time.Second)
		err := one.run(limited, client, strings.ReplaceAll(one.name, " ", "-")+"/")
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		fmt.Println(one.name)
	}
	return nil
}
