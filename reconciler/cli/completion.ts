import { commonOptions } from './command-line.ts';
import { type Command, type CommandOption, type ParsedArguments, type Program, UsageError } from './command.ts';
import type { Terminal } from './terminal.ts';

const scripts: Readonly<Record<string, (program: Program) => string>> = {
  bash: bashScript,
  zsh: (program) => ['autoload -U +X bashcompinit && bashcompinit', bashScript(program)].join('\n'),
  fish: fishScript,
};
const shells = Object.keys(scripts).join(', ');

/** Completes commands, options and clusters in a shell. @param program the one whose command this is */
export function completionOf(program: () => Program): Command {
  const printing = ({ positionals }: ParsedArguments) => {
    const [shell = '', ...more] = positionals;
    const script = more.length === 0 ? scripts[shell] : undefined;
    if (!script) throw new UsageError(`set one shell of ${shells}, not "${positionals.join(' ')}"`);
    return (terminal: Terminal) => terminal.print(script(program()));
  };
  return {
    name: 'completion',
    usage: 'bash|zsh|fish',
    summary: 'Prints a script that completes commands, options and clusters, to be sourced by the shell.',
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

function bashScript({ name: program, commands }: Program): string {
  const rows = commands.map((command) => {
    const clusters = takesCluster(command) ? ' clusters=1' : '';
    return `    ${command.name}) options="${flagsOf(command.options)}"${clusters} ;;`;
  });
  const names = commands.map(({ name }) => name).join(' ');
  const complete = `_${program.replaceAll('-', '_')}`;
  return `${complete}() {
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
complete -o default -F ${complete} ${program}`;
}

function fishScript({ name: program, commands }: Program): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const option = (condition: string, [name, { short, type, meaning }]: readonly [string, CommandOption]) =>
    [
      `complete -c ${program}`,
      ...(condition === '' ? [] : [`-n ${quoted(condition)}`]),
      `-l ${name}`,
      ...(short === undefined ? [] : [`-s ${short}`]),
      ...(type === 'string' ? ['-r'] : []),
      `-d ${quoted(meaning)}`,
    ].join(' ');
  const seen = (name: string) => `__fish_seen_subcommand_from ${name}`;
  return [
    ...commands.map(
      ({ name, summary }) => `complete -c ${program} -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ),
    ...commands.flatMap(({ name, options }) => Object.entries(options).map((entry) => option(seen(name), entry))),
    ...commands.filter(takesCluster).map(({ name, usage }) => {
      const files = usage.startsWith('FILE') ? '' : ' -f';
      return `complete -c ${program} -n ${quoted(seen(name))}${files} -a '(hcp list -o name 2>/dev/null)'`;
    }),
    ...Object.entries(commonOptions).map((entry) => option('', entry)),
  ].join('\n');
}
