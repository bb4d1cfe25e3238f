import { describe, expect, it } from 'vitest';
import { auditFlows } from '../../../../constructs/control-plane/network-policies/flows.ts';
import { clusterOf, Rendered } from '../../../support/rendered-cluster.ts';

const denied = ['169.254.0.0/16', 'fe80::/10', '10.0.0.0/8'];
const specWith = (...servers: string[]) => ({
  deployment: {
    apiServer: { audit: { policy: { rules: [] }, webhook: { targets: servers.map((server) => ({ server })) } } },
  },
});
const tcp = (number: number) => [{ number, protocol: 'TCP' }];

describe('to a receiver of audit records', () => {
  it.each([
    ['https://a.example.org', { kind: 'host', host: 'a.example.org', except: denied }, tcp(443)],
    ['http://a.example.org/path', { kind: 'host', host: 'a.example.org', except: denied }, tcp(80)],
    ['https://a.example.org:8443', { kind: 'host', host: 'a.example.org', except: denied }, tcp(8443)],
    ['https://192.0.2.7:8443', { kind: 'address', address: '192.0.2.7' }, tcp(8443)],
    ['https://[2001:db8::7]', { kind: 'address', address: '2001:db8::7' }, tcp(443)],
    ['http://receiver:80', { kind: 'pods', namespace: 'team', labels: {} }, []],
    ['http://receiver.team.svc.cluster.local', { kind: 'pods', namespace: 'team', labels: {} }, []],
    // The pods of other namespaces are not a tenant's to open.
    ['http://a.other.svc:8080', { kind: 'host', host: 'a.other.svc', except: denied }, tcp(8080)],
  ])('%s a connection is allowed', (server, to, ports) => {
    expect(auditFlows(clusterOf({ spec: specWith(server) }), denied)).toMatchObject([{ to, ports }]);
  });

  it.each(['http://169.254.169.254', 'https://10.1.2.3', 'https://[fe80::1]'])(
    '%s none is, because the platform denies it',
    (server) => {
      expect(auditFlows(clusterOf({ spec: specWith(server) }), denied)).toEqual([]);
    },
  );

  it('is allowed once for all receivers of a host', () => {
    const servers = ['https://a.example.org/one', 'https://a.example.org/two'];
    expect(auditFlows(clusterOf({ spec: specWith(...servers) }), denied)).toHaveLength(1);
  });
});

const servers = ['https://a.example.org:8443', 'https://192.0.2.7:8444', 'http://receiver'];
const egress = (kind: string, spec: object = specWith(...servers)) => {
  const networkPolicy = { spec: { ...spec, networkPolicy: kind } };
  const found = new Rendered(networkPolicy, { managementNetwork: { denied: ['10.0.0.0/8'] } });
  return (found.object(kind, 'c1-api-server')['spec'] as { egress: object[] }).egress;
};

it('Kubernetes allows the port of a name, except where the platform denies it', () => {
  const ports = (port: number) => [{ port, protocol: 'TCP' }];
  const except = ['10.0.0.0/8', '169.254.0.0/16'];
  const to = [{ ipBlock: { cidr: '0.0.0.0/0', except } }, { ipBlock: { cidr: '::/0', except: ['fe80::/10'] } }];
  expect(egress('NetworkPolicy')).toEqual(
    expect.arrayContaining([
      { to, ports: ports(8443) },
      { to: [{ ipBlock: { cidr: '192.0.2.7/32' } }], ports: ports(8444) },
      { to: [{ podSelector: {}, namespaceSelector: expect.anything() as unknown }] },
    ]),
  );
});

it('Cilium allows exactly the name, and reads the names that the DNS answers', () => {
  const toPorts = (port: number) => [{ ports: [{ port: String(port), protocol: 'TCP' }] }];
  const rules = egress('CiliumNetworkPolicy');
  expect(rules).toEqual(
    expect.arrayContaining([
      { toFQDNs: [{ matchName: 'a.example.org' }], toPorts: toPorts(8443) },
      { toCIDRSet: [{ cidr: '192.0.2.7/32' }], toPorts: toPorts(8444) },
      { toEndpoints: [{ matchLabels: { 'k8s:io.kubernetes.pod.namespace': 'team' } }] },
    ]),
  );
  const observed = (given: object[]) => given.filter((rule) => JSON.stringify(rule).includes('"matchPattern":"*"'));
  expect(observed(rules)).toHaveLength(2);
  expect(observed(egress('CiliumNetworkPolicy', {}))).toEqual([]);
});
