import type { EventObject, PodObject } from '../../imports/kubernetes.ts';
import { stringify } from 'yaml';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import {
  Cluster,
  Event,
  Gateway,
  HostedControlPlaneComponentTemplate,
  Machine,
  MachineDeployment,
  Pod,
  type Resource,
  tlsRoutes,
} from '../../constructs/api/resources.ts';
import { managerSelector, providerNamespace } from '../../constructs/cluster/provider-names.ts';
import { selectorOf } from '../../constructs/cluster/labels.ts';
import { releaseVersion } from '../../constructs/provider/release.ts';
import { messageOf } from '../kube/error-message.ts';
import { isNotFound } from '../kube/errors.ts';
import { type KubeObject, objectKey } from '../kube/object.ts';
import { componentKinds } from '../clusters/management/cache.ts';
import { type CommandAccess, findingControlPlane } from './access.ts';
import { writeArchive } from './collect/archive.ts';
import { filteredLog } from './collect/filtered-log.ts';
import { withoutSecrets } from './collect/without-secrets.ts';
import { clusterArgument, type Command, type Session, textOption } from './command.ts';
import { clusterOf } from '../clusters/management/owning-cluster.ts';
import { findObject, gatewayOf } from './control-plane.ts';
import { overviewOf } from './overview.ts';
import { describeStatus } from './status/description.ts';

/** Kinds of the objects of one control plane, which have the label of its Cluster. */
const labelled: readonly Resource[] = [...componentKinds, ...tlsRoutes, Machine, MachineDeployment];

/** Writes the state of a control plane for support, without secrets. */
export const collect: Command = {
  name: 'collect',
  examples: [
    ['collect prod -n team-a', 'writes hcp-prod.tar.gz'],
    ['collect prod --to /tmp/prod.tar.gz', 'into another file'],
  ],
  usage: 'CLUSTER [--to FILE]',
  summary:
    'Writes the objects, events and logs of a control plane, and what its operator logged about it, into an archive for support, without secrets.',
  options: {
    to: { type: 'string', value: 'FILE', meaning: 'the archive; hcp-CLUSTER.tar.gz by default' },
  },
  access: [
    findingControlPlane,
    { resource: Cluster, verbs: ['get'], why: 'the Cluster' },
    ...labelled.map((resource): CommandAccess => ({
      resource,
      verbs: ['list'],
      why: 'its objects, of Secrets without content',
    })),
    { resource: HostedControlPlaneComponentTemplate, verbs: ['get'], why: 'the settings that it shares with others' },
    { resource: Event, verbs: ['list'], why: 'events' },
    { resource: Pod, subresource: 'log', verbs: ['get'], why: 'the logs of its pods' },
    { resource: Gateway, verbs: ['get'], why: 'its Gateway', where: 'gateway' },
    { resource: Pod, verbs: ['list'], why: 'the release of the operator', where: 'operator' },
    { resource: Pod, subresource: 'log', verbs: ['get'], why: 'what it logged', where: 'operator' },
  ],
  prepare(given) {
    const name = clusterArgument(given);
    const to = textOption(given, 'to') ?? `hcp-${name}.tar.gz`;
    return (session) => collectAll(session, name, to);
  },
};

