import { durationSeconds, isDuration } from '../../constructs/api/duration.ts';
import { kubeconfigLifetimes, kubeconfigSubresource } from '../../constructs/api/kubeconfig-request.ts';
import { reservedPrefix } from '../../constructs/api/reserved-names.ts';
import { HostedControlPlane, SelfSubjectReview } from '../../constructs/api/resources.ts';
import { kubeconfigAccess, kubeconfigRequestAccess } from '../../constructs/provider/granted-access.ts';
import type { KubeObject } from '../kube/object.ts';
import { readCertificate } from '../pki/certificate.ts';
import { writeKubeconfig } from '../pki/kubeconfig.ts';
import type { CommandAccess } from './access.ts';
import {
  clusterArgument,
  type Command,
  type ParsedArguments,
  type Session,
  textOption,
  UsageError,
  cliFieldManager,
} from './command.ts';
import { findControlPlane } from './control-plane.ts';
import { requestCertificate } from './request-certificate.ts';

/** Arguments of `hcp kubeconfig`. */
interface KubeconfigRequest {
  readonly cluster: string;
  /** User name; that of the caller in the management cluster when unset. */
  readonly user: string | undefined;
  readonly groups: readonly string[];
  readonly lifetimeMs: number;
}

const { shortest, unset, longest } = kubeconfigLifetimes;

/**
 * Requests a personal kubeconfig from the operator. That of Cluster API belongs to controllers, and names no person. The private key
 * stays on this machine.
 */
export const kubeconfig: Command = {
  name: 'kubeconfig',
  examples: [
    ['kubeconfig prod -n team-a >prod.kubeconfig', 'as yourself, for a few hours'],
    ['kubeconfig prod --group kubeadm:cluster-admins --ttl 30m', 'as an administrator, for half an hour'],
  ],
  usage: 'CLUSTER [--user NAME] [--group NAME,...] [--ttl DURATION]',
  summary: 'Writes a kubeconfig with a short-lived personal certificate.',
  options: {
    user: {
      type: 'string',
      value: 'NAME',
      meaning: 'user name in the certificate; your user name in the management cluster when unset',
    },
    group: { type: 'string', value: 'NAME,...', meaning: 'groups in the certificate; none when unset' },
    ttl: {
      type: 'string',
      value: 'DURATION',
      meaning: `lifetime of the certificate, such as 30m, from ${shortest} to ${longest}; ${unset} when unset`,
    },
  },
  access: [
    ...kubeconfigAccess,
    {
      resource: HostedControlPlane,
      subresource: kubeconfigSubresource,
      verbs: ['impersonate'],
      why: 'with --user and --group, to name others',
    },
    ...kubeconfigRequestAccess.map((access): CommandAccess => ({ ...access, where: 'cluster' })),
  ],
  prepare(given) {
    const request = readKubeconfigRequest(given);
    return (session) => requestKubeconfig(session, request);
  },
};

/** @throws UsageError */
function readKubeconfigRequest(given: ParsedArguments): KubeconfigRequest {
  const groups = (textOption(given, 'group') ?? '').split(',').filter((name) => name !== '');
  const reserved = groups.find((name) => name.startsWith(reservedPrefix));
  if (reserved !== undefined) {
    throw new UsageError(
      `--group must not contain ${reserved}, which is a group of Kubernetes: in an emergency use the kubeconfig of Cluster API (clusterctl get kubeconfig)`,
    );
  }
  const user = textOption(given, 'user');
  if (user === '' || user?.startsWith(reservedPrefix)) {
    throw new UsageError(
      `--user must be the name of a user, not "${user}": names that start with ${reservedPrefix} are reserved by Kubernetes`,
    );
  }
  return { cluster: clusterArgument(given), user, groups, lifetimeMs: lifetimeOf(textOption(given, 'ttl')) };
}

function lifetimeOf(text: string = unset): number {
  const seconds = isDuration(text) ? durationSeconds(text) : 0;
  if (seconds >= durationSeconds(shortest) && seconds <= durationSeconds(longest)) return seconds * 1000;
  throw new UsageError(`--ttl must be a duration from ${shortest} to ${longest}, such as 8h, not "${text}"`);
}

async function requestKubeconfig(session: Session, wanted: KubeconfigRequest): Promise<void> {
  const { terminal } = session;
  const { cluster, object } = await findControlPlane(session, wanted.cluster);
  const { host, port } = object.spec.controlPlaneEndpoint ?? {};
  if (host === undefined || port === undefined) {
    throw new Error(`the control plane of ${cluster} has no endpoint yet: wait for SyncControlPlaneEndpointReady`);
  }
  const user = wanted.user ?? (await whoAmI(session));
  const { groups, lifetimeMs } = wanted;
  const { certificate, key, ca } = await requestCertificate(session, { cluster, user, groups, lifetimeMs });
  terminal.print(
    writeKubeconfig({ cluster, user, endpoint: { host, port }, ca, client: { certificate, key } }).trimEnd(),
  );
  const member = groups.length > 0 ? `, in ${groups.join(', ')}` : '';
  terminal.info(`valid for user ${user}${member} until ${readCertificate(certificate).notAfter.toISOString()}`);
}

/** The user name of the caller in the management cluster. @throws when it is not the name of a person */
async function whoAmI({ client }: Session): Promise<string> {
  const { apiVersion, kind } = SelfSubjectReview;
  const review: KubeObject & { readonly status?: { readonly userInfo?: { readonly username?: string } } } =
    await client.create({ apiVersion, kind, metadata: { name: '' } }, cliFieldManager);
  const name = review.status?.userInfo?.username ?? '';
  if (name !== '' && !name.startsWith(reservedPrefix)) return name;
  throw new Error(
    `your user name in the management cluster is "${name}", which is not the name of a human user: set --user, which needs the verb impersonate, or declare a kubeconfig for a program in spec.kubeconfigs`,
  );
}
