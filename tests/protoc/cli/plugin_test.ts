/** Plugins of others write the same files, and get the same requests, from the command and from protoc. */
import { assert, assertEquals } from "@std/assert";
import { inPeers, type Need, peerTest } from "../../../support/peers.ts";

const COMMAND = new URL("../../../protoc/cli/mod.ts", import.meta.url).pathname;
const PROTOC = Deno.env.get("PROTOC");
const INCLUDE = PROTOC?.replace(/bin\/[^/]*$/, "include");
const PROTOS = inPeers("node_modules/google-proto-files");

/** Files of google-proto-files: custom options, services, streams, maps, oneofs, deep imports. */
const FILES = [
  "google/api/annotations.proto",
  "google/api/http.proto",
  "google/longrunning/operations.proto",
  "google/pubsub/v1/pubsub.proto",
  "google/rpc/error_details.proto",
  "google/spanner/v1/spanner.proto",
  "google/storage/v2/storage.proto",
  "google/type/date.proto",
];

function need(name: string, path: string): Need {
  return [name, inPeers(path), "run .ci/run, or set SLUICE_PEERS"];
}

const NEEDS: readonly Need[] = [
  ["protoc", PROTOC, "set PROTOC"],
  need("google-proto-files", "node_modules/google-proto-files"),
];

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function start(program: string, args: readonly string[], cwd?: string): Promise<Ended> {
  const command = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    ...cwd !== undefined && { cwd },
    env: { NO_COLOR: "1" },
  });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

/** Runs protoc and the command with the same arguments, each in a directory of its own. */
async function beside(
  args: readonly string[],
  test: (protoc: Ended, ours: Ended, inProtoc: string, inOurs: string) => void | Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    const [a, b] = [`${directory}/protoc`, `${directory}/ours`];
    for (const one of [a, b]) await Deno.mkdir(`${one}/out`, { recursive: true });
    const theirs = await start(PROTOC!, args, a);
    const ours = await start(Deno.execPath(), ["run", "-A", COMMAND, ...args], b);
    await test(theirs, ours, a, b);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function filesBelow(directory: string, prefix = ""): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const entry of Deno.readDir(directory)) {
    const path = `${directory}/${entry.name}`;
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory) {
      for (const [inner, text] of await filesBelow(path, `${name}/`)) files.set(inner, text);
    } else files.set(name, (await Deno.readFile(path)).join());
  }
  return new Map([...files].sort(([a], [b]) => a < b ? -1 : 1));
}

const PLUGINS: readonly [name: string, path: string, options: readonly string[]][] = [
  ["es", "node_modules/.bin/protoc-gen-es", ["--es_opt=target=ts,import_extension=ts"]],
  ["go", "bin/protoc-gen-go", ["--go_opt=paths=source_relative"]],
  [
    "grpc-gateway",
    "bin/protoc-gen-grpc-gateway",
    [
      "--grpc-gateway_opt=paths=source_relative",
      "--grpc-gateway_opt=generate_unbound_methods=true",
    ],
  ],
];

for (const [name, path, options] of PLUGINS) {
  peerTest(
    `protoc-gen-${name} writes for the command what it writes for protoc`,
    { needs: [...NEEDS, need(`protoc-gen-${name}`, path)] },
    async () => {
      const args = [
        `-I${PROTOS}`,
        `--plugin=protoc-gen-${name}=${inPeers(path)}`,
        `--${name}_out=out`,
        ...options,
        ...FILES,
      ];
      await beside(args, async (theirs, ours, inProtoc, inOurs) => {
        assertEquals([ours.code, ours.out, ours.err], [theirs.code, theirs.out, theirs.err]);
        assertEquals(theirs.code, 0);
        const expected = await filesBelow(`${inProtoc}/out`);
        assert(expected.size > 0);
        assertEquals(await filesBelow(`${inOurs}/out`), expected);
      });
    },
  );
}

/** A plugin that keeps its request in `request` and answers with the bytes in `answer`. */
const RECORDER = `#!/bin/sh\ncat > request\ncat "$(dirname "$0")/answer"\n`;

