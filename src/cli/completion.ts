/** `heliograph completion bash|zsh|fish`: a script that lets Tab complete commands and options, made from the commands there are. */
import { Argument, Command, type Option } from "commander";
import { print } from "./console.ts";
import { withExample } from "./example.ts";

interface Node {
  /** "account create"; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Command[];
  /** Those that have a long name. */
  readonly options: readonly (Option & { readonly long: string })[];
}

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export function completionCommand(program: () => Promise<Command>): Command {
  const command = new Command("completion").description(
    "Print a script for your shell with which Tab completes commands, options and their choices.",
  );
  return withExample(
    command,
    "source <(heliograph completion bash)                                    # in ~/.bashrc",
    "source <(heliograph completion zsh)                                     # in ~/.zshrc, after compinit",
    "heliograph completion fish > ~/.config/fish/completions/heliograph.fish",
  )
    .addArgument(new Argument("<shell>", "which").choices(SHELLS))
    .action(async (shell: Shell) => {
      print(SCRIPTS[shell](nodesOf(await program(), "")));
    });
}

function nodesOf(command: Command, path: string): Node[] {
  const { commands } = command;
  const options = [...command.options, ...command.createHelp().visibleOptions(command)].filter(
    (option, index, all): option is Node["options"][number] =>
      option.long !== undefined && all.findIndex(({ long }) => long === option.long) === index,
  );
  return [{ path, commands, options }, ...commands.flatMap((one) => nodesOf(one, `${path} ${one.name()}`.trim()))];
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** What a shell takes as it stands. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const DIRECTORIES = ["--data"];
const FILES = ["--config", "--faults"];

/**
 * The path of commands so far is found among the words before the cursor; what begins with a dash, and what stands behind an option with a
 * value, is no part of it.
 */
function bash(nodes: readonly Node[]): string {
  const withValue = [...new Set(nodes.flatMap(({ options }) => options.filter(takesValue)).map(({ long }) => long))];
  const words = nodes.map(({ path, commands, options }) => {
    const all = [...commands.map((one) => one.name()), ...options.map(({ long }) => long)];
    return `    ${quote(path)}) words=${quote(all.join(" "))} ;;`;
  });
  const choices = nodes.flatMap(({ path, options }) =>
    options.flatMap(({ long, argChoices }) =>
      argChoices === undefined ? [] : `    ${quote(`${path} ${long}`)}) words=${quote(argChoices.join(" "))} ;;`,
    ),
  );
  const known = nodes.filter(({ path }) => path !== "").map(({ path }) => quote(path));
  return `# Completion for bash: source <(heliograph completion bash)
_heliograph() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="" path="" words="" word index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$before" in
      ${withValue.join("|")}) before=""; continue ;;
    esac
    before="$word"
    case "$word" in -*) continue ;; esac
    case "\${path:+$path }$word" in
      ${known.join("|")}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$before" in
    ${DIRECTORIES.join("|")}) COMPREPLY=($(compgen -d -- "$current")); return ;;
    ${FILES.join("|")}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$path $before" in
${choices.join("\n")}
  esac
  if [[ -z "$words" ]]; then
    case "$before" in
      ${withValue.join("|")}) return ;;
    esac
    case "$path" in
${words.join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$path" in
    apply|export) [[ "$current" == -* ]] || COMPREPLY+=($(compgen -f -- "$current")) ;;
    completion) COMPREPLY+=($(compgen -W ${quote(SHELLS.join(" "))} -- "$current")) ;;
  esac
}
complete -F _heliograph heliograph
`;
}

/** Zsh can use bash's. */
function zsh(nodes: readonly Node[]): string {
  return `# Completion for zsh: source <(heliograph completion zsh)
autoload -Uz bashcompinit && bashcompinit
${bash(nodes).split("\n").slice(1).join("\n")}`;
}

function fish(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, commands, options }) => {
    const here = `-n ${quote(`__heliograph_at ${quote(path)}`)}`;
    return [
      ...commands.map((one) => {
        const says = one.summary() || one.description();
        return `complete -c heliograph -f ${here} -a ${quote(one.name())} -d ${quote(says)}`;
      }),
      ...options.map((option) => {
        const { long, description, argChoices } = option;
        const values = argChoices === undefined ? "" : ` -a ${quote(argChoices.join(" "))}`;
        return `complete -c heliograph ${here} -l ${long.slice(2)}${takesValue(option) ? " -r" : ""}${values} -d ${quote(description)}`;
      }),
    ];
  });
  const known = nodes.filter(({ path }) => path !== "").map(({ path }) => quote(path));
  return `# Completion for fish: heliograph completion fish > ~/.config/fish/completions/heliograph.fish
function __heliograph_at
  set -l known ${known.join(" ")}
  set -l path ""
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$path $word")
    contains -- "$longer" $known; and set path "$longer"
  end
  test "$path" = "$argv[1]"
end
${lines.join("\n")}
complete -c heliograph -f -n "__heliograph_at completion" -a ${quote(SHELLS.join(" "))}
`;
}

const SCRIPTS: Readonly<Record<Shell, (nodes: readonly Node[]) => string>> = { bash, zsh, fish };
