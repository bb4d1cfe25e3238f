import { expect, it } from 'vitest';
import { findToken } from '../../../reconciler/audit/tokens.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { ObjectMeta } from '../../../reconciler/kube/object.ts';

const grant = 'controlplane.cluster.x-k8s.io/audit-access';

async function find(metadata: Partial<ObjectMeta> | undefined, content = 'secret-token', key = 'token') {
  const token = { namespace: metadata?.namespace ?? 'platform', name: 'audit', key: 'token' };
  const data = { [key]: Buffer.from(content).toString('base64') };
  const secret = metadata && { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'audit', ...metadata }, data };
  const target = { id: 'a', server: 'https://a.example.org', certificateAuthority: undefined, token };
  return findToken(target, 'team', async () => secret);
}

it.each([
  ['of the own namespace', { namespace: 'team' }],
  ['that names the namespace', { namespace: 'platform', annotations: { [grant]: 'other, team' } }],
  ['that names all namespaces', { namespace: 'platform', annotations: { [grant]: '*' } }],
])('a Secret %s gives its token', async (_, metadata) => {
  expect(await find(metadata, 'secret-token\n')).toEqual({ token: 'secret-token' });
});

it.each([
  ['names no namespace', { namespace: 'platform' }],
  ['names another namespace', { namespace: 'platform', annotations: { [grant]: 'teams,tea' } }],
  ['does not exist', undefined],
])(
  'a Secret of another namespace that %s gives none, and the message does not say which it is',
  async (_, metadata) => {
    expect(await find(metadata)).toEqual({
      problem: `Secret platform/audit with the token of an audit receiver does not exist or does not let namespace team use it: create it with the annotation ${grant}: team`,
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
  ['is missing', 'secret-token', 'other', 'has no key token'],
  ['is empty', ' \n', 'token', 'has no key token'],
  ['would add a header', 'secret\r\nx-other: 1', 'token', 'has more than one line'],
])('a token that %s is a problem without its content', async (_, content, key, problem) => {
  const found = await find({ namespace: 'team' }, content, key);
  expect(found).toEqual({ problem: expect.stringContaining(problem) as string });
  expect(JSON.stringify(found)).not.toContain('secret');
});
