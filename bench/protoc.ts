// deno-lint-ignore-file no-console
/**
 * The loader beside protoc 36.2 and protobufjs on the whole of google-proto-files (8,017 files, 70 MB):
 *
 * ```sh
 * PROTO_CORPORA=… deno run -A bench/protoc.ts [--rounds 3]
 * ```
 *
 * Every figure is of a process of its own, the tools taking turns, the best of the rounds counting.
 * `PROTO_CORPORA` is a directory filled by `tests/conformance/protoc/fetch.sh`. Peak memory and
 * processor time are read from `/proc`, and so are 0 elsewhere than on Linux. The last line is one JSON object.
 *
 * @module
 */

import { join } from "node:path";
import { parseArgs } from "node:util";
import { Compiler } from "../protoc/compile/compiler.ts";
import { parseFile } from "../protoc/syntax/parse_file.ts";
import { Loader } from "../protoc/mod.ts";
import { Source } from "../protoc/lex/source.ts";
import { corpora, corporaDirectory, namesOf } from "../tests/conformance/protoc/corpus.ts";
import { protocPath } from "../tests/conformance/protoc/oracle.ts";

/** What one process measured. */
interface Figures {
  files: number;
  bytes: number;
  /** Inside the process, reading files included. */
  seconds: number;
}

interface Row extends Figures {
  tool: string;
  /** With the start of the process. */
  wall: number;
  /** Processor time of all its threads, which other processes disturb least. */
  cpu: number;
  peakMiB: number;
}

const TASKS: Record<string, (root: string, names: string[]) => Promise<Figures> | Figures> = {
  "compile": (root, names) => compile(root, names, false),
  "compile, source info": (root, names) => compile(root, names, true),
  "load": load,
  "parse": parse,
  "protobufjs parse": parseWithProtobufjs,
  "protobufjs descriptors": loadWithProtobufjs,
};
/** Milliseconds between two looks at a process's memory. */
const LOOK = 10;
/** Units of `/proc/PID/stat` in a second. */
const CLOCK_TICKS = 100;

const { values: args, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: { rounds: { type: "string", default: "3" }, child: { type: "string" } },
});
if (args.child !== undefined) {
  const [root, list] = positionals as [string, string];
  const names = (await Deno.readTextFile(list)).split("\n").slice(1);
  console.log(JSON.stringify(await TASKS[args.child]!(root, names)));
} else {
  await main();
}

async function main(): Promise<void> {
  const directory = corporaDirectory();
  const protoc = protocPath(directory);
  if (directory === undefined || protoc === undefined) {
    console.error("Set PROTO_CORPORA to a directory filled by tests/conformance/protoc/fetch.sh.");
    Deno.exit(2);
  }
  const corpus = corpora.find(({ name }) => name === "google-proto-files")!;
  const root = join(directory, corpus.own[0]!);
  const names = await namesOf(corpus, directory);
  const lists = await Deno.makeTempDir();
  try {
    const best = new Map<string, Row>();
    const tools = ["protoc", "protoc, source info", ...Object.keys(TASKS)];
    for (let round = 0; round < Number(args.rounds); round++) {
      for (const tool of tools) {
        keepBest(best, await measure(tool, protoc, root, await write(lists, root, names)));
      }
    }
    const sizes: Row[] = [];
    for (const stride of [4, 2, 1]) {
      const some = await closure(root, everyDirectory(names, stride));
      const of = new Map<string, Row>();
      for (let round = 0; round < Number(args.rounds); round++) {
        keepBest(of, await measure("compile", protoc, root, await write(lists, root, some)));
      }
      sizes.push(of.get("compile")!);
    }
    report(best, sizes);
  } finally {
    await Deno.remove(lists, { recursive: true });
  }
}

function keepBest(rows: Map<string, Row>, row: Row): void {
  const before = rows.get(row.tool);
  if (before === undefined) return void rows.set(row.tool, row);
  const cpu = Math.min(row.cpu, before.cpu);
  rows.set(row.tool, { ...row.seconds < before.seconds ? row : before, cpu });
}

