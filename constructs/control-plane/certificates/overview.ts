import type { HostedCluster } from '../../cluster/cluster.ts';
import type { Reached } from '../exposure/strategy.ts';
import { namesOf } from '../../cluster/names.ts';
import type { CertificateRole } from './kinds.ts';
import {
  adminPlan,
  type CertificatePlan,
  planCAs,
  planCertificates,
  planEtcdCertificates,
} from './certificate-plans.ts';

/** One certificate of a control plane: a self-signed CA, or a leaf certificate that a CA signs. */
export type PlannedCertificate =
  | { readonly role: CertificateRole; readonly kind: 'ca'; readonly secret: string; readonly commonName: string }
  | { readonly role: CertificateRole; readonly kind: 'leaf'; readonly secret: string; readonly plan: CertificatePlan };

/**
 * Every certificate of a control plane, CAs first.
 * @param reached the endpoints; without them only the certificates that do not depend on an endpoint
 */
export function planAll(cluster: HostedCluster, reached: Reached | undefined): PlannedCertificate[] {
  const leaves = [
    ...planEtcdCertificates(cluster),
    ...(reached
      ? planCertificates(cluster, reached.endpoint, reached.konnectivityEndpoint, reached.tunnelEndpoint)
      : []),
    adminPlan(cluster.name),
  ];
  return [
    ...planCAs(cluster.name).map(({ secret, commonName }) => ({
      role: roleOf(cluster, secret),
      kind: 'ca' as const,
      secret,
      commonName,
    })),
    ...leaves.map((plan) => ({
      role: roleOf(cluster, plan.secret),
      kind: 'leaf' as const,
      secret: plan.secret,
      plan,
    })),
  ];
}

function roleOf({ name }: HostedCluster, secret: string): CertificateRole {
  const found = Object.entries(namesOf(name).secrets).find(([, value]) => value === secret);
  if (!found) throw new Error(`Secret ${secret} has no role: add it to namesOf`);
  return found[0] as CertificateRole;
}
