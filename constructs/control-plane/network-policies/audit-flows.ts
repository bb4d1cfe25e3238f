import { isIP } from 'node:net';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { isWithin } from '../../cluster/cidr.ts';
import { auditTargets } from '../api-server/audit/targets.ts';
import type { FlowPort, Peer } from './flow.ts';

/** Where the API server, or the fan-out beside it, sends audit records. */
export interface AuditFlow {
  readonly to: Peer;
  readonly ports: readonly FlowPort[];
}

/**
 * The connections to the receivers of audit records, as their URLs say. A tenant chooses the URLs: nothing that the
 * platform denies is opened by one, and no pod of another namespace.
 * @param denied networks that no control plane may connect to
 */
export function auditFlows(
  cluster: Pick<HostedCluster, 'namespace' | 'spec'>,
  denied: readonly string[],
): readonly AuditFlow[] {
  const flows = auditTargets(cluster).flatMap(({ server }) => flowsTo(new URL(server), cluster.namespace, denied));
  return [...new Map(flows.map((flow) => [JSON.stringify(flow), flow])).values()];
}

function flowsTo({ protocol, hostname, port }: URL, namespace: string, denied: readonly string[]): AuditFlow[] {
  const ports = [{ number: Number(port || (protocol === 'https:' ? 443 : 80)), protocol: 'TCP' }] as const;
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) > 0) {
    const isDenied = denied.some((network) => isWithin(address, network));
    return isDenied ? [] : [{ to: { kind: 'address', address }, ports }];
  }
  if (serviceNamespace(hostname, namespace) === namespace) {
    // Policies apply after the translation of Services, and the ports of the pods may be others.
    return [{ to: { kind: 'pods', namespace, labels: {} }, ports: [] }];
  }
  return [{ to: { kind: 'host', host: hostname, except: denied }, ports }];
}

/** The namespace of the Service that a host name means; undefined for a name outside of the cluster. */
function serviceNamespace(hostname: string, own: string): string | undefined {
  const [, namespace, svc] = hostname.split('.');
  if (namespace === undefined) return own;
  return svc === 'svc' ? namespace : undefined;
}