function report(best: Map<string, Row>, sizes: readonly Row[]): void {
  const table = (rows: Iterable<Row>) => {
    console.log("tool                      files      s   wall s  cpu s  files/s   MB/s  peak MiB");
    for (const row of rows) {
      console.log(
        row.tool.padEnd(23) + String(row.files).padStart(8) + row.seconds.toFixed(2).padStart(7) +
          row.wall.toFixed(2).padStart(9) + row.cpu.toFixed(2).padStart(7) +
          (row.files / row.seconds).toFixed(0).padStart(9) +
          (row.bytes / 1e6 / row.seconds).toFixed(1).padStart(7) +
          row.peakMiB.toFixed(0).padStart(10),
      );
    }
  };
  table(best.values());
  console.log("\nBy size of the input:");
  table(sizes);
  const ratio = (a: string, b: string) =>
    Number((best.get(b)!.seconds / best.get(a)!.seconds).toFixed(2));
  console.log(JSON.stringify({
    compileTimesProtoc: ratio("compile", "protoc"),
    compileSourceInfoTimesProtoc: ratio("compile, source info", "protoc, source info"),
    loadTimesProtoc: ratio("load", "protoc"),
    parseTimesProtobufjs: ratio("parse", "protobufjs parse"),
    microsecondsPerKilobyte: sizes.map((row) => Math.round(row.seconds * 1e9 / row.bytes)),
    rows: [...best.values()],
    sizes,
  }));
}

/** A list of names, as protoc takes it by `@`; the first line is its import root. */
async function write(directory: string, root: string, names: readonly string[]): Promise<string> {
  const path = join(directory, `${names.length}.txt`);
  await Deno.writeTextFile(path, [`-I${root}`, ...names].join("\n"));
  return path;
}

async function measure(tool: string, protoc: string, root: string, list: string): Promise<Row> {
  const isProtoc = tool.startsWith("protoc,") || tool === "protoc";
  const out = `${list}.pb`;
  const command = isProtoc
    ? new Deno.Command(protoc, {
      args: [
        `@${list}`,
        `--descriptor_set_out=${out}`,
        ...(tool === "protoc" ? [] : ["--include_source_info"]),
      ],
      stdout: "piped",
      stderr: "null",
    })
    : new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", import.meta.filename!, "--child", tool, root, list],
      stdout: "piped",
      stderr: "inherit",
    });
  const start = performance.now();
  const child = command.spawn();
  let peakMiB = 0;
  let cpu = 0;
  const watch = setInterval(() => {
    peakMiB = Math.max(peakMiB, peakOf(child.pid));
    cpu = Math.max(cpu, cpuOf(child.pid));
  }, LOOK);
  const { stdout, code } = await child.output();
  clearInterval(watch);
  const wall = (performance.now() - start) / 1000;
  if (code !== 0) throw new Error(`${tool} failed with ${code}`);
  const figures: Figures = isProtoc
    ? await sizeOf(root, list, wall)
    : JSON.parse(new TextDecoder().decode(stdout));
  return { tool, ...figures, wall, cpu, peakMiB };
}

async function sizeOf(root: string, list: string, seconds: number): Promise<Figures> {
  const names = (await Deno.readTextFile(list)).split("\n").slice(1);
  let bytes = 0;
  for (const name of names) bytes += (await Deno.stat(join(root, name))).size;
  return { files: names.length, bytes, seconds };
}

