import { stringify } from 'yaml';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { type Command, hasSwitch, type Session, textOption, UsageError } from './command.ts';
import type { StoredControlPlane } from './control-plane-state.ts';
import { entryOf, type FleetEntry } from './list/fleet-entry.ts';
import { describeFleet } from './list/fleet-table.ts';

/** What `-o` chooses, for other programs. */
const formats: Readonly<Record<string, (entries: readonly FleetEntry[]) => string[]>> = {
  json: (entries) => [JSON.stringify({ controlPlanes: entries }, undefined, 2)],
  yaml: (entries) => [stringify({ controlPlanes: entries }).trimEnd()],
  name: (entries) => entries.map(({ cluster }) => cluster),
};

/** Lists control planes, so that a person sees which one needs them. */
export const list: Command = {
  name: 'list',
  usage: '[-A] [-o wide|json|yaml|name]',
  summary: 'Lists control planes: what blocks them, members of etcd, expiry of certificates, last backup.',
  options: {
    'all-namespaces': { type: 'boolean', short: 'A', meaning: 'list those of all namespaces' },
    output: {
      type: 'string',
      short: 'o',
      value: 'wide|json|yaml|name',
      meaning: 'add endpoints, ages and messages; or print JSON, YAML, or names of clusters only',
    },
  },
  access: [
    { resource: HostedControlPlane, verbs: ['list'], why: 'control planes of one namespace' },
    { resource: HostedControlPlane, verbs: ['list'], why: 'those of all namespaces, with -A', where: 'cluster' },
  ],
  prepare(given) {
    const { positionals } = given;
    if (positionals.length > 0) throw new UsageError(`list takes no arguments: remove ${positionals.join(' ')}`);
    const output = textOption(given, 'output');
    const format = output === undefined ? undefined : formats[output];
    const isWide = output === 'wide';
    if (output !== undefined && !isWide && !format) {
      throw new UsageError(`-o must be one of wide, ${Object.keys(formats).join(', ')}, not "${output}"`);
    }
    const isEverywhere = hasSwitch(given, 'all-namespaces');
    return async (session) => {
      const entries = (await stored(session, isEverywhere)).map((object) => entryOf(object));
      const { terminal, now } = session;
      const namespace = isEverywhere ? undefined : session.namespace;
      const lines = format ? format(entries) : describeFleet(entries, { now: now(), namespace, isWide }, terminal);
      for (const line of lines) terminal.print(line);
    };
  },
};

async function stored({ client, namespace }: Session, isEverywhere: boolean): Promise<StoredControlPlane[]> {
  const { items } = await client.list<StoredControlPlane>(HostedControlPlane, isEverywhere ? {} : { namespace });
  return items;
}
