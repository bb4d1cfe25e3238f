import { commonOptions } from './command-line.ts';
import { type Command, type CommandOption, type Given, UsageError } from './command.ts';
import type { Terminal } from './terminal.ts';

const scripts: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: bashScript,
  zsh: (commands) => ['autoload -U +X bashcompinit && bashcompinit', bashScript(commands)].join('\n'),
  fish: fishScript,
};
const shells = Object.keys(scripts).join(', ');

/** Completes commands, options and clusters in a shell. @param all the commands, which this one is among */
export function completionOf(all: () => readonly Command[]): Command {
  const printing = ({ positionals }: Given) => {
    const [shell = '', ...more] = positionals;
    const script = more.length === 0 ? scripts[shell] : undefined;
    if (!script) throw new UsageError(`set one shell of ${shells}, not "${positionals.join(' ')}"`);
    return (terminal: Terminal) => terminal.print(script(all()));
  };
  return {
    name: 'completion',
    usage: 'bash|zsh|fish',
    summary: 'Prints a script that completes commands, options and clusters in a shell: source <(hcp completion bash).',
    options: {},
    // the script runs hcp list
    access: [],
    prepare: (given) => async (session) => printing(given)(session.terminal),
    offline: printing,
  };
}

type Options = Readonly<Record<string, CommandOption>>;

function flagsOf(options: Options): string {
  return Object.keys({ ...options, ...commonOptions })
    .map((name) => `--${name}`)
    .join(' ');
}

/** Whether its argument is, or may be, a cluster: those that exist are asked for. */
function takesCluster({ usage }: Command): boolean {
  return /(^|\| )CLUSTER/.test(usage);
}

function bashScript(commands: readonly Command[]): string {
  const rows = commands.map((command) => {
    const clusters = takesCluster(command) ? ' clusters=1' : '';
    return `    ${command.name}) options="${flagsOf(command.options)}"${clusters} ;;`;
  });
  const names = commands.map(({ name }) => name).join(' ');
  return `_hcp() {
  local current="\${COMP_WORDS[COMP_CWORD]}" options="" clusters="" words=""
  case "\${COMP_WORDS[1]}" in
${rows.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${names} help --version"
  elif [ "\${COMP_WORDS[1]}" = help ]; then words="${names}"
  elif [ "\${current:0:1}" = - ]; then words="$options"
  elif [ -n "$clusters" ]; then words="$(hcp list -o name 2>/dev/null)"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _hcp hcp`;
}

function fishScript(commands: readonly Command[]): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const option = (condition: string, [name, { short, type, meaning }]: readonly [string, CommandOption]) =>
    [
      'complete -c hcp',
      ...(condition === '' ? [] : [`-n ${quoted(condition)}`]),
      `-l ${name}`,
      ...(short === undefined ? [] : [`-s ${short}`]),
      ...(type === 'string' ? ['-r'] : []),
      `-d ${quoted(meaning)}`,
    ].join(' ');
  const seen = (name: string) => `__fish_seen_subcommand_from ${name}`;
  return [
    ...commands.map(
      ({ name, summary }) => `complete -c hcp -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ),
    ...commands.flatMap(({ name, options }) => Object.entries(options).map((entry) => option(seen(name), entry))),
    ...commands.filter(takesCluster).map(({ name, usage }) => {
      const files = usage.startsWith('FILE') ? '' : ' -f';
      return `complete -c hcp -n ${quoted(seen(name))}${files} -a '(hcp list -o name 2>/dev/null)'`;
    }),
    ...Object.entries(commonOptions).map((entry) => option('', entry)),
  ].join('\n');
}
