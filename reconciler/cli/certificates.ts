import { isIP } from 'node:net';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { Cluster, Secret, Service } from '../../constructs/api/resources.ts';
import { planAll } from '../../constructs/control-plane/certificates/overview.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { exposureStrategy } from '../../constructs/control-plane/exposure/exposure.ts';
import type { Reached } from '../../constructs/control-plane/exposure/strategy.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { ClusterObject } from '../clusters/management/cluster-object.ts';
import { hostedClusterOf } from '../desired-state/hosted-cluster.ts';
import type { SecretObject } from '../pki/secret.ts';
import type { ServiceObject } from '../clusters/management/service-object.ts';
import { findingControlPlane } from './access.ts';
import { planRows, policyRows } from './certificate-plan.ts';
import { certificateStates } from './certificate-states.ts';
import { describeCertificates, jsonOfCertificates } from './certificate-table.ts';
import { table } from './columns.ts';
import {
  clusterArgument,
  type Command,
  type Given,
  hasSwitch,
  type Session,
  textOption,
  UsageError,
} from './command.ts';
import { type ControlPlane, findControlPlane } from './control-plane.ts';

type Output = 'table' | 'wide' | 'json';

/** Lists the certificates with their users and expiry, or the plan and the policy by which they are issued. */
export const certificates: Command = {
  name: 'certificates',
  usage: 'CLUSTER [-o wide|json] | --plan',
  summary: 'Lists the certificates of a control plane, or the plan and the policy for all certificates.',
  options: {
    plan: { type: 'boolean', meaning: 'print the certificates of any cluster, and when they are reissued' },
    output: {
      type: 'string',
      short: 'o',
      value: 'wide|json',
      meaning: 'add hosts and users of each certificate; or print JSON',
    },
  },
  access: [
    findingControlPlane,
    { resource: Cluster, verbs: ['get'], why: 'its networks, which certificates contain' },
    { resource: Service, verbs: ['get'], why: 'its address, which certificates contain' },
    { resource: Secret, verbs: ['list'], why: 'the certificates' },
  ],
  prepare(given) {
    const cluster = clusterArgument(given);
    const output = outputOf(given);
    return (session) => listCertificates(session, cluster, output);
  },
  offline(given) {
    if (!hasSwitch(given, 'plan')) return undefined;
    if (given.positionals.length > 0) throw new UsageError('--plan is the same for every cluster: remove the cluster');
    return (terminal) => {
      for (const line of [...table(planRows(), terminal), '', ...table(policyRows(), terminal)]) terminal.print(line);
    };
  },
};

function outputOf(given: Given): Output {
  const output = textOption(given, 'output') ?? 'table';
  if (output === 'table' || output === 'wide' || output === 'json') return output;
  throw new UsageError(`-o must be wide or json, not "${output}"`);
}

async function listCertificates(session: Session, name: string, output: Output): Promise<void> {
  const controlPlane = await findControlPlane(session, name);
  const { client, namespace, terminal } = session;
  const cluster = await hostedCluster(session, controlPlane);
  const reached = await reachedNow(session, controlPlane, cluster);
  if (!reached) terminal.tell('the control plane has no endpoint yet: certificates that contain it are omitted');
  const { items } = await client.list<SecretObject>(Secret, {
    namespace,
    labelSelector: `${clusterNameLabel}=${cluster.name}`,
  });
  const now = new Date(session.now());
  const states = certificateStates({
    planned: planAll(cluster, reached),
    secrets: new Map(items.map((item) => [item.metadata.name, item])),
    uid: controlPlane.object.metadata.uid,
    now,
  });
  const lines =
    output === 'json'
      ? [jsonOfCertificates(cluster, states)]
      : describeCertificates(cluster, states, { now, isWide: output === 'wide' }, terminal);
  for (const line of lines) terminal.print(line);
}

async function hostedCluster({ client, namespace }: Session, { cluster, object }: ControlPlane) {
  const found = await client.get(Cluster, { namespace, name: cluster });
  return hostedClusterOf({ hostedControlPlane: object, clusterObject: ClusterObject.parse(found) });
}

/** The endpoints that certificates contain; undefined before they are known. */
async function reachedNow(
  { client, namespace }: Session,
  { object }: ControlPlane,
  cluster: HostedCluster,
): Promise<Reached | undefined> {
  const { host, port } = object.spec.controlPlaneEndpoint ?? {};
  if (host === undefined || port === undefined) return undefined;
  const service = await client.find<ServiceObject>(Service, { namespace, name: namesOf(cluster.name).apiService });
  const offered = isIP(host) > 0 ? { ip: host } : { hostname: host };
  const serviceAddress = service?.status?.loadBalancer?.ingress?.[0] ?? offered;
  // The Gateway is not needed, because a published endpoint does not change.
  const decision = exposureStrategy(cluster.spec).endpoint(cluster, { serviceAddress }, { host, port });
  return decision.known ? decision : decision.meanwhile;
}
