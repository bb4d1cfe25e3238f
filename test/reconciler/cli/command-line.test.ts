import { describe, expect, it } from 'vitest';
import { allCommands, optionsOf, UsageError } from '../../../reconciler/cli/command.ts';
import { parseCommandLine } from '../../../reconciler/cli/command-line.ts';
import { hcp } from '../../../reconciler/cli/commands.ts';
import { helpOf, helpOfAll } from '../../../reconciler/cli/help.ts';
import { readListRequest } from '../../../reconciler/cli/backups.ts';
import { readRestoreRequest } from '../../../reconciler/cli/restore.ts';

const parse = (line: string) => parseCommandLine(line === '' ? [] : line.split(' '), hcp);

const commands = await allCommands(hcp);

describe('the command line', () => {
  it.each([
    ['', undefined],
    ['--help', undefined],
    ['help', undefined],
    ['help restore', 'restore'],
    ['restore --help', 'restore'],
    ['backups c1 -h', 'backups'],
    ['-n team help backups', 'backups'],
    ['help ls', 'list'],
    ['describe c1 --help', 'status'],
  ])('asks for help: "%s"', async (line, about) => {
    const parsed = await parse(line);
    expect(parsed.kind === 'help' && parsed.command?.name).toBe(about);
  });

  it.each([
    'backup c1 -n team --context eu --kubeconfig /k',
    '-n team --context eu backup --kubeconfig /k c1',
    '--kubeconfig=/k --context=eu --namespace=team backup c1',
    'backup team/c1 --context eu --kubeconfig /k',
    'backup team/c1 -n team --context eu --kubeconfig /k',
  ])('selects the management cluster as kubectl does, and a cluster as list prints it: "%s"', async (line) => {
    const target = { namespace: 'team', context: 'eu', kubeconfig: '/k', timeoutMs: undefined };
    expect(await parse(line)).toMatchObject({ kind: 'run', target });
  });

  it.each([
    ['move abort team/c1', 'team'],
    ['diff team/c1', 'team'],
    ['diff reconciler/cli', undefined],
    ['diff team/c1.yaml', undefined],
    ['diff ./team/c1', undefined],
    ['rebuild team/c1 --store s --keys k -n here', 'here'],
  ])('knows a cluster of another namespace from other arguments: "%s"', async (line, namespace) => {
    expect(await parse(line)).toMatchObject({ kind: 'run', target: { namespace } });
  });

  it('limits a wait', async () => {
    expect(await parse('wake c1 --wait --timeout 1m30s')).toMatchObject({ target: { timeoutMs: 90_000 } });
  });

  it.each([
    [
      'destroy c1',
      'unknown command "destroy": use one of list, status, report, backups, kubeconfig, collect, diff, preflight, images, render, backup, restore, rollback, rebuild, hibernate, wake, pause, resume, move, completion',
    ],
    ['delete c1', 'unknown command "delete": delete the Cluster with kubectl delete cluster NAME'],
    ['upgrade c1', 'hcp preflight CLUSTER --to VERSION says before what would hold it'],
    ['--wait', "Unknown option '--wait'"],
    ['status a/c1 -n b', 'a/c1 is in namespace a, and -n names b: leave one of them out'],
    ['wake c1 --timeout 10m', '--timeout is the time limit of --wait: set that, too'],
    ['wake c1 --wait --timeout soon', '--timeout must be a duration, such as 10m, not "soon"'],
    ['status c1 --timeout 10m', "Unknown option '--timeout'"],
    ['help destroy', 'unknown command "destroy"'],
    ['backup', 'the cluster is missing: set the name of the Cluster'],
    ['backup c1 c2', 'set one cluster, not 2: c1 c2'],
    ['hibernate c1 --wiat', "Unknown option '--wiat': did you mean --wait?"],
    ['statsu c1', 'unknown command "statsu": did you mean "status"?'],
    ['backup c1 -n', "Option '-n, --namespace <value>' argument missing"],
    ['backups c1 -o wide', '-o must be one of json, yaml, name, not "wide"'],
    ['status c1 -o name', '-o must be one of json, yaml, not "name"'],
    ['preflight c1 --to v1.37', '--to must have a patch, such as v1.37.0, not "v1.37"'],
    ['preflight c1 --to v1.37.0 -o xml', '-o must be one of json, yaml, not "xml"'],
    ['diff c1 -o xml', '-o must be one of json, yaml, not "xml"'],
    ['list prod', 'list takes no arguments: remove prod; status shows one control plane'],
    ['backups c1 --from c2', '--from must be NAMESPACE/CLUSTER, such as team/c1, not "c2"'],
    ['backups c1 --from a/b/c', '--from must be NAMESPACE/CLUSTER'],
    ['restore c1', 'set exactly one of --backup NAME, --latest and --before TIME'],
    ['restore c1 --latest --before 2026-11-21T09:00:00Z', 'set exactly one of'],
    ['restore c1 --backup newest', 'must be a name that hcp backups lists, such as 2026-'],
    ['restore c1 --backup 2026-13-41T09-15-31.123Z-1', 'must be a name that hcp backups lists'],
    ['restore c1 --before yesterday', '--before must be a time with its zone'],
    ['restore c1 --before 2026-11-21T09:00:00', '--before must be a time with its zone'],
    ['restore c1 --before 2026-11-41T09:00:00Z', '--before must be a time with its zone'],
    ['rebuild c1 --store s --keys k', 'set NAMESPACE/CLUSTER as in the names of its backups, such as team/c1'],
    ['rebuild team/c1 --keys k', '--store must name the Secret with the address of the bucket'],
    ['rebuild team/c1 --store s', '--keys must name the Secret with the encryption keys'],
    ['rebuild team/c1 --store s --keys k --latest --backup 2026-11-21T09-15-31.123Z-1', 'set exactly one of'],
    ['kubeconfig c1 --group a,system:masters', '--group must not contain system:masters'],
    ['kubeconfig c1 --user system:admin', '--user must be the name of a user, not "system:admin"'],
    ['kubeconfig c1 --user=', '--user must be the name of a user, not ""'],
    ['kubeconfig c1 --ttl 169h', '--ttl must be a duration from 10m to 168h, such as 8h, not "169h"'],
    ['kubeconfig c1 --ttl 0s', '--ttl must be a duration'],
    ['status', 'the cluster is missing: set the name of the Cluster'],
    ['kubeconfig c1 --ttl 1d', '--ttl must be a duration'],
  ])('is refused before anything is done: "%s"', async (line, message) => {
    await expect(parse(line)).rejects.toThrow(UsageError);
    await expect(parse(line)).rejects.toThrow(message);
  });

  it('names the command whose help explains its arguments', async () => {
    await expect(parse('ls c1')).rejects.toMatchObject({ command: 'list' });
    await expect(parse('destroy')).rejects.toMatchObject({ command: undefined });
  });

  it('knows each command by the name of its entry', () => {
    expect(commands.map(({ name }) => name)).toEqual(hcp.commands.map(({ name }) => name));
  });
});

