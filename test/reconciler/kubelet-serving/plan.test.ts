import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import type { NodeAddress } from '../../../reconciler/hosted/node-object.ts';
import {
  awaitsServing,
  type Evidence,
  type MachineObject,
  objection,
} from '../../../reconciler/kubelet-serving/plan.ts';
import { reservedHosts } from '../../../reconciler/kubelet-serving/reserved-hosts.ts';
import { kubeletRequest, type KubeletRequestChanges } from '../../support/kubelet-request.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';

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
/** One of which Cluster API has not written anything yet, and one without addresses. */
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

describe('a kubelet gets a certificate to serve with', () => {
  it.each<[string, KubeletRequestChanges, Partial<Evidence>]>([
    ['for its name and address', {}, {}],
    ['for addresses alone', { hosts: ['192.0.2.21'] }, {}],
    ['for both families', { hosts: ['n1', '192.0.2.21', '2001:0db8::0021'] }, {}],
    ['for names in capitals', { hosts: ['N1.Internal', '192.0.2.21'] }, {}],
    ['with a key that can encipher', { usages: ['server auth', 'key encipherment', 'digital signature'] }, {}],
    ['with its group before its name', { subject: [nodes, n1] }, {}],
    [
      'beside Machines that tell nothing of themselves',
      {},
      { machines: [unknown('m3'), machine('m1', 'n1', '192.0.2.21')] },
    ],
    ['beside Machines of others that have no addresses yet', {}, { machines: [withoutAddresses('m2', 'n2')] }],
    ['when its Machine has the same addresses', {}, { machines: [machine('m1', 'n1', '192.0.2.21')] }],
    ['when its Machine tells no addresses', {}, { machines: [machine('m1', 'n1')] }],
    ['when nobody knows yet whose Machine it is', {}, { machines: [machine('m1', undefined, '192.0.2.21')] }],
    ['beside Machines of others', {}, { machines: [machine('m2', 'n2', '192.0.2.22')] }],
  ])('%s', async (_, request, changes) => {
    expect(await judged(request, changes)).toBeUndefined();
  });
});

describe('a request is left alone that', () => {
  const mail = { type: 'email', value: 'root@example.org' } as const;
  const uri = { type: 'url', value: 'spiffe://example.org/n1' } as const;
  const secondList = new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'n2' }]);
  const ca = new x509.BasicConstraintsExtension(true, 1, true);
  it.each<[string, KubeletRequestChanges, RegExp]>([
    ['was made by a person', { username: 'jane' }, /was created by jane, which is not a kubelet/],
    ['was made by a user that only sounds like a kubelet', { groups: ['system:authenticated'] }, /not a kubelet/],
    ['was made by a user without a name', { username: 'system:node:' }, /not a kubelet/],
    ['was made with a bootstrap token', { username: 'system:bootstrap:abcdef' }, /not a kubelet/],
    ['was made by another node', { username: 'system:node:n2' }, /requests subject CN=system:node:n1/],
    ['asks for another group', { subject: [n1, { O: ['system:masters'] }] }, /O=system:masters/],
    ['asks for a second group', { subject: [n1, { O: ['system:nodes', 'system:masters'] }] }, /O=system:masters/],
    ['asks for a second group apart', { subject: [n1, nodes, { O: ['system:masters'] }] }, /O=system:masters/],
    ['asks for no group', { subject: [n1] }, /instead of/],
    ['asks for a second name', { subject: [nodes, n1, { CN: ['kubernetes-admin'] }] }, /CN=kubernetes-admin/],
    ['asks for more of a name', { subject: [nodes, n1, { OU: ['x'] }] }, /OU=x/],
    ['wants to be a client', { usages: ['digital signature', 'client auth'] }, /usages digital signature, client auth/],
    [
      'wants to be a client too',
      { usages: ['digital signature', 'server auth', 'client auth'] },
      /client auth instead/,
    ],
    ['wants to be no server', { usages: ['digital signature', 'key encipherment'] }, /usages digital signature/],
    ['wants to sign nothing', { usages: ['server auth', 'key encipherment'] }, /usages server auth/],
    ['asks for its group within its name', { subject: [{ CN: ['system:node:n1\nO=system:nodes'] }] }, /instead of/],
    ['wants to sign', { usages: ['digital signature', 'server auth', 'cert sign'] }, /cert sign/],
    ['wants to be nothing', { usages: [] }, /usages none/],
    ['names no host', { hosts: [] }, /contains no host name or address/],
    ['names a mailbox', { otherNames: [mail] }, /names of type email/],
    ['names a URI', { otherNames: [uri] }, /names of type url/],
    ['names a mailbox alone', { hosts: [], otherNames: [mail] }, /names of type email/],
    ['has a second list of names', { extensions: [secondList] }, /more than one list/],
    ['wants to be an authority', { extensions: [ca] }, /more than one list/],
    ['names another host', { hosts: ['n1', 'n2'] }, /contains n2, which Node n1 does not have/],
    ['names another address', { hosts: ['n1', '192.0.2.22'] }, /contains 192\.0\.2\.22, which Node n1 does not have/],
    ['names all hosts', { hosts: ['n1', '*.internal'] }, /\*\.internal, which no node can have/],
    ['is for another signer of a serving certificate', { username: 'system:node:n2' }, /requests subject/],
  ])('%s', async (_, request, said) => {
    expect(await judged(request)).toMatch(said);
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

  // Its Node says that these are its own: a kubelet writes that itself.
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
  ])('names what no node can have, whatever its Node says: %s', async (host) => {
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
      'has a Node that claims the address of a Machine of another one',
      { machines: [machine('m2', 'n2', '192.0.2.21')] },
      /contains 192\.0\.2\.21, which Machine m2 has/,
    ],
    [
      'has a Node that claims it while its own Machine tells nothing',
      { machines: [machine('m1', 'n1'), machine('m2', 'n2', '192.0.2.21')] },
      /which Machine m2 has/,
    ],
  ])('%s', async (_, changes, said) => {
    expect(await judged({}, changes)).toMatch(said);
  });
});

describe('only requests are looked at', () => {
  it.each<[string, KubeletRequestChanges, boolean]>([
    ['of the signer of kubelets that serve', {}, true],
    ['of no other signer', { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' }, false],
    ['that nobody has approved', { conditions: [{ type: 'Approved' }] }, false],
    ['that nobody has denied', { conditions: [{ type: 'Denied' }] }, false],
  ])('%s', async (_, changes, isLookedAt) => {
    expect(awaitsServing(await kubeletRequest(changes))).toBe(isLookedAt);
  });
});
