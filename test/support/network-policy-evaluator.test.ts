import { describe, expect, it } from 'vitest';
import type { Party } from './enforced-policy.ts';
import { type Ends, Enforcement } from './network-policy-evaluator.ts';

const addresses = { ipv4: '10.0.0.7', ipv6: 'fd00::7' };
const pod = (namespace: string, labels: Record<string, string>): Party => ({
  kind: 'pod',
  namespace,
  labels,
  addresses,
});

const database = pod('team', { app: 'database' });
const parties = {
  client: pod('team', { app: 'client' }),
  'client elsewhere': pod('elsewhere', { app: 'client' }),
  'a pod beside the client': pod('team', { app: 'other' }),
  'a pod elsewhere': pod('elsewhere', { app: 'other', 'kubernetes.io/role': 'node' }),
  'its own node': { kind: 'own node', addresses },
  'another node': { kind: 'other node', addresses },
  'a host outside': { kind: 'host outside', addresses: { ipv4: '203.0.113.9', ipv6: '2001:db8::9' } },
} satisfies Record<string, Party>;
const everybody = Object.keys(parties);

const selector = { matchLabels: { app: 'database' } };
const kubernetes = (spec: object) => ({
  kind: 'NetworkPolicy',
  metadata: { namespace: 'team' },
  spec: { podSelector: selector, ...spec },
});
const cilium = (spec: object) => ({
  kind: 'CiliumNetworkPolicy',
  metadata: { namespace: 'team' },
  spec: { endpointSelector: selector, ...spec },
});

/** Names of the parties whose connection is allowed, by default to port 5432 over IPv4 and TCP. */
function allowed(policy: { kind: string }, ends: Ends = 'ingress', attempt: object = {}): string[] {
  const enforcement = new Enforcement([policy]);
  const tcp = { port: 5432, protocol: 'TCP', family: 'ipv4', ...attempt } as const;
  return Object.entries(parties)
    .filter(([, party]) =>
      ends === 'egress'
        ? enforcement.allows(ends, database, party, tcp)
        : enforcement.allows(ends, party, database, tcp),
    )
    .map(([name]) => name);
}

const client = { podSelector: { matchLabels: { app: 'client' } } };
const elsewhere = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'elsewhere' } } };
const node = 'its own node';

describe('a NetworkPolicy', () => {
  it.each<[string, object, string[]]>([
    ['denies a direction that it names without rules', { policyTypes: ['Ingress'] }, [node]],
    ['does not restrict a direction that it does not name', { policyTypes: ['Egress'] }, everybody],
    ['restricts ingress when it names no direction', {}, [node]],
    ['allows every peer by a rule without peers', { ingress: [{ ports: [{ port: 5432 }] }] }, everybody],
    [
      'selects pods of its own namespace if only pods are selected',
      { ingress: [{ from: [client] }] },
      ['client', node],
    ],
    [
      'selects all pods of a namespace if only that is selected',
      { ingress: [{ from: [elsewhere] }] },
      ['client elsewhere', 'a pod elsewhere', node],
    ],
    [
      'combines both selectors of one peer',
      { ingress: [{ from: [{ ...client, ...elsewhere }] }] },
      ['client elsewhere', node],
    ],
    [
      'allows either of two peers',
      { ingress: [{ from: [client, elsewhere] }] },
      ['client', 'client elsewhere', 'a pod elsewhere', node],
    ],
    [
      'selects every pod of its namespace by an empty selector',
      { ingress: [{ from: [{ podSelector: {} }] }] },
      ['client', 'a pod beside the client', node],
    ],
    [
      'selects addresses by their network',
      { ingress: [{ from: [{ ipBlock: { cidr: '203.0.113.0/24' } }] }] },
      [node, 'a host outside'],
    ],
    [
      'selects addresses by their network, except those of others within it',
      { ingress: [{ from: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } }] }] },
      [node, 'a host outside'],
    ],
    ['means TCP if no protocol is given', { ingress: [{ ports: [{ port: 5432, protocol: 'UDP' }] }] }, [node]],
  ])('%s', (_, spec, names) => {
    expect(allowed(kubernetes(spec))).toEqual(names);
  });

  it('does not match an address of the other family', () => {
    const policy = kubernetes({ ingress: [{ from: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }] });
    expect(allowed(policy)).toEqual(everybody);
    expect(allowed(policy, 'ingress', { family: 'ipv6' })).toEqual([node]);
  });

  it('restricts egress when it has an egress rule', () => {
    expect(allowed(kubernetes({ egress: [{ to: [client] }] }), 'egress')).toEqual(['client']);
    expect(allowed(kubernetes({}), 'egress')).toEqual(everybody);
  });
});

