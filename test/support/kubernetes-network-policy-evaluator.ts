import { z } from 'zod';
import type { Attempt, EnforcedPolicy, Family, Party } from './enforced-policy.ts';
import { hasLabels, networkWithout } from './labels-and-networks.ts';

const Selector = z.strictObject({ matchLabels: z.record(z.string(), z.string()).optional() });

const Peer = z
  .strictObject({
    podSelector: Selector.optional(),
    namespaceSelector: Selector.optional(),
    ipBlock: z
      .strictObject({ cidr: z.string(), except: z.array(z.string()).optional() })
      .transform(networkWithout)
      .optional(),
  })
  .refine(
    (peer) => Object.keys(peer).length > 0 && (!peer.ipBlock || Object.keys(peer).length === 1),
    'the API server refuses a peer of nothing, or of a network and a selector',
  );

const Port = z.strictObject({ port: z.int().optional(), protocol: z.enum(['TCP', 'UDP', 'SCTP']).default('TCP') });

const NetworkPolicy = z.looseObject({
  metadata: z.looseObject({ namespace: z.string() }),
  spec: z.strictObject({
    podSelector: Selector,
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])).optional(),
    ingress: z.array(z.strictObject({ from: z.array(Peer).optional(), ports: z.array(Port).optional() })).default([]),
    egress: z.array(z.strictObject({ to: z.array(Peer).optional(), ports: z.array(Port).optional() })).default([]),
  }),
});

/**
 * A networking.k8s.io/v1 NetworkPolicy as its documentation describes it. @throws for fields that this evaluator does not
 * support.
 */
export function enforcedNetworkPolicy(object: object): EnforcedPolicy {
  const { metadata, spec } = NetworkPolicy.parse(object);
  const types = spec.policyTypes ?? (spec.egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress']);
  const rules = {
    ingress: spec.ingress.map(({ from, ports }) => ({ peers: from, ports })),
    egress: spec.egress.map(({ to, ports }) => ({ peers: to, ports })),
  };
  return {
    selects: (pod) => pod.namespace === metadata.namespace && hasLabels(pod.labels, spec.podSelector.matchLabels),
    restricts: (direction) => types.includes(direction === 'ingress' ? 'Ingress' : 'Egress'),
    allows: (direction, peer, attempt) =>
      rules[direction].some(
        ({ peers = [], ports = [] }) =>
          (ports.length === 0 || ports.some((port) => isPort(port, attempt))) &&
          (peers.length === 0 || peers.some((allowed) => isPeer(allowed, metadata.namespace, peer, attempt.family))),
      ),
  };
}

function isPeer(
  { podSelector, namespaceSelector, ipBlock }: z.output<typeof Peer>,
  ownNamespace: string,
  peer: Party,
  family: Family,
): boolean {
  // According to the specification an ipBlock matches the addresses of pods and nodes like any other.
  if (ipBlock) return ipBlock(peer.addresses[family], family);
  if (peer.kind !== 'pod') return false;
  const isNamespace = namespaceSelector
    ? hasLabels({ 'kubernetes.io/metadata.name': peer.namespace }, namespaceSelector.matchLabels)
    : peer.namespace === ownNamespace;
  return isNamespace && hasLabels(peer.labels, podSelector?.matchLabels);
}

function isPort({ port, protocol }: z.output<typeof Port>, attempt: Attempt): boolean {
  return protocol === attempt.protocol && (port === undefined || port === attempt.port);
}
