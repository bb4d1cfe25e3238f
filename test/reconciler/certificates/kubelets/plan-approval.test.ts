import type { MachineObject } from '../../../../imports/cluster-api.ts';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import type { NodeAddress } from '../../../../imports/kubernetes.ts';
import { awaitsServing, type Evidence, objection } from '../../../../reconciler/certificates/kubelets/plan-approval.ts';
import { reservedHosts } from '../../../../reconciler/certificates/kubelets/reserved-hosts.ts';
import { longestRequest } from '../../../../reconciler/pki/certificate-signing-request.ts';
import { kubeletRequest, type KubeletRequestChanges } from '../../../support/kubelet-request.ts';
import { clusterOf, knownFacts } from '../../../support/rendered-cluster.ts';

const isReserved = reservedHosts(clusterOf(), {
  ...knownFacts,
  endpoint: { host: 'c1.example.org', port: 443 },
  konnectivityEndpoint: { host: 'konnectivity.c1.example.org', port: 443 },
});
const addresses = (...given: string[]): NodeAddress[] => given.map((address) => ({ type: 'any', address }));
const machine = (name: string, node: string | undefined, ...given: string[]): MachineObject => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Machine',
  metadata: { name },
  status: { ...(node && { nodeRef: { name: node } }), addresses: addresses(...given) },
});
/** A Machine without status, and one without addresses. */
const unknown = (name: string): MachineObject => {
  const { status: _, ...rest } = machine(name, undefined);
  return rest;
};
const withoutAddresses = (name: string, node: string): MachineObject => ({
  ...machine(name, node),
  status: { nodeRef: { name: node } },
});
const n1 = { CN: ['system:node:n1'] };
const nodes = { O: ['system:nodes'] };
const evidence = (changes: Partial<Evidence> = {}): Evidence => ({
  nodeAddresses: addresses('n1', '192.0.2.21', '2001:db8::21', 'n1.internal'),
  machines: [],
  isReserved,
  ...changes,
});
const judged = async (request: KubeletRequestChanges, changes: Partial<Evidence> = {}) =>
  objection(await kubeletRequest(request), evidence(changes));

describe('a kubelet gets a serving certificate', () => {
  it.each<[string, KubeletRequestChanges, Partial<Evidence>]>([
    ['for its name and address', {}, {}],
    ['for addresses alone', { hosts: ['192.0.2.21'] }, {}],
    ['for both families', { hosts: ['n1', '192.0.2.21', '2001:0db8::0021'] }, {}],
    ['for names in capitals', { hosts: ['N1.Internal', '192.0.2.21'] }, {}],
    ['with a key for encipherment', { usages: ['server auth', 'key encipherment', 'digital signature'] }, {}],
    ['with its group before its name', { subject: [nodes, n1] }, {}],
    ['if other Machines have no status', {}, { machines: [unknown('m3'), machine('m1', 'n1', '192.0.2.21')] }],
    ['if Machines of other nodes have no addresses yet', {}, { machines: [withoutAddresses('m2', 'n2')] }],
    ['if its Machine has the same addresses', {}, { machines: [machine('m1', 'n1', '192.0.2.21')] }],
    [
      'if its Machine lists one family only',
      { hosts: ['n1', '192.0.2.21', '2001:db8::21'] },
      { machines: [machine('m1', 'n1', 'n1.internal', '192.0.2.21')] },
    ],
    [
      'if its Machine lists names only',
      { hosts: ['n1', '192.0.2.21', '2001:db8::21'] },
      { machines: [machine('m1', 'n1', 'n1.internal')] },
    ],
    ['if its Machine has no addresses', { hosts: ['n1', 'n1.internal'] }, { machines: [machine('m1', 'n1')] }],
    ['if its Machine has no nodeRef yet', {}, { machines: [machine('m1', undefined, '192.0.2.21')] }],
    ['if there are Machines of other nodes', {}, { machines: [machine('m2', 'n2', '192.0.2.22')] }],
  ])('%s', async (_, request, changes) => {
    expect(await judged(request, changes)).toBeUndefined();
  });
});