async function withRecorder(
  answer: string,
  test: (plugin: string, directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${directory}/plugin`, RECORDER, { mode: 0o755 });
    await Deno.writeTextFile(`${directory}/text`, answer);
    const encoded = await new Deno.Command("sh", {
      args: [
        "-c",
        `"${PROTOC}" -I"${INCLUDE}" --encode=google.protobuf.compiler.CodeGeneratorResponse ` +
        "google/protobuf/compiler/plugin.proto < text > answer",
      ],
      cwd: directory,
    }).output();
    assertEquals(encoded.code, 0, new TextDecoder().decode(encoded.stderr));
    await test(`${directory}/plugin`, directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

peerTest("requests to plugins are protoc's, byte for byte", { needs: NEEDS }, async () => {
  await withRecorder('supported_features: 3 file { name: "a" content: "b" }', async (plugin) => {
    const args = [
      `-I${PROTOS}`,
      `-I${INCLUDE}`,
      `--plugin=protoc-gen-x=${plugin}`,
      "--x_out=a=1,b:out",
      "--x_opt=c",
      ...FILES,
    ];
    await beside(args, async (theirs, ours, inProtoc, inOurs) => {
      assertEquals([theirs.code, ours.code], [0, 0], theirs.err + ours.err);
      const [expected, actual] = await Promise.all(
        [inProtoc, inOurs].map((one) => Deno.readFile(`${one}/request`)),
      );
      assertEquals(actual!.length, expected!.length);
      assert(actual!.every((byte, i) => byte === expected![i]));
    });
  });
});

const A = 'syntax = "proto3"; message A { optional int32 a = 1; }';
const E = 'edition = "2023"; message B { int32 b = 1; }';

const ANSWERS: readonly [what: string, answer: string][] = [
  ["an error", 'supported_features: 3 error: "bad\\nworse"'],
  ["no support of optional fields", "supported_features: 2"],
  ["no support of editions", "supported_features: 1"],
  ["an edition too new", "supported_features: 3 minimum_edition: 1001 maximum_edition: 1001"],
  ["an edition too old", "supported_features: 3 minimum_edition: 900 maximum_edition: 999"],
  ["content without a name", '${ok} file { content: "x" }'],
  ["content in pieces", '${ok} file { name: "x/y" content: "x" } file { content: "\\xff" }'],
  ["one file twice", '${ok} file { name: "x" } file { name: "x" }'],
  ["an insertion into nothing", '${ok} file { name: "x" insertion_point: "p" content: "c" }'],
  [
    "an insertion point that is not there",
    '${ok} file { name: "x" content: "a" } file { name: "x" insertion_point: "p" content: "c" }',
  ],
  [
    "insertions",
    '${ok} file { name: "x" content: "a\\n  // @@protoc_insertion_point(p)\\nb /* ' +
    '@@protoc_insertion_point(q) */ c" } file { name: "x" insertion_point: "p" content: "1\\n2\\n" }' +
    ' file { name: "x" insertion_point: "p" content: "3\\n\\n4\\n" }' +
    ' file { name: "x" insertion_point: "q" content: "5" }',
  ],
];

for (const [what, answer] of ANSWERS) {
  peerTest(`an answer with ${what} has protoc's outcome`, { needs: NEEDS }, async () => {
    const full = answer.replace(
      "${ok}",
      "supported_features: 3 minimum_edition: 998 maximum_edition: 1001",
    );
    await withRecorder(full, async (plugin, directory) => {
      await Deno.writeTextFile(`${directory}/a.proto`, A);
      await Deno.writeTextFile(`${directory}/e.proto`, E);
      const args = [
        `-I${directory}`,
        `--plugin=protoc-gen-x=${plugin}`,
        "--x_out=out",
        "a.proto",
        "e.proto",
      ];
      await beside(args, async (theirs, ours, inProtoc, inOurs) => {
        // protoc runs some of its lines together.
        const words = (text: string): string => text.replace(/\s+/g, "").trim();
        assertEquals([ours.code, words(ours.err)], [theirs.code, words(theirs.err)]);
        assertEquals(await filesBelow(`${inOurs}/out`), await filesBelow(`${inProtoc}/out`));
      });
    });
  });
}
