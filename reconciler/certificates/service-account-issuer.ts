import { identityAnnotation, keptAnnotation, serviceAccountIssuerAnnotation } from '../../constructs/api/group.ts';
import { Deployment, Secret } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import type { Endpoint, Issuers } from '../../constructs/cluster/facts.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import {
  issuerAtEndpoint,
  issuerByServiceName,
  withAccepted,
} from '../../constructs/cluster/service-account-issuer.ts';
import { deploymentReadiness } from '../kube/readiness.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import { repeatedArgument } from '../clusters/pods/api-server-arguments.ts';

/** What shows with which issuer the service account keys have signed so far, and what the spec wants. */
export interface IssuerEvidence {
  /** Annotations of the Secret with the keys. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Issuers in the API servers' Deployment, of which the first one signs; none before there is one. */
  readonly running: readonly string[];
  /** Whether every API server has the issuers of the Deployment. */
  readonly isRolledOut: boolean;
  /** Whether workers have been able to join. */
  readonly isInitialized: boolean;
  readonly endpoint: Endpoint;
  readonly cluster: Pick<HostedCluster, 'network' | 'spec'>;
}

/**
 * The issuers of service account tokens that API servers accept; the first one signs. A new issuer signs only once every
 * API server accepts it: until then, some would refuse the tokens of others.
 */
export function issuersOf(evidence: IssuerEvidence): Issuers {
  const { cluster, running, isRolledOut } = evidence;
  const { issuer } = cluster.spec.serviceAccountIssuer;
  if (issuer === undefined) return withAccepted(cluster.spec, presentIssuer(evidence));
  const [signing = issuer] = running;
  const signsAlready = signing === issuer || (running.includes(issuer) && isRolledOut);
  return signsAlready ? withAccepted(cluster.spec, issuer) : withAccepted(cluster.spec, signing, issuer);
}

/**
 * The recorded issuer, otherwise the one in use. Keys that have signed tokens before there were records have the issuer
 * of that time, new keys the endpoint.
 */
function presentIssuer({ annotations, running, isInitialized, endpoint, cluster }: IssuerEvidence): string {
  const recorded = annotations[serviceAccountIssuerAnnotation];
  // A text that the API server would refuse counts as none.
  if (recorded !== undefined && /^https:\/\/[^\s,?#]+$/.test(recorded)) return recorded;
  const [signing] = running;
  if (signing !== undefined) return signing;
  const haveSigned = isInitialized || identityAnnotation in annotations || keptAnnotation in annotations;
  return haveSigned ? issuerByServiceName(cluster.network) : issuerAtEndpoint(endpoint);
}

/** The issuers of a control plane, by its own spec or by another one. */
export function observeIssuers(
  { hostedControlPlane, reader }: Pick<ControlPlaneContext, 'hostedControlPlane' | 'reader'>,
  cluster: HostedCluster,
  endpoint: Endpoint,
): Issuers {
  const names = namesOf(cluster.name);
  const deployment = reader.get(Deployment, names.apiServer);
  return issuersOf({
    annotations: reader.get(Secret, names.secrets.serviceAccount)?.metadata.annotations ?? {},
    running: repeatedArgument(deployment, 'service-account-issuer'),
    isRolledOut: deploymentReadiness(deployment).ready,
    isInitialized: hostedControlPlane.status?.initialization?.controlPlaneInitialized ?? false,
    endpoint,
    cluster,
  });
}

/** Records with the keys which issuer signs, before any API server has it: a lost record would change the issuer. */
export async function recordIssuer(
  { cluster, reader, writer }: Pick<ControlPlaneContext, 'cluster' | 'reader' | 'writer'>,
  issuer: string,
): Promise<void> {
  const keys = reader.get(Secret, namesOf(cluster.name).secrets.serviceAccount);
  if (!keys || keys.metadata.annotations?.[serviceAccountIssuerAnnotation] === issuer) return;
  const annotations = { [serviceAccountIssuerAnnotation]: issuer };
  await writer.setFields(Secret, keys, { annotations }, 'service-account-issuer');
}
