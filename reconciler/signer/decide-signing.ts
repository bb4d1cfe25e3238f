import { clusterNameLabel } from '../../constructs/api/group.ts';
import { kubeconfigSubresource, requestNamespaceLabel } from '../../constructs/api/kubeconfig-request.ts';
import { groupOf, HostedControlPlane, Secret } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { providerNames } from '../../constructs/cluster/provider-names.ts';
import { reservedPrefix } from '../../constructs/api/reserved-names.ts';
import { messageOf } from '../kube/error-message.ts';
import type { KubeObject } from '../kube/object.ts';
import { isAllowed, type Reviewer } from '../clusters/dry-run/review.ts';
import type { ManagementCluster } from '../clusters/management/cache.ts';
import { owningCluster } from '../clusters/management/owning-cluster.ts';
import { signCertificate, validFor } from '../pki/issue.ts';
import { parsedCertificate } from '../pki/parsed.ts';
import { bundle } from '../pki/pem.ts';
import { pairOf } from '../pki/secret.ts';
import { type RequestedCertificate, readRequestedCertificate } from './requested-certificate.ts';
import { waitingLimits } from './limits.ts';
import { type ClusterName, clusterOf, type ClientCertificateRequest } from './request.ts';

/** Whether a certificate is signed. */
type SigningDecision =
  | { readonly kind: 'signed'; readonly hostedControlPlane: KubeObject; readonly signed: Signed }
  | { readonly kind: 'denied'; readonly reason: string; readonly message: string }
  /** The control plane is not one of this operator. */
  | { readonly kind: 'none' };

export interface Signed {
  readonly user: string;
  readonly groups: readonly string[];
  readonly notAfter: Date;
  /** PEM: the client certificate, and after it every CA certificate by which clients verify the API server. */
  readonly certificates: string;
}

/** A client waits for a minute. Clocks of API servers and operators may differ. */
const patienceMs = 10 * 60_000;

/** What a decision depends on besides the request. */
export interface SigningInput {
  /** The control planes of this operator, and their Secrets. */
  readonly management: Pick<ManagementCluster, 'get' | 'list'>;
  /** Whether this operator has every control plane of a namespace, so that one that it does not know does not exist. */
  readonly answersFor: (namespace: string) => boolean;
  /** Decides what the requester may do. */
  readonly reviewer: Reviewer;
  readonly now: Date;
}

/** @throws if the API server does not decide now what the requester may do */
export async function decideSigning(request: ClientCertificateRequest, input: SigningInput): Promise<SigningDecision> {
  const { answersFor, now } = input;
  const place = clusterOf(request);
  if (!place) {
    const labels = `${clusterNameLabel} and ${requestNamespaceLabel}`;
    return denied('InvalidRequest', `the labels ${labels} must name the Cluster`);
  }
  const [found, another] = find(input, place);
  if (!found && !answersFor(place.namespace)) return { kind: 'none' };
  if (request.isBeyond)
    return denied(
      'TooManyRequests',
      `too many requests wait: of one requester the operator takes ${waitingLimits.perRequester}, for one namespace ${waitingLimits.perNamespace}, and of all ${waitingLimits.all}; request again in a minute`,
    );
  if (now.getTime() - Date.parse(request.metadata.creationTimestamp ?? '') > patienceMs) {
    return denied(
      'Expired',
      'no operator has answered in time, and the rights of the requester may have changed: request again',
    );
  }
  // First of all, because a user without rights must not learn which control planes exist.
  const about = { ...place, name: found?.metadata.name ?? place.cluster };
  const missing = await missingRight('create', request, about, input);
  if (missing !== undefined) return denied('NotPermitted', missing);
  const requested = readRequestedCertificate(request);
  if ('objection' in requested) return denied('InvalidRequest', `the request ${requested.objection}`);
  const further = requested.isOwn ? undefined : await missingRight('impersonate', request, about, input);
  if (further !== undefined) return denied('NotPermitted', further);
  if (!found) return denied('NotFound', `${named(place)} has no HostedControlPlane`);
  // The right to one of them is not a right to the other one, and both have the same CA.
  if (another)
    return denied('Ambiguous', `several HostedControlPlanes name ${named(place)} as their owner: delete all but one`);
  return sign(found, requested, place, input);
}

function denied(reason: string, message: string): SigningDecision {
  return { kind: 'denied', reason, message };
}

function find({ management }: SigningInput, { namespace, cluster }: ClusterName): KubeObject[] {
  return management
    .list(HostedControlPlane)
    .filter(({ metadata }) => metadata.namespace === namespace && owningCluster(metadata) === cluster);
}

async function missingRight(
  verb: 'create' | 'impersonate',
  { spec }: ClientCertificateRequest,
  { namespace, name }: ClusterName & { readonly name: string },
  { reviewer }: SigningInput,
): Promise<string | undefined> {
  const resource = HostedControlPlane.plural;
  const what = { group: groupOf(HostedControlPlane), resource, subresource: kubeconfigSubresource };
  if (await isAllowed(spec, { resourceAttributes: { ...what, namespace, name, verb } }, reviewer)) return undefined;
  const { username = '' } = spec;
  const subject = `user ${username} may not ${verb} ${resource}/${kubeconfigSubresource} in namespace ${namespace}`;
  if (verb === 'create') return `${subject}: bind ClusterRole ${providerNames.kubeconfigRole} there`;
  const others = 'another user name, or a group of which the requester is not a member';
  return username.startsWith(reservedPrefix)
    ? `${subject}, which ${others}, needs: grant it, or declare a kubeconfig for a program in spec.kubeconfigs`
    : `${subject}, which ${others}, needs: leave them out`;
}

async function sign(
  hostedControlPlane: KubeObject,
  { user, groups, lifetimeMs, publicKey }: RequestedCertificate,
  place: ClusterName,
  { management, now }: SigningInput,
): Promise<SigningDecision> {
  if (hostedControlPlane.metadata.deletionTimestamp !== undefined)
    return denied('Deleting', `the control plane of ${named(place)} is being deleted`);
  const name = namesOf(place.cluster).secrets.clusterCA;
  const ca = pairOf(management.get(Secret, { namespace: place.namespace, name }));
  if (!ca)
    return denied('NotReady', `Secret ${name} has no CA yet: request again when the HostedControlPlane is initialized`);
  const plan = { commonName: user, organizations: groups, usages: ['client'], hosts: [] } as const;
  try {
    const certificate = await signCertificate(plan, publicKey, ca, validFor(lifetimeMs, now));
    // All CA certificates: during a rotation, API servers present certificates of either CA.
    const signed = { user, groups, notAfter: parsedCertificate(certificate).notAfter };
    return {
      kind: 'signed',
      hostedControlPlane,
      signed: { ...signed, certificates: bundle(certificate, ca.certificate) },
    };
  } catch (error) {
    return denied('CAUnusable', `the CA in Secret ${name} cannot sign: ${messageOf(error)}`);
  }
}

function named({ namespace, cluster }: ClusterName): string {
  return `Cluster ${namespace}/${cluster}`;
}
