import { isIP } from 'node:net';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { Cluster, Secret, Service } from '../../constructs/api/resources.ts';
import { planAll } from '../../constructs/control-plane/certificates/overview.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { exposureStrategy } from '../../constructs/control-plane/exposure/exposure.ts';
import type { Reached } from '../../constructs/control-plane/exposure/strategy.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import { ClusterObject } from '../management/cluster-object.ts';
import { hostedClusterOf } from '../admission/admit.ts';
import type { SecretObject } from '../pki/secret.ts';
import type { ServiceObject } from '../kube/service-object.ts';
import { hostsOf, planRows, policyRows, signerOf, subjectOf, usagesOf, usersOf } from './certificate-plan.ts';
import { type CertificateState, certificateStates } from './certificate-states.ts';
import { columns } from './columns.ts';
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
  prepare(given) {
    const cluster = clusterArgument(given);
    const output = outputOf(given);
    return (session) => listCertificates(session, cluster, output);
  },
  offline(given) {
    if (!hasSwitch(given, 'plan')) return undefined;
    if (given.positionals.length > 0) throw new UsageError('--plan is the same for every cluster: remove the cluster');
    return (terminal) => {
      for (const line of [...columns(planRows()), '', ...columns(policyRows())]) terminal.print(line);
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
  const states = certificateStates({
    planned: planAll(cluster, reached),
    secrets: new Map(items.map((item) => [item.metadata.name, item])),
    uid: controlPlane.object.metadata.uid,
    now: new Date(session.now()),
  });
  if (output === 'json') terminal.print(jsonOf(cluster, states));
  else for (const line of columns(rowsOf(cluster, states, output))) terminal.print(line);
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

const heading = ['SECRET', 'SIGNED BY', 'SUBJECT', 'USAGES', 'NOT AFTER', 'RENEWS', 'STATE'];

function rowsOf({ spec }: HostedCluster, states: readonly CertificateState[], output: 'table' | 'wide'): string[][] {
  const more = (cells: readonly string[]) => (output === 'wide' ? cells : []);
  return [
    heading.concat(more(['RELOADED BY', 'RESTARTS', 'HOSTS'])),
    ...states.map(({ planned, notAfter, renewsAt, state }) => [
      planned.secret,
      signerOf(planned),
      subjectOf(planned),
      usagesOf(planned),
      dayOf(notAfter),
      dayOf(renewsAt),
      state,
      ...more([...usersOf(planned.role, minorOf(spec.version)), hostsOf(planned).join(',')]),
    ]),
  ];
}

function dayOf(time: Date | undefined): string {
  return time === undefined ? '-' : `${time.toISOString().slice(0, 16)}Z`;
}

/** Machine-readable. Fields may be added; existing fields never change their meaning. */
function jsonOf({ name, namespace, spec }: HostedCluster, states: readonly CertificateState[]): string {
  const listed = states.map(({ planned, notAfter, renewsAt, state }) => {
    const [reloadedBy, restartedForIt] = usersOf(planned.role, minorOf(spec.version));
    return {
      secret: planned.secret,
      signedBy: signerOf(planned),
      subject: subjectOf(planned),
      usages: planned.kind === 'leaf' ? planned.plan.usages : [],
      hosts: hostsOf(planned),
      notAfter: notAfter?.toISOString() ?? null,
      renewsAt: renewsAt?.toISOString() ?? null,
      state,
      reloadedBy,
      restartedForIt,
    };
  });
  return JSON.stringify({ namespace, cluster: name, certificates: listed }, undefined, 2);
}
