import { clusterNameLabel } from '../../constructs/api/group.ts';
import { kubeconfigSubresource, requestNamespaceLabel } from '../../constructs/api/kubeconfig-request.ts';
import { groupOf, HostedControlPlane, type Resource, Secret } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { providerNames } from '../../constructs/cluster/provider-names.ts';
import { messageOf } from '../kube/error-message.ts';
import type { KubeObject, ObjectName } from '../kube/object.ts';
import { isAllowed, type Reviewer } from '../kube/review.ts';
import { owningCluster } from '../management/cluster-object.ts';
import { readCertificate } from '../pki/certificate.ts';
import { signCertificate, validFor } from '../pki/issue.ts';
import { bundle } from '../pki/pem.ts';
import { pairOf } from '../pki/secret.ts';
import { type Asked, readAsked } from './decide.ts';
import { type ClusterName, clusterOf, type ClientCertificateRequest } from './request.ts';

/** What the operator says to a request. */
export type Answer =
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

/** What an answer depends on besides the request. */
export interface Circumstances {
  /** The control planes of this operator, and their Secrets. */
  readonly management: {
    list(resource: Resource): KubeObject[];
    get(resource: Resource, name: ObjectName): KubeObject | undefined;
  };
  /** Whether this operator answers for every control plane, so that one that it does not know does not exist. */
  readonly isOnly: boolean;
  /** Decides what the requester may do. */
  readonly reviewer: Reviewer;
  readonly now: Date;
}

/** @throws if the API server does not decide now what the requester may do */
export async function answerTo(request: ClientCertificateRequest, circumstances: Circumstances): Promise<Answer> {
  const place = clusterOf(request);
  if (!place)
    return denied(
      'InvalidRequest',
      `the labels ${clusterNameLabel} and ${requestNamespaceLabel} must name the Cluster`,
    );
  const found = find(circumstances, place);
  if (!found && !circumstances.isOnly) return { kind: 'none' };
  const asked = readAsked(request);
  if ('objection' in asked) return denied('InvalidRequest', `the request ${asked.objection}`);
  // Before anything is said about the control plane, which a user without rights must not learn.
  const missing = await missingRight(
    request,
    asked,
    { ...place, name: found?.metadata.name ?? place.cluster },
    circumstances,
  );
  if (missing !== undefined) return denied('NotPermitted', missing);
  return found
    ? sign(found, asked, place, circumstances)
    : denied('NotFound', `${named(place)} has no HostedControlPlane`);
}

function denied(reason: string, message: string): Answer {
  return { kind: 'denied', reason, message };
}

function find({ management }: Circumstances, { namespace, cluster }: ClusterName): KubeObject | undefined {
  return management
    .list(HostedControlPlane)
    .find(({ metadata }) => metadata.namespace === namespace && owningCluster(metadata) === cluster);
}

async function missingRight(
  { spec }: ClientCertificateRequest,
  { verbs }: Asked,
  { namespace, name }: ClusterName & { readonly name: string },
  { reviewer }: Circumstances,
): Promise<string | undefined> {
  const resource = HostedControlPlane.plural;
  for (const verb of verbs) {
    const what = { group: groupOf(HostedControlPlane), resource, subresource: kubeconfigSubresource };
    const resourceAttributes = { ...what, namespace, name, verb };
    if (await isAllowed(spec, { resourceAttributes }, reviewer)) continue;
    const subject = `user ${spec.username ?? ''} may not ${verb} ${resource}/${kubeconfigSubresource} in namespace ${namespace}`;
    return verb === 'create'
      ? `${subject}: bind ClusterRole ${providerNames.kubeconfigRole} there`
      : `${subject}, which another user name, or a group of which the requester is not a member, needs: leave them out`;
  }
  return undefined;
}

async function sign(
  hostedControlPlane: KubeObject,
  { user, groups, lifetimeMs, publicKey }: Asked,
  place: ClusterName,
  { management, now }: Circumstances,
): Promise<Answer> {
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
    const signed = { user, groups, notAfter: readCertificate(certificate).notAfter };
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
