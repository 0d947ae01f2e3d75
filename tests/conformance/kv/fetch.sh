#!/bin/sh
# Builds into the folder $1 what judges the etcd client: the program `kv_judge`, and as `etcd-VERSION`
# each version of etcd that is named behind it, all from the Go module proxy.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift

[ -x "$folder/kv_judge" ] && [ "$folder/kv_judge" -nt "$here/judge/main.go" ] ||
  (cd "$here/judge" && go build -o "$folder/kv_judge" .)

for version in "$@"; do
  [ -x "$folder/etcd-$version" ] && continue
  work=$(mktemp -d)
  (
    cd "$work"
    printf 'module etcd\n\ngo 1.26\n\nrequire go.etcd.io/etcd/server/v3 v%s\n' "$version" >go.mod
    printf 'package main\n\nimport (\n\t"os"\n\n\t"go.etcd.io/etcd/server/v3/etcdmain"\n)\n\nfunc main() { etcdmain.Main(os.Args) }\n' \
      >main.go
    go mod tidy >/dev/null
    go build -o "$folder/etcd-$version" .
  ) || {
    rm -rf "$work"
    exit 1
  }
  rm -rf "$work"
done
