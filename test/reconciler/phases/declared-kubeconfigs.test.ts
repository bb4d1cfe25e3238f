import type { SecretObject } from '../../../imports/kubernetes.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Secret } from '../../../constructs/api/resources.ts';
import { readCertificate } from '../../../reconciler/pki/certificate.ts';
import { clientOf } from '../../../reconciler/pki/kubeconfig.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { completeCluster, settleBy, settleForGood } from '../../support/loop/scenario.ts';
import { namespace } from '../../support/scope.ts';

const hourMs = 3_600_000;
const ci = { name: 'ci', user: 'ci', groups: ['deployers'], lifetime: '2h' };
const secretName = 'c1-kubeconfig-ci';
const user = { fieldManager: 'user' };

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

async function declared(...kubeconfigs: readonly object[]): Promise<MemoryCluster> {
  const management = complete.copy();
  await management.change({ kubeconfigs });
  await settleForGood(management);
  return management;
}

function certificateIn({ objects }: MemoryCluster) {
  const pair = clientOf(valueOf(objects.get<SecretObject & { spec?: never }>(Secret, secretName), 'value'));
  return readCertificate(pair?.certificate ?? '');
}

function conditionIn({ conditions }: MemoryCluster): string {
  const found = conditions.find(({ type }) => type === 'KubeconfigsReady');
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

describe('a kubeconfig that the spec declares', () => {
  it('is in a Secret, for its user and groups, and valid as long as the spec says', async () => {
    const management = await declared(ci);
    const secret = management.objects.get<SecretObject & { spec?: never }>(Secret, secretName);
    const content = parse(valueOf(secret, 'value') ?? '') as { clusters: { cluster: { server: string } }[] };
    expect(content.clusters[0]?.cluster.server).toMatch(/^https:/);
    const certificate = certificateIn(management);
    expect(certificate).toMatchObject({ commonNames: ['ci'], organizations: ['deployers'] });
    expect(certificate.notAfter.getTime() - management.clock.now()).toBeLessThanOrEqual(2 * hourMs);
    expect(conditionIn(management)).toMatch(/^True/);
  });

  it('is replaced after half of its life, and not before', async () => {
    const management = await declared(ci);
    const { notAfter } = certificateIn(management);
    await management.clock.advance(0.4 * hourMs);
    await settleBy(management);
    expect(certificateIn(management).notAfter).toEqual(notAfter);
    await management.clock.advance(0.9 * hourMs);
    await settleBy(management);
    expect(certificateIn(management).notAfter.getTime()).toBeGreaterThan(notAfter.getTime());
  });

  it.each([
    ['another user', { user: 'other' }],
    ['other groups', { groups: ['readers'] }],
    ['a shorter life', { lifetime: '1h' }],
  ])('is replaced at once for %s', async (_, change) => {
    const management = await declared(ci);
    const before = certificateIn(management);
    await management.change({ kubeconfigs: [{ ...ci, ...change }] });
    await settleForGood(management);
    expect(certificateIn(management)).not.toEqual(before);
  });

  it('is deleted when the spec no longer declares it, and others stay', async () => {
    const management = await declared(ci, { name: 'b', user: 'b' });
    await management.change({ kubeconfigs: [{ name: 'b', user: 'b' }] });
    await settleForGood(management);
    expect(management.objects.get(Secret, secretName)).toBeUndefined();
    expect(management.objects.get(Secret, 'c1-kubeconfig-b')).toBeDefined();
    expect(management.objects.get(Secret, 'c1-kubeconfig')).toBeDefined();
  });

  it('of a user whose name is escaped in texts is written once', async () => {
    const management = await declared({ ...ci, user: 'jane+ci@example.org', groups: ['Doe, Inc'] });
    const certificate = certificateIn(management);
    expect(certificate).toMatchObject({ commonNames: ['jane+ci@example.org'], organizations: ['Doe, Inc'] });
    await management.change({ replicas: 2 });
    await settleForGood(management);
    expect(certificateIn(management).notAfter).toEqual(certificate.notAfter);
  });

  it('never replaces a Secret of a user, and says so', async () => {
    const management = complete.copy();
    const { apiVersion, kind } = Secret;
    const theirs = { apiVersion, kind, metadata: { namespace, name: secretName }, data: { value: 'eA==' } };
    await management.user.create(theirs, user);
    await management.change({ kubeconfigs: [ci] });
    await settleBy(management);
    expect(conditionIn(management)).toMatch(/^False SecretNameTaken: Secret c1-kubeconfig-ci/);
    expect(management.objects.get<SecretObject & { spec?: never }>(Secret, secretName)?.data).toEqual(theirs.data);
  });
});
