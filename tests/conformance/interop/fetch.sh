#!/bin/sh
# Fetches peers into the folder $1: grpc-java's interop programs and the certificates of gRPC's tests by Maven
# (java/, certs/), and tonic by cargo, built with PROTOC (tonic/). What there is no tool for is left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
if command -v mvn >/dev/null 2>&1; then
  [ -d "$folder/certs" ] || {
    mvn -q -B -f "$here/java/pom.xml" dependency:copy-dependencies -DoutputDirectory="$folder/java"
    (cd "$folder" && jar xf java/grpc-testing-*.jar certs)
  }
fi
if command -v cargo >/dev/null 2>&1; then
  cargo build -q --manifest-path "$here/tonic/Cargo.toml" --target-dir "$folder/tonic"
fi