async function collectAll(session: Session, name: string, to: string): Promise<void> {
  const { client, namespace, terminal } = session;
  const object = await findObject(session, name);
  const cluster = clusterOf(object) ?? name;
  const texts = new Map<string, string>();
  const own: KubeObject[] = [object];
  const missing: string[] = [];
  /** Notes in missing.txt what this user may not read, and goes on. */
  const tried = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      missing.push(`${what}: ${messageOf(error)}`);
      return undefined;
    }
  };
  const keep = (file: string, ...objects: readonly KubeObject[]) => {
    if (objects.length > 0) texts.set(file, objects.map((each) => stringify(withoutSecrets(each))).join('---\n'));
  };
  const keepOne = async (resource: Resource, target: { readonly namespace: string; readonly name: string }) => {
    const found = await tried(`${resource.kind} ${objectKey(target)}`, () => client.get(resource, target));
    if (!found) return;
    own.push(found);
    keep(`${resource.kind}.yaml`, found);
  };

  const report = { ...overviewOf(object), causes: [], workers: null, unknown: [] };
  texts.set('status.txt', `${describeStatus(report, { now: session.now(), hasSteps: true }).join('\n')}\n`);
  keep('HostedControlPlane.yaml', object);
  await keepOne(Cluster, { namespace, name: cluster });
  const template = object.spec?.componentTemplateRef?.name;
  if (template !== undefined) await keepOne(HostedControlPlaneComponentTemplate, { namespace, name: template });
  const gateway = gatewayOf(object);
  if (gateway) await keepOne(Gateway, gateway);
  const labelSelector = `${clusterNameLabel}=${cluster}`;
  for (const resource of labelled) {
    const items = (await tried(resource.kind, () => served(client.list(resource, { namespace, labelSelector })))) ?? [];
    own.push(...items);
    if (items.length > 0) terminal.info(`${items.length} of kind ${resource.kind}`);
    keep(fileOf(resource), ...items);
  }
  const events = await tried(Event.kind, () => client.list<EventObject>(Event, { namespace }));
  keep(fileOf(Event), ...ownEvents(events?.items ?? [], own));
  const keepLogs = async (folder: string, pods: readonly PodObject[], about: (text: string) => string) => {
    for (const log of pods.flatMap(logsOf)) {
      const text = await tried(`log ${log.file}`, () => client.raw(log.path));
      if (text) texts.set(`${folder}/${log.file}`, filteredLog(about(text)));
    }
  };
  await keepLogs('logs', own.filter(isPod), (text) => text);
  const operators = await tried('the operator', () =>
    client.list<PodObject>(Pod, { namespace: providerNamespace, labelSelector: selectorOf(managerSelector) }),
  );
  keep('operator/Pod-v1.yaml', ...(operators?.items ?? []));
  const key = objectKey({ namespace, name: object.metadata.name });
  await keepLogs('operator', operators?.items ?? [], (text) => linesAbout(key, text));
  texts.set('versions.txt', `hcp ${releaseVersion}\n${(operators?.items ?? []).map(versionOf).join('')}`);
  if (missing.length > 0) texts.set('missing.txt', `${missing.join('\n')}\n`);
  await writeArchive(to, `hcp-${cluster}`, texts);
  terminal.print(
    `${to} has the objects, events and logs of ${cluster}, without the content of Secrets, values of environment variables and audit records: read it before you pass it on`,
  );
}

/** The objects of a list; none of a kind or a version that the API server does not have. */
async function served(listed: Promise<{ readonly items: readonly KubeObject[] }>): Promise<readonly KubeObject[]> {
  try {
    return (await listed).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

function isPod(object: KubeObject): object is PodObject {
  return object.kind === Pod.kind;
}

function fileOf({ kind, apiVersion }: Resource): string {
  return `${kind}-${apiVersion.replace('/', '-')}.yaml`;
}

function versionOf({ metadata, status }: PodObject): string {
  const images = (status?.containerStatuses ?? []).map(({ image }) => image);
  return `operator ${metadata.name}: ${images.join(', ')}\n`;
}

/** The lines of the operator's log that are about this control plane, or about none. */
function linesAbout(key: string, text: string): string {
  const isOfAnother = (line: string) => {
    const about = /"hostedControlPlane":"([^"]{0,400})"/.exec(line)?.[1];
    return about !== undefined && about !== key;
  };
  return text
    .split('\n')
    .filter((line) => !isOfAnother(line))
    .join('\n');
}

const lastLines = 2000;

/** The end of the log of each container, and of its run before if it has restarted. */
function logsOf({ metadata, status }: PodObject): { file: string; path: string }[] {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return containers.flatMap(({ name, restartCount = 0 }) => {
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/log?container=${name}&tailLines=${lastLines}`;
    const file = `${metadata.name}-${name}`;
    const current = { file: `${file}.log`, path };
    return restartCount > 0 ? [current, { file: `${file}-before.log`, path: `${path}&previous=true` }] : [current];
  });
}

/**
 * The events of a namespace about these objects, and about pods that a workload among them has had, without the events of other control
 * planes.
 */
function ownEvents(events: readonly EventObject[], objects: readonly KubeObject[]): readonly EventObject[] {
  const named = new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  const starts = objects.filter(({ kind }) => workloads.includes(kind)).map(({ metadata }) => `${metadata.name}-`);
  return events.filter(({ regarding: { kind = '', name = '' } = {} }) => {
    const isMade = children.includes(kind) && starts.some((start) => name.startsWith(start));
    return named.has(`${kind}/${name}`) || isMade;
  });
}

/** Kinds whose objects make others, and the kinds of those. */
const workloads: readonly string[] = ['Deployment', 'StatefulSet', 'MachineDeployment'];
const children: readonly string[] = ['Pod', 'ReplicaSet', 'PersistentVolumeClaim', 'MachineSet', 'Machine'];
