import { commonOptions, takesCluster } from './command-line.ts';
import {
  allCommands,
  type Command,
  type CommandOption,
  optionsOf,
  type ParsedArguments,
  type Program,
  UsageError,
} from './command.ts';
import type { Terminal } from './terminal.ts';

/** A program whose commands are loaded, because their options are completed. */
interface Completed extends Pick<Program, 'name' | 'commands'> {
  readonly loaded: readonly Command[];
}

const scripts: Readonly<Record<string, (program: Completed) => string>> = {
  bash: bashScript,
  zsh: (program) => ['autoload -U +X bashcompinit && bashcompinit', bashScript(program)].join('\n'),
  fish: fishScript,
};
const shells = Object.keys(scripts);

/** Completes commands, options, their values and what exists in the management cluster. @param program the one whose command this is */
export function completionOf(program: Program): Command {
  const printing = ({ positionals }: ParsedArguments) => {
    const [shell = '', ...more] = positionals;
    const script = more.length === 0 ? scripts[shell] : undefined;
    if (!script) throw new UsageError(`set one shell of ${shells.join(', ')}, not "${positionals.join(' ')}"`);
    return async (terminal: Terminal) =>
      terminal.print(script({ name: program.name, commands: program.commands, loaded: await allCommands(program) }));
  };
  return {
    name: 'completion',
    examples: [
      [`completion bash >~/.local/share/bash-completion/completions/${program.name}`, 'for every bash of yours'],
      [`completion zsh >"\${fpath[1]}/_${program.name}"`, 'for zsh'],
      [`completion fish >~/.config/fish/completions/${program.name}.fish`, 'for fish'],
    ],
    usage: shells.join('|'),
    summary:
      'Prints a script that completes commands, options, namespaces, clusters and backups, to be sourced by the shell.',
    options: {},
    // the script runs hcp list and hcp backups
    access: [],
    prepare: (given) => (session) => printing(given)(session.terminal),
    offline: printing,
  };
}

type Options = Readonly<Record<string, CommandOption>>;

/** What lists values of options, in a shell whose `scope` has the options of the typed line that select a management cluster and a namespace. */
const listings = {
  namespaces: 'hcp list -A -o name $scope 2>/dev/null | cut -d/ -f1 | sort -u',
  contexts: 'kubectl config get-contexts -o name 2>/dev/null',
  clusters: 'hcp list -o name $scope 2>/dev/null',
  everywhere: 'hcp list -A -o name $scope 2>/dev/null',
  backups: 'hcp backups $cluster -o name $scope 2>/dev/null',
} as const;

/** What lists the values of an option; undefined for one that has none, or whose values are files or free. */
function listingOf(name: string): string | undefined {
  return { namespace: listings.namespaces, context: listings.contexts, backup: listings.backups }[name];
}

/** The values that an option may have, or the words with which the usage of a command begins. */
function wordsOf(text: string | undefined): readonly string[] {
  return /^[a-z]+(\|[a-z]+)+/.exec(text ?? '')?.[0].split('|') ?? [];
}

function namesOf(name: string, { short }: CommandOption): readonly string[] {
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}

const valued = (options: Options) => Object.entries(options).filter(([, { type }]) => type === 'string');

