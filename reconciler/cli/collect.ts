import type { PodObject } from '../../imports/kubernetes.ts';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
import { messageOf } from '../kube/error-message.ts';
import { objectKey } from '../kube/object.ts';
import { componentKinds } from '../clusters/management/cache.ts';
import { type CommandAccess, findingControlPlane } from './access.ts';
import { filteredLog } from './collect/filtered-log.ts';
import { withoutSecrets } from './collect/without-secrets.ts';
import { clusterArgument, type Command, type Session, textOption } from './command.ts';
import { clusterOf, findObject, gatewayOf } from './control-plane.ts';
import { overviewOf } from './overview.ts';
import { describeStatus } from './status/description.ts';

/** Kinds of the objects of one control plane, which have the label of its Cluster. */
const labelled: readonly Resource[] = [...componentKinds, ...tlsRoutes, Machine, MachineDeployment];

/** Kinds of objects that control planes of a namespace share. */
const shared: readonly Resource[] = [HostedControlPlaneComponentTemplate, Event];

/** Writes the state of a control plane for support, without secrets. */
export const collect: Command = {
  name: 'collect',
  usage: 'CLUSTER [--to DIRECTORY]',
  summary: 'Writes the objects, events and logs of a control plane into a directory for support, without secrets.',
  options: {
    to: { type: 'string', value: 'DIRECTORY', meaning: 'a directory that may be new; hcp-CLUSTER by default' },
  },
  access: [
    findingControlPlane,
    { resource: Cluster, verbs: ['get'], why: 'the Cluster' },
    ...labelled.map((resource): CommandAccess => ({
      resource,
      verbs: ['list'],
      why: 'its objects, of Secrets without content',
    })),
    ...shared.map((resource): CommandAccess => ({ resource, verbs: ['list'], why: 'events, and shared settings' })),
    { resource: Pod, subresource: 'log', verbs: ['get'], why: 'the logs of its pods' },
    { resource: Gateway, verbs: ['get'], why: 'its Gateway', where: 'gateway' },
  ],
  prepare(given) {
    const name = clusterArgument(given);
    const directory = textOption(given, 'to') ?? `hcp-${name}`;
    return (session) => collectAll(session, name, directory);
  },
};

async function collectAll(session: Session, name: string, directory: string): Promise<void> {
  const { client, namespace, terminal } = session;
  const object = await findObject(session, name);
  const cluster = clusterOf(object) ?? name;
  await mkdir(join(directory, 'logs'), { recursive: true });
  const missing: string[] = [];
  const write = (file: string, content: string) => writeFile(join(directory, file), content, { mode: 0o600 });
  /** Notes in missing.txt what this user may not read, or what is not installed, and goes on. */
  const tried = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      missing.push(`${what}: ${messageOf(error)}`);
      return undefined;
    }
  };

  await write(
    'status.txt',
    `${describeStatus({ ...overviewOf(object), causes: [], workers: null, unknown: [] }, { now: session.now(), hasSteps: true }).join('\n')}\n`,
  );
  await write('HostedControlPlane.yaml', stringify(withoutSecrets(object)));
  const owner = await tried(`Cluster ${cluster}`, () => client.get(Cluster, { namespace, name: cluster }));
  if (owner) await write('Cluster.yaml', stringify(withoutSecrets(owner)));
  const behind = gatewayOf(object);
  const gateway = behind && (await tried(`Gateway ${objectKey(behind)}`, () => client.get(Gateway, behind)));
  if (gateway) await write('Gateway.yaml', stringify(withoutSecrets(gateway)));
  const labelSelector = `${clusterNameLabel}=${cluster}`;
  let pods: readonly PodObject[] = [];
  for (const resource of [...labelled, ...shared]) {
    const isShared = shared.includes(resource);
    const file = `${resource.kind}-${resource.apiVersion.replace('/', '-')}.yaml`;
    const items = await tried(resource.kind, async () => {
      const { items: found } = await client.list(resource, { namespace, ...(isShared ? {} : { labelSelector }) });
      return found;
    });
    if (!items || items.length === 0) continue;
    if (resource === Pod) pods = items;
    terminal.info(`${items.length} of kind ${resource.kind}`);
    await write(file, items.map((item) => stringify(withoutSecrets(item))).join('---\n'));
  }
  for (const log of pods.flatMap(logsOf)) {
    const text = await tried(`log ${log.file}`, () => client.raw(log.path));
    if (text) await write(join('logs', log.file), filteredLog(text));
  }
  if (missing.length > 0) await write('missing.txt', `${missing.join('\n')}\n`);
  terminal.print(
    `${directory} has the objects, events and logs of ${cluster}, without the content of Secrets, values of environment variables and audit records: read it before you pass it on`,
  );
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
