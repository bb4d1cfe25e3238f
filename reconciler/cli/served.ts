import { HostedControlPlane } from '../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import type { KubeObject } from '../kube/object.ts';
import { isFault } from '../reconcile/status/waited-for.ts';
import { spanText } from './format.ts';
import { table } from './columns.ts';
import { type Command, type Session, UsageError } from './command.ts';
import { clusterOf } from './control-plane.ts';
import { type Paint, plainView, type View } from './view.ts';
import { wrapped } from './wrapped.ts';

/** A HostedControlPlane, also one whose spec is refused. */
export interface ServedObject extends KubeObject {
  readonly spec?: {
    readonly etcd?: {
      readonly backup?: { readonly secret?: { readonly name?: string; readonly namespace?: string } };
    };
  };
  readonly status?: Pick<HostedControlPlaneStatus, 'conditions' | 'etcdLastBackupTime'>;
}

/** Lists the users of a Secret, before it is changed or after it was refused. */
export const served: Command = {
  name: 'served',
  usage: 'SECRET',
  summary: 'Lists the clusters of all namespaces that store their backups with a Secret.',
  options: {},
  access: [
    { resource: HostedControlPlane, verbs: ['list'], why: 'control planes of all namespaces', where: 'cluster' },
  ],
  prepare({ positionals }) {
    const [secret, ...more] = positionals;
    if (secret === undefined) throw new UsageError('the Secret is missing: set the name of the Secret of a bucket');
    if (more.length > 0) throw new UsageError(`set one Secret, not ${positionals.length}: ${positionals.join(' ')}`);
    return (session) => listServed(session, secret);
  },
};

async function listServed({ client, namespace, terminal, now }: Session, secret: string): Promise<void> {
  const { items } = await client.list<ServedObject>(HostedControlPlane);
  for (const line of describeServed({ namespace, name: secret }, items, now(), terminal)) terminal.print(line);
}

/** A table, and below it what is wrong with the backups of each cluster. */
export function describeServed(
  secret: { readonly namespace: string; readonly name: string },
  objects: readonly ServedObject[],
  now: number,
  view: View = plainView,
): string[] {
  const users = objects
    .filter(({ metadata, spec }) => {
      const used = spec?.etcd?.backup?.secret;
      return used?.name === secret.name && (used.namespace ?? metadata.namespace) === secret.namespace;
    })
    .map((object) => ({ object, place: `${object.metadata.namespace}/${clusterOf(object) ?? object.metadata.name}` }))
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  if (users.length === 0) return [`no cluster stores its backups with Secret ${secret.namespace}/${secret.name}`];
  const faults = users.flatMap(({ object, place }) => {
    const condition = conditionOf(object);
    if (condition?.status !== 'False') return [];
    return wrapped(`${place}: ${condition.message}`, view.width, { first: '  ', further: '    ' });
  });
  return [
    ...table(
      [['CLUSTER', 'LAST BACKUP', 'BACKUPS'], ...users.map(({ object, place }) => row(place, object, now, view.paint))],
      view,
    ),
    ...(faults.length > 0 ? ['', 'Problems:', ...faults] : []),
  ];
}

function row(place: string, object: ServedObject, now: number, paint: Paint): string[] {
  const last = object.status?.etcdLastBackupTime;
  return [place, last === undefined ? 'none' : `${spanText(now - Date.parse(last))} ago`, stateOf(object, paint)];
}

function stateOf(object: ServedObject, paint: Paint): string {
  const condition = conditionOf(object);
  if (condition === undefined) return paint('unknown', 'unknown');
  if (condition.status === 'True') return paint('ok', 'ready');
  return paint(isFault({ type: 'EtcdBackupReady', reason: condition.reason }) ? 'fails' : 'waits', condition.reason);
}

function conditionOf({ status }: ServedObject) {
  return status?.conditions?.find(({ type }) => type === 'EtcdBackupReady');
}
