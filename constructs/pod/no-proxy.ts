import type { HostedCluster } from '../cluster/cluster.ts';
import { rendersWith } from '../cluster/release-revisions.ts';

interface Variable {
  readonly name: string;
  readonly value?: string | undefined;
}

/**
 * What pods of a cluster reach without a proxy: Services, of the management cluster and of the hosted one, and with them the members of
 * etcd; pods; and themselves. Nodes are not here, because the operator does not know their networks.
 */
export function insideOf(cluster: Pick<HostedCluster, 'network' | 'release'>): readonly string[] {
  if (!rendersWith(cluster, 'completesNoProxy')) return [];
  const { serviceDomain, services, pods } = cluster.network;
  return ['localhost', '127.0.0.1', '::1', '.svc', `.${serviceDomain}`, ...services, ...pods];
}

const isProxy = ({ name, value }: Variable) => /^(https?|all)_proxy$/i.test(name) && (value ?? '') !== '';
const isException = ({ name }: Variable) => name.toLowerCase() === 'no_proxy';

/** Variables whose exceptions of a proxy, if they name one, contain everything that is inside. */
export function withExceptions<V extends Variable>(
  variables: readonly V[],
  inside: readonly string[],
): (V | Variable)[] {
  if (inside.length === 0 || !variables.some(isProxy)) return [...variables];
  if (!variables.some(isException)) return [...variables, { name: 'NO_PROXY', value: inside.join(',') }];
  return variables.map((one) => (isException(one) ? { ...one, value: completed(one.value ?? '', inside) } : one));
}

function completed(given: string, inside: readonly string[]): string {
  const entries = given.split(',').map((entry) => entry.trim());
  // Then nothing goes through the proxy.
  if (entries.includes('*')) return given;
  return [...new Set([...entries.filter((entry) => entry !== ''), ...inside])].join(',');
}
