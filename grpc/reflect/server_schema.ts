import type { DescExtension, DescFile, Registry } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallOptions } from "../client/call_options.ts";
import type { Conn } from "../client/conn.ts";
import { FilePool, invalid, shown, tooMuch } from "./file_pool.ts";
import type { ReflectSettings } from "./options.ts";
import { type Answer, type Ask, type Question, Questions, refused } from "./questions.ts";

/** Characters of a name: servers answer by repeating it. */
const MAX_NAME_LENGTH = 4096;

/** Outcome of looking for one of several symbols. */
export type Found = { readonly file: DescFile } | { readonly error: ConnectError };

/**
 * The schema of a server, as far as it was asked for: descriptors are fetched once, with their imports,
 * and kept.
 */
export class ServerSchema {
  readonly #questions: Questions;
  readonly #settings: ReflectSettings;
  readonly #pool: FilePool;

  constructor(conn: Conn, settings: ReflectSettings) {
    this.#questions = new Questions(conn);
    this.#settings = settings;
    this.#pool = new FilePool(settings.limits);
  }

  /** All types that were fetched. */
  get registry(): Registry {
    return this.#pool.registry;
  }

  #during<T>(run: (ask: Ask) => Promise<T>, signal?: AbortSignal | null): Promise<T> {
    const { timeout, headers } = this.#settings;
    const options: CallOptions = {
      headers,
      ...(timeout === Infinity ? {} : { timeout }),
      ...(signal ? { signal } : {}),
    };
    return this.#questions.during(options, run);
  }

  /** Names of the services that the server lists, in its order. */
  services(signal?: AbortSignal | null): Promise<readonly string[]> {
    return this.#during(async (ask) => {
      const answer = await askOne(ask, { case: "listServices", value: "*" });
      const { service } = valueOf(answer, "listServicesResponse", "the list of services");
      const { maxServices } = this.#settings.limits;
      if (service.length > maxServices) {
        throw tooMuch(`${maxServices} services (limits.maxServices)`);
      }
      const tooLong = service.find(({ name }) => name.length > MAX_NAME_LENGTH);
      if (tooLong !== undefined) throw invalid(`it lists a service ${shown(tooLong.name)}`);
      return [...new Set(service.map(({ name }) => name))];
    }, signal);
  }

  /** The file that declares a symbol, linked. */
  async fileOf(symbol: string): Promise<DescFile> {
    const [found] = await this.filesOf([symbol]);
    if ("error" in found!) throw found.error;
    return found!.file;
  }

  /**
   * The files that declare symbols, fetched side by side. One that is not there, or is wrong, leaves
   * the others alone.
   */
  async filesOf(
    symbols: readonly string[],
    signal?: AbortSignal | null,
  ): Promise<readonly Found[]> {
    const plain = symbols.map((symbol) => checkName(symbol.replace(/^\./, "")));
    const missing = plain.filter((symbol) => this.#linked(symbol) === undefined);
    const errors = new Map<string, ConnectError>();
    if (missing.length > 0) {
      await this.#during(async (ask) => {
        const came = new Map<string, readonly string[]>();
        await ask(
          missing.map((value) => ({ case: "fileContainingSymbol", value })),
          (answer, i) => {
            const symbol = missing[i]!;
            attempt(errors, symbol, () => came.set(symbol, this.#take(answer, shown(symbol))));
          },
        );
        await this.#fetchImports(ask, [...came.values()].flat());
        for (const [symbol, names] of came) attempt(errors, symbol, () => this.#pool.link(names));
      }, signal);
    }
    return plain.map((symbol) => {
      const file = this.#linked(symbol);
      if (file !== undefined) return { file };
      const error = errors.get(symbol) ??
        invalid(`asked for ${shown(symbol)}, it gives files that do not declare it`);
      return { error };
    });
  }

  #linked(symbol: string): DescFile | undefined {
    const name = this.#pool.declaring(symbol);
    return name === undefined ? undefined : this.#pool.file(name);
  }

  /** A file by its name, linked. */
  async file(name: string): Promise<DescFile> {
    const known = this.#pool.file(checkName(name));
    if (known !== undefined) return known;
    await this.#during(async (ask) => {
      const answer = await askOne(ask, { case: "fileByFilename", value: name });
      const names = this.#take(answer, `file ${shown(name)}`);
      await this.#fetchImports(ask, names);
      this.#pool.link(names);
    });
    const file = this.#pool.file(name);
    if (file === undefined) throw invalid(`asked for file ${shown(name)}, it gives others`);
    return file;
  }

  /** Extensions of a message, by number; those of one that the server does not know are none. */
  async extensionsOf(message: string): Promise<readonly DescExtension[]> {
    const name = checkName(message.replace(/^\./, ""));
    await this.#during(async (ask) => {
      const answer = await askOne(ask, { case: "allExtensionNumbersOfType", value: name });
      // Servers without the question, or without the message.
      if (answer.case === "errorResponse") return;
      const { extensionNumber } = valueOf(
        answer,
        "allExtensionNumbersResponse",
        `the extensions of ${shown(name)}`,
      );
      const { maxFiles } = this.#settings.limits;
      const known = new Set(this.#pool.extensionsOf(name).map(({ number }) => number));
      const numbers = [...new Set(extensionNumber)].filter((number) => !known.has(number));
      if (numbers.length > maxFiles) throw tooMuch(`${maxFiles} extensions (limits.maxFiles)`);
      const names: string[] = [];
      await ask(
        numbers.map((number) => ({
          case: "fileContainingExtension",
          value: { containingType: name, extensionNumber: number },
        })),
        (one, i) => {
          names.push(...this.#take(one, `extension ${numbers[i]} of ${shown(name)}`));
        },
      );
      await this.#fetchImports(ask, names);
      this.#pool.link(names);
    });
    return this.#pool.extensionsOf(name);
  }

  /** Takes the files of an answer; gives their names. */
  #take(answer: Answer, what: string): readonly string[] {
    const { fileDescriptorProto } = valueOf(answer, "fileDescriptorResponse", what);
    return this.#pool.add(fileDescriptorProto);
  }

  /** Asks for imports until none is missing. One that the server has not is left out. */
  async #fetchImports(ask: Ask, names: readonly string[]): Promise<void> {
    const { maxRounds, maxFiles } = this.#settings.limits;
    let wanted = this.#pool.wanted(names);
    for (let round = 1; wanted.length > 0; round++) {
      if (round > maxRounds) throw tooMuch(`${maxRounds} rounds of imports (limits.maxRounds)`);
      if (wanted.length > maxFiles) throw tooMuch(`${maxFiles} files (limits.maxFiles)`);
      const asked = wanted;
      await ask(
        asked.map((value) => ({ case: "fileByFilename", value: checkName(value) })),
        (answer, i) => this.#takeImport(answer, asked[i]!),
      );
      wanted = this.#pool.wanted(names);
    }
  }

  #takeImport(answer: Answer, name: string): void {
    if (answer.case === "errorResponse") return this.#pool.markAbsent(name);
    const what = `file ${shown(name)}`;
    const errors = new Map<string, ConnectError>();
    attempt(errors, name, () => {
      this.#take(answer, what);
      if (!this.#pool.has(name)) throw invalid(`asked for ${what}, it gives others`);
    });
    const error = errors.get(name);
    if (error !== undefined) this.#pool.markBroken(name, error);
  }
}

async function askOne(ask: Ask, question: Question): Promise<Answer> {
  let answer: Answer = { case: undefined };
  await ask([question], (one) => answer = one);
  return answer;
}

function checkName(name: string): string {
  if (name !== "" && name.length <= MAX_NAME_LENGTH) return name;
  throw new ConnectError(
    `Cannot ask for a name as it must have 1 to ${MAX_NAME_LENGTH} characters: it has ${name.length}`,
    Code.InvalidArgument,
  );
}

/** The value of an answer of the kind that fits the question. */
function valueOf<K extends Answer["case"]>(
  answer: Answer,
  kind: K,
  what: string,
): Extract<Answer, { readonly case: K }>["value"] {
  if (answer.case === kind) return answer.value as never;
  if (answer.case === "errorResponse") throw refused(what, answer);
  throw invalid(`asked for ${what}, it answers with ${answer.case ?? "nothing"}`);
}

/** Runs a step for one of several names; keeps its error, unless it is about all of them. */
function attempt(errors: Map<string, ConnectError>, name: string, step: () => unknown): void {
  try {
    step();
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code === Code.ResourceExhausted) throw error;
    errors.set(name, error);
  }
}