function bashScript({ name: program, commands, loaded }: Completed): string {
  const flags = loaded.map((command) => {
    const names = Object.keys({ ...optionsOf(command), ...commonOptions }).map((name) => `--${name}`);
    const facts = [`options="${names.join(' ')}"`, `verbs="${wordsOf(command.usage).join(' ')}"`];
    return `    ${command.name}) ${facts.join(' ')}${takesCluster(command.usage) ? ' clusters=1' : ''} ;;`;
  });
  const ofValues = (command: string, options: Options) =>
    valued(options).flatMap(([name, option]) => {
      const listing = listingOf(name);
      const words = listing === undefined ? wordsOf(option.value).join(' ') : `$(${listing})`;
      const pattern = namesOf(name, option).map((each) => `${command}:${each}`);
      return [`    ${pattern.join('|')}) words="${words}" ;;`];
    });
  const values = loaded.flatMap((command) => ofValues(command.name, optionsOf(command)));
  const scoped = valued(commonOptions).flatMap(([name, option]) => namesOf(name, option));
  const skipped = loaded.flatMap((command) =>
    valued(optionsOf(command)).flatMap(([name, option]) => namesOf(name, option)),
  );
  const names = commands.map(({ name }) => name).join(' ');
  const complete = `_${program.replaceAll('-', '_')}`;
  return `${complete}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="" command="" first="" cluster="" scope="" option="" word
  local options="" verbs="" clusters="" words="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}" previous=""
    if [ "$word" = = ]; then previous="$option"
    elif [ -n "$option" ]; then
      case "$option" in ${scoped.join('|')}) scope="$scope $option $word" ;; esac
      option=""
    else
      case "$word" in
        ${[...new Set([...scoped, ...skipped])].join('|')}) option="$word" previous="$word" ;;
        -*) ;;
        *) if [ -z "$command" ]; then command="$word"; else first="\${first:-$word}" cluster="$word"; fi ;;
      esac
    fi
  done
  if [ "$current" = = ]; then previous="$option" current=""; fi
  case "$command" in
${flags.join('\n')}
  esac
  case "$command:$previous" in
${[...ofValues('*', commonOptions), ...values].join('\n')}
    :) words="${names} help version --version --help ${scoped.join(' ')}" ;;
    help:) words="${names}" ;;
    *)
      if [ "\${current:0:1}" = - ]; then words="$options"
      elif [ -n "$verbs" ] && [ -z "$first" ]; then words="$verbs"
      elif [ -n "$clusters" ] && [[ "$current" = */* ]]; then words="$(${listings.everywhere})"
      elif [ -n "$clusters" ]; then words="$(${listings.clusters})"
      fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F ${complete} ${program}`;
}

function fishScript({ name: program, commands, loaded }: Completed): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const scope = '(__hcp_scope)';
  const listed = (listing: string) => `(${listing.replace('$scope', scope).replace('$cluster', '(__hcp_cluster)')})`;
  const option = (condition: string, [name, described]: readonly [string, CommandOption]) => {
    const { short, type, meaning, value } = described;
    const listing = listingOf(name);
    const words = listing === undefined ? wordsOf(value).join(' ') : listed(listing);
    return [
      `complete -c ${program}`,
      ...(condition === '' ? [] : [`-n ${quoted(condition)}`]),
      `-l ${name}`,
      ...(short === undefined ? [] : [`-s ${short}`]),
      ...(type === 'string' ? ['-r'] : []),
      ...(words === '' ? [] : ['-f', `-a ${quoted(words)}`]),
      `-d ${quoted(meaning)}`,
    ].join(' ');
  };
  const seen = (name: string) => `__fish_seen_subcommand_from ${name}`;
  return [
    'function __hcp_scope',
    '  set -l words (commandline -opc)',
    '  for index in (seq (count $words))',
    `    if contains -- $words[$index] ${valued(commonOptions)
      .flatMap(([name, each]) => namesOf(name, each))
      .join(' ')}`,
    '      printf "%s\\n" $words[$index..(math $index + 1)]',
    '    end',
    '  end',
    'end',
    'function __hcp_cluster',
    '  set -l words (commandline -opc)',
    '  test (count $words) -gt 2; and echo $words[3]',
    'end',
    ...commands.map(
      ({ name, short }) => `complete -c ${program} -n __fish_use_subcommand -f -a ${name} -d ${quoted(short)}`,
    ),
    ...loaded.flatMap((command) =>
      Object.entries(optionsOf(command)).map((entry) => option(seen(command.name), entry)),
    ),
    ...loaded.flatMap(({ name, usage }) => {
      const words = wordsOf(usage);
      return words.length === 0 ? [] : [`complete -c ${program} -n ${quoted(seen(name))} -f -a '${words.join(' ')}'`];
    }),
    ...loaded
      .filter(({ usage }) => takesCluster(usage))
      .map(({ name, usage }) => {
        const files = usage.startsWith('FILE') ? '' : ' -f';
        return `complete -c ${program} -n ${quoted(seen(name))}${files} -a '${listed(listings.clusters)}'`;
      }),
    ...Object.entries(commonOptions).map((entry) => option('', entry)),
  ].join('\n');
}
