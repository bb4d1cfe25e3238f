import type { KubeObject } from '../../../reconciler/kube/object.ts';

export interface LoadBalancerService extends KubeObject {
  spec: { type?: string; loadBalancerIP?: string };
  status?: { loadBalancer?: { ingress?: { ip?: string }[] } };
}

/** A Service and the address for its status; undefined: none any more. */
export interface Assignment {
  readonly service: LoadBalancerService;
  readonly address: string | undefined;
}

/** What a LoadBalancer controller has to do now. */
export interface LoadBalancerPlan {
  /** Services whose status is to be written. */
  readonly assignments: readonly Assignment[];
  /** Every address that the node must answer for. */
  readonly addresses: ReadonlySet<string>;
}

/**
 * Gives every Service of type LoadBalancer the address it requests, otherwise the one it has, otherwise the first free one of
 * the pool. If the pool is empty a Service waits, as it would in a cloud.
 * @param given by uid, what Services got that a watch may not show yet: without it, one whose neighbour is deleted meanwhile
 * would get the address of that one instead, after its users have seen the first
 */
export function planLoadBalancers(
  services: readonly LoadBalancerService[],
  pool: readonly string[],
  given: ReadonlyMap<string, string> = new Map(),
): LoadBalancerPlan {
  const givenTo = ({ metadata }: LoadBalancerService) => given.get(metadata.uid ?? '');
  const wanting = services.filter(({ spec }) => spec.type === 'LoadBalancer');
  const fixed = new Map(
    wanting.map((service) => [service, service.spec.loadBalancerIP || (addressOf(service) ?? givenTo(service))]),
  );
  const addresses = new Set([...fixed.values()].filter((address) => address !== undefined));
  const assignments: Assignment[] = [];
  for (const service of services) {
    const address = fixed.get(service) ?? (fixed.has(service) ? takeFree(pool, addresses) : undefined);
    if (address !== addressOf(service)) assignments.push({ service, address });
  }
  return { assignments, addresses };
}

function takeFree(pool: readonly string[], taken: Set<string>): string | undefined {
  const free = pool.find((address) => !taken.has(address));
  if (free) taken.add(free);
  return free;
}

function addressOf({ status }: LoadBalancerService): string | undefined {
  return status?.loadBalancer?.ingress?.[0]?.ip;
}
