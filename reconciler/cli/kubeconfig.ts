import { Secret, SelfSubjectReview } from '../../constructs/api/resources.ts';
import { durationSeconds, isDuration } from '../../constructs/api/duration.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { readCertificate } from '../pki/certificate.ts';
import { writeKubeconfig } from '../pki/kubeconfig.ts';
import { issueCertificate, validFor } from '../pki/issue.ts';
import { pairOf, type SecretObject } from '../pki/secret.ts';
import { clusterArgument, type Command, type Given, type Session, textOption, UsageError } from './command.ts';
import { findControlPlane } from './control-plane.ts';
import { fieldManager } from './field-manager.ts';

/** Arguments of `hcp kubeconfig`. */
export interface KubeconfigRequest {
  readonly cluster: string;
  /** User name; that of the caller in the management cluster when unset. */
  readonly user: string | undefined;
  readonly groups: readonly string[];
  readonly lifetimeMs: number;
}

const defaultLifetime = '8h';

/** A certificate cannot be revoked before it expires, so a personal one must have a short lifetime. */
const longestLifetime = '168h';

/** A group whose members may do everything, without regard to RBAC. */
const omnipotent = 'system:masters';

/** Issues a personal kubeconfig. That of Cluster API belongs to controllers, and names no person. */
export const kubeconfig: Command = {
  name: 'kubeconfig',
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
      meaning: `lifetime of the certificate, such as 30m, at most ${longestLifetime}; ${defaultLifetime} when unset`,
    },
  },
  prepare(given) {
    const request = readKubeconfigRequest(given);
    return (session) => issueKubeconfig(session, request);
  },
};

/** @throws UsageError */
export function readKubeconfigRequest(given: Given): KubeconfigRequest {
  const groups = (textOption(given, 'group') ?? '').split(',').filter((name) => name !== '');
  if (groups.includes(omnipotent)) {
    throw new UsageError(
      `--group must not contain ${omnipotent}: in an emergency use the kubeconfig of Cluster API (clusterctl get kubeconfig)`,
    );
  }
  const user = textOption(given, 'user');
  if (user === '' || user?.startsWith('system:')) {
    throw new UsageError(
      `--user must be the name of a person, not "${user}": names that start with system: are reserved by Kubernetes`,
    );
  }
  return { cluster: clusterArgument(given), user, groups, lifetimeMs: lifetimeOf(textOption(given, 'ttl')) };
}

function lifetimeOf(text = defaultLifetime): number {
  const seconds = isDuration(text) ? durationSeconds(text) : 0;
  if (seconds > 0 && seconds <= durationSeconds(longestLifetime)) return seconds * 1000;
  throw new UsageError(`--ttl must be a duration such as 30m or 8h, at most ${longestLifetime}, not "${text}"`);
}

async function issueKubeconfig(session: Session, request: KubeconfigRequest): Promise<void> {
  const { client, namespace, terminal } = session;
  const { cluster, object } = await findControlPlane(session, request.cluster);
  const { host, port } = object.spec.controlPlaneEndpoint ?? {};
  if (host === undefined || port === undefined) {
    throw new Error(`the control plane of ${cluster} has no endpoint yet: wait for SyncControlPlaneEndpointReady`);
  }
  const name = namesOf(cluster).secrets.clusterCA;
  const ca = pairOf(await client.find<SecretObject>(Secret, { namespace, name }));
  if (!ca)
    throw new Error(`Secret ${namespace}/${name} does not contain the CA of ${cluster}: restore it from a backup`);

  const user = request.user ?? (await whoAmI(session));
  const plan = { commonName: user, organizations: request.groups, usages: ['client'], hosts: [] } as const;
  const pair = await issueCertificate(plan, ca, validFor(request.lifetimeMs, new Date(session.now())));
  terminal.print(
    writeKubeconfig({
      cluster,
      user,
      endpoint: { host, port },
      // All CA certificates: during a rotation, API servers present certificates of either CA.
      ca: ca.certificate,
      client: pair,
    }).trimEnd(),
  );
  const groups = request.groups.length > 0 ? `, in ${request.groups.join(', ')}` : '';
  terminal.tell(`valid for user ${user}${groups} until ${readCertificate(pair.certificate).notAfter.toISOString()}`);
}

/** The user name of the caller in the management cluster. @throws when it is not the name of a person */
async function whoAmI({ client }: Session): Promise<string> {
  const { apiVersion, kind } = SelfSubjectReview;
  const review: KubeObject & { readonly status?: { readonly userInfo?: { readonly username?: string } } } =
    await client.create({ apiVersion, kind, metadata: { name: '' } }, { fieldManager });
  const name = review.status?.userInfo?.username ?? '';
  if (name !== '' && !name.startsWith('system:')) return name;
  throw new Error(
    `your user name in the management cluster is "${name}", which is not the name of a person: set --user`,
  );
}