const id = '2026-11-21T09-15-31.123Z-4711';
const given = (values: Record<string, string | boolean>) => ({ positionals: ['c1'], values });

describe('the request of a restore', () => {
  it.each([
    [{ backup: id }, { choice: { kind: 'backup', id } }],
    [{ latest: true }, { choice: { kind: 'latest' }, yes: false, wait: false, from: undefined }],
    [{ before: '2026-11-21T09:00+01:00' }, { choice: { kind: 'before', before: '2026-11-21T09:00+01:00' } }],
    [
      { backup: '2026-08-21T20:15:00+02:00.etcd' },
      { choice: { kind: 'bareSnapshot', name: '2026-08-21T20:15:00+02:00.etcd' } },
    ],
    [{ latest: true, from: 'team/c2' }, { from: { namespace: 'team', cluster: 'c2' } }],
    [
      { latest: true, yes: true, wait: true },
      { yes: true, wait: true },
    ],
  ])('is read from %o', (values, expected) => {
    expect(readRestoreRequest(given(values))).toMatchObject({ cluster: 'c1', ...expected });
  });
});

it('the request of a list is for people unless JSON is requested', () => {
  expect(readListRequest(given({}))).toEqual({ cluster: 'c1', from: undefined, output: undefined });
  expect(readListRequest(given({ output: 'json' })).output).toBe('json');
});

describe('help', () => {
  it('names every command in a group, and fits a terminal of 80 columns', () => {
    const lines = helpOfAll(hcp).split('\n');
    for (const { name, group, short } of hcp.commands) {
      const heading = lines.indexOf(`${group}:`);
      expect(lines.slice(heading, lines.indexOf('', heading)).join('\n')).toMatch(`  ${name} `);
      expect(short).not.toMatch(/\.$/);
    }
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  describe.each(commands.map((command) => [command.name, command] as const))('of %s', (_, command) => {
    const lines = helpOf(hcp, command).split('\n');

    it('explains every option, within 80 columns', () => {
      for (const option of Object.keys(optionsOf(command))) expect(lines.join('\n')).toContain(`--${option}`);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    });

    it('begins with examples that it understands', async () => {
      expect(lines[0]).toBe('Examples:');
      for (const [line] of command.examples) {
        const [words = ''] = line.split(/ [|<>]/);
        expect(await parse(words)).toMatchObject({ kind: command.offline ? 'offline' : 'run' });
      }
    });
  });
});

it.each(['--version', 'version', '-n team --version'])('prints the release: %s', async (line) => {
  expect(await parse(line)).toEqual({ kind: 'version' });
});
