import type { IssuerRef } from '../../../constructs/api/certificates-spec.ts';

/**
 * Why the operator asks this issuer for no CA, as a sentence; undefined if it may. Requests are made with its own rights: those of the
 * author of a spec do not reach beyond the namespace, and an intermediate CA signs for all who trust its root.
 * @param admitted entries of CLUSTER_ISSUERS
 */
export function issuerRefusal(
  { name, kind, group }: IssuerRef,
  namespace: string,
  admitted: readonly string[],
): string | undefined {
  if (kind === 'Issuer' && group === 'cert-manager.io') return undefined;
  const issuer = `${group === 'cert-manager.io' ? kind : `${kind}.${group}`}/${name}`;
  if ([namespace, '*'].some((place) => admitted.includes(`${place}/${issuer}`))) return undefined;
  return `the platform does not let namespace ${namespace} have CAs of ${issuer}: ask it to add ${namespace}/${issuer} to CLUSTER_ISSUERS of the operator, or name an Issuer of the namespace in certificates.issuerRef`;
}
