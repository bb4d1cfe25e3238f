import { identityAnnotation, keptAnnotation, serviceAccountIssuerAnnotation } from '../../constructs/api/group.ts';
import { Deployment, Secret } from '../../constructs/api/resources.ts';
import type { ClusterNetwork } from '../../constructs/cluster/cluster.ts';
import type { Endpoint } from '../../constructs/cluster/facts.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { issuerAtEndpoint, issuerByServiceName } from '../../constructs/cluster/service-account-issuer.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import { apiServerArguments } from '../pods/api-server-arguments.ts';

/** What shows with which issuer the service account keys have signed so far. */
export interface IssuerEvidence {
  /** Annotations of the Secret with the keys. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Issuer in the API servers' Deployment; undefined before there is one. */
  readonly running: string | undefined;
  /** Whether workers have been able to join. */
  readonly isInitialized: boolean;
  readonly endpoint: Endpoint;
  readonly network: Pick<ClusterNetwork, 'serviceDomain'>;
}

/**
 * The issuer of service account tokens: the recorded one, otherwise the one in use. Keys that have signed tokens before
 * there were records have the issuer of that time, new keys the endpoint.
 */
export function issuerOf({ annotations, running, isInitialized, endpoint, network }: IssuerEvidence): string {
  const recorded = annotations[serviceAccountIssuerAnnotation];
  // A text that the API server would refuse counts as none.
  if (recorded !== undefined && /^https:\/\/[^\s,?#]+$/.test(recorded)) return recorded;
  if (running !== undefined) return running;
  const haveSigned = isInitialized || identityAnnotation in annotations || keptAnnotation in annotations;
  return haveSigned ? issuerByServiceName(network) : issuerAtEndpoint(endpoint);
}

/**
 * Determines the issuer and records it with the keys, before any API server has it: an issuer must not change, because
 * API servers accept no token of another one.
 */
export async function recordIssuer(
  { cluster, hostedControlPlane, reader, writer }: ControlPlaneContext,
  endpoint: Endpoint,
): Promise<string> {
  const names = namesOf(cluster.name);
  const keys = reader.get(Secret, names.secrets.serviceAccount);
  const issuer = issuerOf({
    annotations: keys?.metadata.annotations ?? {},
    running: apiServerArguments(reader.get(Deployment, names.apiServer))?.['service-account-issuer'],
    isInitialized: hostedControlPlane.status?.initialization?.controlPlaneInitialized ?? false,
    endpoint,
    network: cluster.network,
  });
  if (keys && keys.metadata.annotations?.[serviceAccountIssuerAnnotation] !== issuer) {
    const annotations = { [serviceAccountIssuerAnnotation]: issuer };
    await writer.setFields(Secret, keys, { annotations }, 'service-account-issuer');
  }
  return issuer;
}