/** Peak resident memory of a process so far. */
function peakOf(pid: number): number {
  try {
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Processor seconds of a process so far. */
function cpuOf(pid: number): number {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
  } catch {
    return 0;
  }
}

/** The files of every `stride`th directory: a part that is made like the whole. */
function everyDirectory(names: readonly string[], stride: number): string[] {
  const directories = [...new Set(names.map(directoryOf))].sort();
  const chosen = new Set(directories.filter((_, i) => i % stride === 0));
  return names.filter((name) => chosen.has(directoryOf(name)));
}

function directoryOf(name: string): string {
  return name.slice(0, name.lastIndexOf("/") + 1);
}

/** `names` and all that they import: so that a part of the files is as much work as it seems. */
async function closure(root: string, names: readonly string[]): Promise<string[]> {
  const all = new Set(names);
  for (const name of all) {
    const text = await Deno.readTextFile(join(root, name));
    for (
      const [, imported] of text.matchAll(/^import (?:public )?"(?!google\/protobuf\/)(.*)";/gm)
    ) {
      all.add(imported!);
    }
  }
  return [...all];
}

function timed(files: number, work: () => number): Figures {
  const start = performance.now();
  const bytes = work();
  return { files, bytes, seconds: (performance.now() - start) / 1000 };
}

/** Text to serialized descriptors, linked and validated: what `protoc -o` does. */
function compile(root: string, names: string[], sourceInfo: boolean): Figures {
  return timed(names.length, () => {
    let bytes = 0;
    const read = (name: string) => {
      try {
        const content = Deno.readFileSync(join(root, name));
        bytes += content.length;
        return content;
      } catch {
        return undefined;
      }
    };
    const compiler = new Compiler({ sourceInfo });
    const { files } = compiler.run(names.map((name) => ({ name, text: undefined })), read);
    if (files.length !== names.length) throw new Error(`${names.length - files.length} refused`);
    for (const file of files) {
      if (file.bytes.length === 0) throw new Error(`nothing written for ${file.name}`);
    }
    return bytes;
  });
}

/** Text to descriptors of protobuf-es. */
async function load(root: string, names: string[]): Promise<Figures> {
  const start = performance.now();
  const loader = new Loader();
  const files = await loader.loadAll(names, { roots: [root] });
  const seconds = (performance.now() - start) / 1000;
  if (files.length !== names.length) throw new Error(`${files.length} of ${names.length} loaded`);
  return { ...await sizeOfAll(root, names), seconds };
}

/** Text to syntax trees. */
function parse(root: string, names: string[]): Figures {
  return timed(names.length, () => {
    let bytes = 0;
    for (const name of names) {
      const content = Deno.readFileSync(join(root, name));
      bytes += content.length;
      const { hadErrors } = parseFile(name, new Source(content), undefined, () => {});
      if (hadErrors) throw new Error(`refused: ${name}`);
    }
    return bytes;
  });
}

async function parseWithProtobufjs(root: string, names: string[]): Promise<Figures> {
  const { default: protobufjs } = await import("npm:protobufjs@8.8.1");
  return timed(names.length, () => {
    let bytes = 0;
    const decoder = new TextDecoder();
    for (const name of names) {
      const content = Deno.readFileSync(join(root, name));
      bytes += content.length;
      protobufjs.parse(decoder.decode(content), new protobufjs.Root(), { keepCase: true });
    }
    return bytes;
  });
}

/** As near as protobufjs comes to descriptors; what it writes is not what protoc does. */
async function loadWithProtobufjs(root: string, names: string[]): Promise<Figures> {
  const { default: protobufjs } = await import("npm:protobufjs@8.8.1");
  await import("npm:protobufjs@8.8.1/ext/descriptor/index.js");
  const start = performance.now();
  const whole = new protobufjs.Root();
  whole.resolvePath = (_origin: string, target: string) => join(root, target);
  whole.loadSync(names, { keepCase: true }).resolveAll();
  (whole as unknown as { toDescriptor(edition: string): unknown }).toDescriptor("proto3");
  const seconds = (performance.now() - start) / 1000;
  return { ...await sizeOfAll(root, names), seconds };
}

async function sizeOfAll(root: string, names: readonly string[]): Promise<Figures> {
  let bytes = 0;
  for (const name of names) bytes += (await Deno.stat(join(root, name))).size;
  return { files: names.length, bytes, seconds: 0 };
}
