/**
 * Scripts by which shells complete the command's words, made from its flags.
 *
 * @module
 */
import { type Flags, UsageError } from "./arguments.ts";

/** The name that the scripts complete: what the command is installed as. */
const NAME = "grpc";

/** A verb and its flags. */
interface CompletedVerb {
  readonly name: string;
  readonly about: string;
  readonly flags: Flags;
}

const SHELLS: Readonly<Record<string, (verbs: readonly CompletedVerb[]) => string>> = {
  bash,
  zsh,
  fish,
};

/** The script of a shell. */
export function completion(shell: string | undefined, verbs: readonly CompletedVerb[]): string {
  const make = shell !== undefined && Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (make !== undefined) return make(verbs);
  throw new UsageError(`completion is for ${Object.keys(SHELLS).join(", ")}: name one of them`);
}

function allFlags(verbs: readonly CompletedVerb[]): Flags {
  return Object.assign({}, ...verbs.map(({ flags }) => flags));
}

function bash(verbs: readonly CompletedVerb[]): string {
  const flags = Object.entries(allFlags(verbs));
  const words = [...verbs.map(({ name }) => name), ...flags.map(([name]) => `-${name}`)];
  const cases = flags.filter(([, { type }]) => type !== "boolean").map(([name, { words }]) => {
    const reply = words === "files"
      ? "-f"
      : words === "folders"
      ? "-d"
      : `-W ${quoted((words ?? []).join(" "))}`;
    return `    -${name}) COMPREPLY=($(compgen ${reply} -- "$word")); return ;;\n`;
  });
  return `# bash completion of ${NAME}: source <(${NAME} completion bash)
_${NAME}() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[COMP_CWORD-1]/#--/-}" in
${cases.join("")}    serve) COMPREPLY=($(compgen -f -- "$word")); return ;;
    completion) COMPREPLY=($(compgen -W ${
    quoted(Object.keys(SHELLS).join(" "))
  } -- "$word")); return ;;
  esac
  COMPREPLY=($(compgen -W ${quoted(words.join(" "))} -- "$word"))
}
complete -F _${NAME} ${NAME}
`;
}

function zsh(verbs: readonly CompletedVerb[]): string {
  const flags = Object.entries(allFlags(verbs)).map(([name, { type, value, about, words }]) => {
    const repeated = type === "list" ? "'*'" : "";
    const action = words === "files"
      ? "_files"
      : words === "folders"
      ? "_files -/"
      : words === undefined
      ? ""
      : `(${words.join(" ")})`;
    const argument = type === "boolean" ? "" : `:${value}:${action}`;
    return `    ${repeated}${
      quoted(`-${name}[${about.replace(/[[\]:]/g, "\\$&")}]${argument}`)
    } \\\n`;
  });
  const names = verbs.map(({ name }) => name).join(" ");
  return `#compdef ${NAME}
# zsh completion of ${NAME}: ${NAME} completion zsh > "\${fpath[1]}/_${NAME}"
_${NAME}() {
  _arguments \\
${flags.join("")}    '*:word:(${names})'
}
if [ "$funcstack[1]" = "_${NAME}" ]; then _${NAME} "$@"; else compdef _${NAME} ${NAME}; fi
`;
}

function fish(verbs: readonly CompletedVerb[]): string {
  const flags = Object.entries(allFlags(verbs)).map(([name, { type, about, words }]) => {
    const value = type === "boolean"
      ? ""
      : words === "files"
      ? " -r -F"
      : words === "folders"
      ? " -x -a '(__fish_complete_directories)'"
      : ` -x${words === undefined ? "" : ` -a ${quoted(words.join(" "))}`}`;
    return `complete -c ${NAME} -o ${name}${value} -d ${quoted(about)}\n`;
  });
  const words = verbs.map(({ name, about }) =>
    `complete -c ${NAME} -n __fish_use_subcommand -a ${name} -d ${quoted(about)}\n`
  );
  return `# fish completion of ${NAME}: ${NAME} completion fish | source
complete -c ${NAME} -f
${words.join("")}${flags.join("")}complete -c ${NAME} -n '__fish_seen_subcommand_from serve' -F
complete -c ${NAME} -n '__fish_seen_subcommand_from completion' -a ${
    quoted(Object.keys(SHELLS).join(" "))
  }
`;
}

/** A word of a shell. */
function quoted(text: string): string {
  return `'${text.replace(/'/g, "'\\''")}'`;
}
