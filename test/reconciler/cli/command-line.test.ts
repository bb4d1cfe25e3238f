import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../reconciler/cli/command.ts';
import { parseCommandLine } from '../../../reconciler/cli/command-line.ts';
import { commands, hcp } from '../../../reconciler/cli/commands.ts';
import { helpOf, helpOfAll } from '../../../reconciler/cli/help.ts';
import { readListRequest } from '../../../reconciler/cli/backups.ts';
import { readRestoreRequest } from '../../../reconciler/cli/restore.ts';

const parse = (line: string) => parseCommandLine(line === '' ? [] : line.split(' '), hcp);

describe('the command line', () => {
  it.each([
    ['', undefined],
    ['--help', undefined],
    ['help', undefined],
    ['help restore', 'restore'],
    ['restore --help', 'restore'],
    ['backups c1 -h', 'backups'],
  ])('asks for help: "%s"', (line, about) => {
    const parsed = parse(line);
    expect(parsed.kind === 'help' && parsed.command?.name).toBe(about);
  });

  it('selects the management cluster as kubectl does', () => {
    expect(parse('backup c1 -n team --context eu --kubeconfig /k')).toMatchObject({
      kind: 'run',
      target: { namespace: 'team', context: 'eu', kubeconfig: '/k' },
    });
    expect(parse('backup c1 --namespace=team')).toMatchObject({ target: { namespace: 'team', context: undefined } });
  });

  it.each([
    [
      'destroy c1',
      'unknown command "destroy": use one of list, status, report, collect, backup, backups, restore, rebuild, move, preflight, rollback, kubeconfig, hibernate, wake, pause, resume, render, diff, completion',
    ],
    ['help destroy', 'unknown command "destroy"'],
    ['backup', 'the cluster is missing: set the name of the Cluster'],
    ['backup c1 c2', 'set one cluster, not 2: c1 c2'],
    ['hibernate c1 --wiat', "Unknown option '--wiat': did you mean --wait?"],
    ['statsu c1', 'unknown command "statsu": did you mean "status"?'],
    ['backup c1 -n', "Option '-n, --namespace <value>' argument missing"],
    ['backups c1 -o wide', '-o must be one of json, yaml, not "wide"'],
    ['status c1 -o name', '-o must be one of json, yaml, not "name"'],
    ['preflight c1 --to v1.37.0 -o xml', '-o must be one of json, yaml, not "xml"'],
    ['diff c1 -o xml', '-o must be one of json, yaml, not "xml"'],
    ['list prod', 'list takes no arguments: remove prod'],
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
  ])('is refused before anything is done: "%s"', (line, message) => {
    expect(() => parse(line)).toThrow(UsageError);
    expect(() => parse(line)).toThrow(message);
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
  it('fits one screen and names every command', () => {
    const lines = helpOfAll(hcp).split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    for (const { name } of commands) expect(lines.join('\n')).toContain(`hcp ${name} `);
  });

  it.each(commands.map((command) => [command.name, command] as const))('explains every option of %s', (_, command) => {
    const text = helpOf(hcp, command);
    for (const option of Object.keys(command.options)) expect(text).toContain(`--${option}`);
    for (const line of text.split('\n').slice(1)) expect(line.length).toBeLessThanOrEqual(120);
  });
});

it('prints the release', () => expect(parse('--version')).toEqual({ kind: 'version' }));
