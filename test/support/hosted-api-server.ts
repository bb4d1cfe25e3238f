import { appliedKindsOf, renderWorkload } from '../../constructs/workload/chart.ts';
import { users } from '../../constructs/cluster/workload-identities.ts';
import type { HostedTarget } from '../../reconciler/clusters/hosted/target.ts';
import { issueCertificate, validFor } from '../../reconciler/pki/issue.ts';
import type { ApiServer } from './api-server.ts';
import { clusterOf, knownFacts } from './rendered-cluster.ts';

const dayMs = 24 * 60 * 60_000;

/** An API server that acts as that of a hosted cluster, reached at a port of this machine. */
export async function hostedTargetOf({ target }: ApiServer, port: number): Promise<HostedTarget> {
  const issue = (commonName: string, organizations: readonly string[]) =>
    issueCertificate(
      { commonName, organizations, usages: ['client'], hosts: [] },
      target.certificateAuthority,
      validFor(dayMs, new Date()),
    );
  const endpoint = { host: '127.0.0.1', port };
  return {
    service: endpoint,
    podPort: port,
    serverName: target.serverName,
    endpoint,
    ca: target.certificateAuthority.certificate,
    controller: await issue(users.controller, []),
    admin: () => issue('administrator', ['system:masters']),
    applied: appliedKindsOf(cluster.spec.version),
  };
}

const cluster = clusterOf();

/** The rendered objects of the hosted cluster: RBAC only, and all of them. */
export const hostedRights = renderWorkload(cluster, knownFacts, 'rbac');
export const hostedObjects = renderWorkload(cluster, knownFacts);