describe('a request is not approved that', () => {
  const mail = { type: 'email', value: 'root@example.org' } as const;
  const uri = { type: 'url', value: 'spiffe://example.org/n1' } as const;
  const secondList = new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'n2' }]);
  const ca = new x509.BasicConstraintsExtension(true, 1, true);
  it.each<[string, KubeletRequestChanges, RegExp]>([
    ['was made by a person', { username: 'jane' }, /was created by jane, which is not a kubelet/],
    ["was made by a user whose name only resembles a kubelet's", { groups: ['system:authenticated'] }, /not a kubelet/],
    ['was made by a user without a name', { username: 'system:node:' }, /not a kubelet/],
    ['was made with a bootstrap token', { username: 'system:bootstrap:abcdef' }, /not a kubelet/],
    ['was made by another node', { username: 'system:node:n2' }, /requests subject CN=system:node:n1/],
    ['asks for another group', { subject: [n1, { O: ['system:masters'] }] }, /O=system:masters/],
    ['asks for a second group', { subject: [n1, { O: ['system:nodes', 'system:masters'] }] }, /O=system:masters/],
    ['asks for a second group in another RDN', { subject: [n1, nodes, { O: ['system:masters'] }] }, /O=system:masters/],
    ['asks for no group', { subject: [n1] }, /instead of/],
    ['asks for a second name', { subject: [nodes, n1, { CN: ['kubernetes-admin'] }] }, /CN=kubernetes-admin/],
    ['asks for another attribute in the subject', { subject: [nodes, n1, { OU: ['x'] }] }, /OU=x/],
    [
      'asks for client auth only',
      { usages: ['digital signature', 'client auth'] },
      /usages digital signature, client auth/,
    ],
    [
      'asks for client auth too',
      { usages: ['digital signature', 'server auth', 'client auth'] },
      /client auth instead/,
    ],
    ['does not ask for server auth', { usages: ['digital signature', 'key encipherment'] }, /usages digital signature/],
    ['asks for no signature usage', { usages: ['server auth', 'key encipherment'] }, /usages server auth/],
    ['asks for its group within its name', { subject: [{ CN: ['system:node:n1\nO=system:nodes'] }] }, /instead of/],
    ['asks for cert sign', { usages: ['digital signature', 'server auth', 'cert sign'] }, /cert sign/],
    ['asks for no usage', { usages: [] }, /usages none/],
    ['names no host', { hosts: [] }, /contains no host name or address/],
    ['names an email address', { otherNames: [mail] }, /names of type email/],
    ['names a URI', { otherNames: [uri] }, /names of type url/],
    ['names only an email address', { hosts: [], otherNames: [mail] }, /names of type email/],
    ['has a second list of names', { extensions: [secondList] }, /more than one list/],
    ['asks to be a CA', { extensions: [ca] }, /more than one list/],
    ['names another host', { hosts: ['n1', 'n2'] }, /contains n2, which Node n1 does not have/],
    ['names another address', { hosts: ['n1', '192.0.2.22'] }, /contains 192\.0\.2\.22, which Node n1 does not have/],
    ['names a wildcard', { hosts: ['n1', '*.internal'] }, /\*\.internal, which no node can have/],
    ['is for another signer of serving certificates', { username: 'system:node:n2' }, /requests subject/],
  ])('%s', async (_, request, expected) => {
    expect(await judged(request)).toMatch(expected);
  });

  it.each(['not base64!', Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n').toString('base64')])(
    'cannot be read: %s',
    async (text) => {
      const request = await kubeletRequest();
      expect(objection({ ...request, spec: { ...request.spec, request: text } }, evidence())).toContain(
        'cannot be read',
      );
    },
  );

  it('has a Node that claims a name which its Machine does not have', async () => {
    const machines = [machine('m1', 'n1', '192.0.2.21')];
    const said = await judged({ hosts: ['n1', '192.0.2.21', 'n1.internal'] }, { machines });
    expect(said).toBe('contains n1.internal, which Machine m1 does not have');
  });

  it.each([
    ['groups', 'was created by system:node:n1, which is not a kubelet'],
    ['usages', 'requests usages none instead of digital signature, key encipherment, server auth'],
  ])('has no %s', async (field, expected) => {
    const request = await kubeletRequest();
    const { [field as 'groups']: _, ...spec } = request.spec;
    expect(objection({ ...request, spec }, evidence())).toBe(expected);
  });

  it('is longer than the operator keeps', async () => {
    const request = await kubeletRequest();
    const kept = { ...request, spec: { ...request.spec, request: '' } };
    expect(objection(kept, evidence())).toBe(`is longer than ${longestRequest / 1024} KiB`);
  });

  // Its Node lists them as addresses, which a kubelet writes itself.
  it.each([
    'c1.example.org',
    'konnectivity.c1.example.org',
    'kubernetes',
    'kubernetes.default.svc',
    'Kubernetes.Default.SVC',
    'kubernetes.default.svc.',
    'kubernetes.default.svc.cluster.local',
    'metrics.kube-system.svc',
    'localhost',
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '10.96.0.1',
    '10.96.7.7',
    '::ffff:10.96.0.1',
    '169.254.169.254',
    '*',
    '*.example.org',
  ])('names an address that no node can have, even if its Node lists it: %s', async (host) => {
    const nodeAddresses = addresses('n1', '192.0.2.21', host);
    expect(await judged({ hosts: ['n1', '192.0.2.21', host] }, { nodeAddresses })).toContain('which no node can have');
  });

  it.each<[string, Partial<Evidence>, RegExp]>([
    ['has no Node', { nodeAddresses: undefined }, /was created by Node n1, which does not exist/],
    ['has a Node without addresses', { nodeAddresses: [] }, /which Node n1 does not have/],
    [
      'has a Node that claims an address which its Machine does not have',
      { machines: [machine('m1', 'n1', '192.0.2.99')] },
      /contains 192\.0\.2\.21, which Machine m1 does not have/,
    ],
    [
      "has a Node that claims the address of another node's Machine",
      { machines: [machine('m2', 'n2', '192.0.2.21')] },
      /contains 192\.0\.2\.21, which Machine m2 has/,
    ],
    [
      'has a Node that claims it while its own Machine has no addresses',
      { machines: [machine('m1', 'n1'), machine('m2', 'n2', '192.0.2.21')] },
      /which Machine m2 has/,
    ],
  ])('%s', async (_, changes, expected) => {
    expect(await judged({}, changes)).toMatch(expected);
  });
});

describe('only pending requests are evaluated', () => {
  it.each<[string, KubeletRequestChanges, boolean]>([
    ['of the signer of kubelet serving certificates', {}, true],
    ['not of another signer', { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' }, false],
    ['not approved ones', { conditions: [{ type: 'Approved' }] }, false],
    ['not denied ones', { conditions: [{ type: 'Denied' }] }, false],
  ])('%s', async (_, changes, isEvaluated) => {
    expect(awaitsServing(await kubeletRequest(changes))).toBe(isEvaluated);
  });
});
