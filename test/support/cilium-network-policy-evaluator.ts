import { z } from 'zod';
import { hasLabels, networkWithout } from './labels-and-networks.ts';
import type { Attempt, EnforcedPolicy, Party } from './enforced-policy.ts';

const Selector = z.strictObject({ matchLabels: z.record(z.string(), z.string()).optional() });
const Entity = z.enum(['all', 'world', 'cluster', 'host', 'remote-node']);
const ToPorts = z.strictObject({
  ports: z
    .array(
      z.strictObject({
        port: z.string().regex(/^\d+$/).transform(Number),
        protocol: z.enum(['TCP', 'UDP', 'SCTP', 'ANY']).default('ANY'),
      }),
    )
    .default([]),
});

const CIDRSet = z.array(
  z.strictObject({ cidr: z.string(), except: z.array(z.string()).optional() }).transform(networkWithout),
);

const CiliumNetworkPolicy = z.looseObject({
  metadata: z.looseObject({ namespace: z.string() }),
  spec: z.strictObject({
    endpointSelector: Selector,
    ingress: z
      .array(
        z.strictObject({
          fromEndpoints: z.array(Selector).optional(),
          fromEntities: z.array(Entity).optional(),
          toPorts: z.array(ToPorts).optional(),
        }),
      )
      .default([]),
    egress: z
      .array(
        z.strictObject({
          toEndpoints: z.array(Selector).optional(),
          toEntities: z.array(Entity).optional(),
          toCIDRSet: CIDRSet.optional(),
          toPorts: z.array(ToPorts).optional(),
        }),
      )
      .default([]),
  }),
});

interface Rule {
  readonly endpoints: readonly z.output<typeof Selector>[] | undefined;
  readonly entities: readonly z.output<typeof Entity>[] | undefined;
  readonly networks?: z.output<typeof CIDRSet> | undefined;
  readonly ports: readonly z.output<typeof ToPorts>[] | undefined;
}

/** A cilium.io/v2 CiliumNetworkPolicy as Cilium 1.18 reads it. @throws for fields that this evaluator does not support. */
export function enforcedCiliumNetworkPolicy(object: object): EnforcedPolicy {
  const { metadata, spec } = CiliumNetworkPolicy.parse(object);
  const { namespace } = metadata;
  const rules: Record<'ingress' | 'egress', Rule[]> = {
    ingress: spec.ingress.map((rule) => ({
      endpoints: rule.fromEndpoints,
      entities: rule.fromEntities,
      ports: rule.toPorts,
    })),
    egress: spec.egress.map((rule) => ({
      endpoints: rule.toEndpoints,
      entities: rule.toEntities,
      networks: rule.toCIDRSet,
      ports: rule.toPorts,
    })),
  };
  return {
    selects: (pod) => isSelected(pod, spec.endpointSelector, namespace),
    restricts: (direction) => rules[direction].length > 0,
    allows: (direction, peer, attempt) => rules[direction].some((rule) => allows(rule, namespace, peer, attempt)),
  };
}

/** A direction without rules allows every peer; an empty rule allows none. */
function allows(
  { endpoints, entities, networks, ports = [] }: Rule,
  namespace: string,
  peer: Party,
  attempt: Attempt,
): boolean {
  if (!endpoints && !entities && !networks && ports.length === 0) return false;
  if ([endpoints, entities, networks].filter(Boolean).length > 1)
    throw new Error('Cilium refuses a rule that selects in two ways');
  if (ports.length > 0 && !ports.some(({ ports: listed }) => arePorts(listed, attempt))) return false;
  if (!endpoints && !entities && !networks) return true;
  return (
    (endpoints ?? []).some((selector) => isSelected(peer, selector, namespace)) ||
    (entities ?? []).some((entity) => isEntity(peer, entity)) ||
    (networks ?? []).some((contains) => hasAddress(peer) && contains(peer.addresses[attempt.family], attempt.family))
  );
}

/** Cilium knows pods and nodes by their identity, and matches them by no address. */
function hasAddress({ kind }: Party): boolean {
  return kind === 'host outside';
}

function arePorts(ports: z.output<typeof ToPorts>['ports'], attempt: Attempt): boolean {
  return (
    ports.length === 0 ||
    ports.some(({ port, protocol }) => port === attempt.port && (protocol === 'ANY' || protocol === attempt.protocol))
  );
}

function isEntity({ kind }: Party, entity: z.output<typeof Entity>): boolean {
  switch (entity) {
    case 'all':
      return true;
    case 'world':
      return kind === 'host outside';
    case 'cluster':
      return kind !== 'host outside';
    case 'host':
      return kind === 'own node';
    case 'remote-node':
      return kind === 'other node';
  }
}

const namespaceLabel = 'io.kubernetes.pod.namespace';

function isSelected(party: Party, { matchLabels = {} }: z.output<typeof Selector>, ownNamespace: string): boolean {
  if (party.kind !== 'pod') return false;
  const wanted = Object.fromEntries(
    Object.entries(matchLabels).map(([key, value]) => [key.replace(/^(k8s|any):/, ''), value]),
  );
  const known = Object.entries(party.labels).filter(([key]) => isIdentityLabel(key));
  return hasLabels(
    { ...Object.fromEntries(known), [namespaceLabel]: party.namespace },
    { [namespaceLabel]: ownNamespace, ...wanted },
  );
}

/** By default Cilium ignores labels with these names, so a selector of one of them selects no pod. */
function isIdentityLabel(key: string): boolean {
  if (key.startsWith('app.kubernetes.io')) return true;
  return !/^(io\.kubernetes|kubernetes\.io|.*beta\.kubernetes\.io|k8s\.io|statefulset\.kubernetes\.io\/pod-name|apps\.kubernetes\.io\/pod-index|batch\.kubernetes\.io|pod-template-|controller-revision-hash|controller-uid|annotation|etcd_node)/.test(
    key,
  );
}
