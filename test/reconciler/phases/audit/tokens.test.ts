import { expect, it } from 'vitest';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import type { ObjectMeta } from '../../../../reconciler/kube/object.ts';
import { findToken } from '../../../../reconciler/phases/audit/audit-secret.ts';

const grant = 'controlplane.cluster.x-k8s.io/audit-access';
const receivers = 'controlplane.cluster.x-k8s.io/audit-receivers';
const toReceiver = { [receivers]: 'b.example.org, a.example.org' };

async function find(
  metadata: Partial<ObjectMeta> | undefined,
  content = 'secret-token',
  { key = 'token', type = 'Opaque', server = 'https://a.example.org/k8s' } = {},
) {
  const token = { namespace: metadata?.namespace ?? 'platform', name: 'audit', key: 'token' };
  const data = { [key]: Buffer.from(content).toString('base64') };
  const secret = metadata && { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'audit', ...metadata }, type, data };
  const target = { id: 'a', server, certificateAuthority: undefined, token };
  return findToken(target, 'team', async () => secret);
}

it.each([
  ['of the own namespace', { namespace: 'team', annotations: toReceiver }],
  ['that names the namespace', { namespace: 'platform', annotations: { [grant]: 'other, team', ...toReceiver } }],
  ['that names all namespaces', { namespace: 'platform', annotations: { [grant]: '*', ...toReceiver } }],
])('a Secret %s gives its token to the receiver that it names', async (_, metadata) => {
  expect(await find(metadata, 'secret-token\n')).toEqual({ token: 'secret-token' });
});

it.each([
  ['names no namespace', { namespace: 'platform', annotations: toReceiver }],
  ['names another namespace', { namespace: 'platform', annotations: { [grant]: 'teams,tea', ...toReceiver } }],
  ['names no receiver', { namespace: 'platform', annotations: { [grant]: 'team' } }],
  ['does not exist', undefined],
])(
  'a Secret of another namespace that %s gives none, and the message does not say which it is',
  async (_, metadata) => {
    expect(await find(metadata)).toEqual({
      problem: `Secret platform/audit with the token of an audit receiver does not exist or does not let namespace team send it to a.example.org: create it with the annotations ${grant}: team and ${receivers}: a.example.org`,
    });
  },
);

it('a Secret that the operator may not read is a problem that names the missing right', async () => {
  const token = { namespace: 'platform', name: 'audit', key: 'token' };
  const target = { id: 'a', server: 'https://a.example.org', certificateAuthority: undefined, token };
  const forbidden = new KubeError('secrets is forbidden', { code: 403, reason: 'Forbidden' });
  expect(await findToken(target, 'team', () => Promise.reject(forbidden))).toEqual({
    problem: expect.stringContaining('grant its ServiceAccount to get, list and watch audit') as string,
  });
  await expect(findToken(target, 'team', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
});

it.each([
  ['is missing', 'secret-token', { key: 'other' }, 'has no key token'],
  ['is empty', ' \n', {}, 'has no key token'],
  ['would add a header', 'secret\r\nx-other: 1', {}, 'has more than one line'],
  [
    'is that of a ServiceAccount',
    'secret-token',
    { type: 'kubernetes.io/service-account-token' },
    'is of type kubernetes.io/service-account-token: copy the token into a Secret of type Opaque',
  ],
])('a token that %s is a problem without its content', async (_, content, more, problem) => {
  const found = await find({ namespace: 'team', annotations: toReceiver }, content, more);
  expect(found).toEqual({ problem: expect.stringContaining(problem) as string });
  expect(JSON.stringify(found)).not.toContain('secret');
});

it.each([
  ['at another port', 'https://a.example.org:8443', 'a.example.org:8443'],
  ['at a host below', 'https://x.a.example.org', 'x.a.example.org'],
  ['of another name', 'https://evil.example.net/a.example.org', 'evil.example.net'],
])(
  'a Secret of the own namespace gives no token to a receiver %s, and the message says what to add',
  async (_, server, host) => {
    expect(await find({ namespace: 'team', annotations: toReceiver }, 'secret-token', { server })).toEqual({
      problem: `Secret team/audit with the token of an audit receiver does not let its token be sent to ${host}: add ${host} to its annotation ${receivers}`,
    });
  },
);