const ciliumClient = { matchLabels: { app: 'client' } };

describe('a CiliumNetworkPolicy', () => {
  it.each<[string, object, string[]]>([
    ['denies a direction by an empty rule', { ingress: [{}] }, [node]],
    ['does not restrict a direction without rules', { ingress: [], egress: [{}] }, everybody],
    [
      'selects its own namespace by an empty selector',
      { ingress: [{ fromEndpoints: [{}] }] },
      ['client', 'a pod beside the client', node],
    ],
    [
      'selects its own namespace if none is selected',
      { ingress: [{ fromEndpoints: [ciliumClient] }] },
      ['client', node],
    ],
    [
      'selects a namespace by its label',
      {
        ingress: [
          { fromEndpoints: [{ matchLabels: { 'k8s:io.kubernetes.pod.namespace': 'elsewhere', app: 'client' } }] },
        ],
      },
      ['client elsewhere', node],
    ],
    [
      'does not match labels that Cilium ignores',
      {
        ingress: [
          {
            fromEndpoints: [
              { matchLabels: { 'k8s:io.kubernetes.pod.namespace': 'elsewhere', 'kubernetes.io/role': 'node' } },
            ],
          },
        ],
      },
      [node],
    ],
    [
      'distinguishes the world entity from the cluster',
      { ingress: [{ fromEntities: ['world'] }] },
      [node, 'a host outside'],
    ],
    ['allows every peer by the entity all', { ingress: [{ fromEntities: ['all'] }] }, everybody],
    [
      'allows every peer by a rule of ports only',
      { ingress: [{ toPorts: [{ ports: [{ port: '5432', protocol: 'TCP' }] }] }] },
      everybody,
    ],
    [
      'means one protocol if one is given',
      { ingress: [{ toPorts: [{ ports: [{ port: '5432', protocol: 'UDP' }] }] }] },
      [node],
    ],
    ['means every protocol if none is given', { ingress: [{ toPorts: [{ ports: [{ port: '5432' }] }] }] }, everybody],
  ])('%s', (_, spec, names) => {
    expect(allowed(cilium(spec))).toEqual(names);
  });
});

it.each([
  ['a kind that is not a policy', { kind: 'Service' }, 'Service is no policy'],
  ['match expressions', kubernetes({ podSelector: { matchExpressions: [] } }), 'matchExpressions'],
  ['port ranges', kubernetes({ ingress: [{ ports: [{ port: 1, endPort: 9 }] }] }), 'endPort'],
  ['a peer without fields', kubernetes({ ingress: [{ from: [{}] }] }), 'a peer of nothing'],
  ['deny rules', cilium({ ingressDeny: [{ fromEntities: ['world'] }] }), 'ingressDeny'],
  ['host names', cilium({ egress: [{ toFQDNs: [{ matchName: 'example.org' }] }] }), 'toFQDNs'],
  ['application layer rules', cilium({ egress: [{ toPorts: [{ ports: [], rules: {} }] }] }), 'rules'],
])('refuses %s instead of ignoring it', (_, policy, message) => {
  expect(() => new Enforcement([policy])).toThrow(message);
});
