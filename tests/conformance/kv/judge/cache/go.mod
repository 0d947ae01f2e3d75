module go.etcd.io/etcd/cache/v3
