import { describe, expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import { certificateKinds, CertificateStatus } from '../../../constructs/api/certificate-status.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { caCertificates } from '../../../reconciler/phases/ca-certificates.ts';
import { certificates, etcdCertificates } from '../../../reconciler/phases/certificates.ts';
import { kubeconfig } from '../../../reconciler/phases/kubeconfig.ts';
import { certificateExpiries, expiryReport } from '../../../reconciler/certificates/expiries.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { now, scopeOf } from '../../support/scope.ts';

const day = 24 * 3600_000;
const address = { host: '192.0.2.10', port: 6443 };
const facts: Partial<Facts> = { endpoint: address, konnectivityEndpoint: { ...address, port: 8132 } };

/** A cluster with all certificates of a control plane, issued at `now`. */
async function issued(): Promise<MemoryObjects> {
  const management = new MemoryObjects();
  const scope = scopeOf(management, { facts });
  for (const phase of [caCertificates, etcdCertificates, certificates, kubeconfig]) await phase.run(scope);
  return management;
}

const after = (management: MemoryObjects, days: number) =>
  certificateExpiries(scopeOf(management, { now: new Date(now.getTime() + days * day) }));

/** Removes the owner of a Secret, as if a user had created it. */
function disown(management: MemoryObjects, name: string): void {
  const secret = management.objects.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === name)!;
  management.put({ ...secret, metadata: { ...secret.metadata, ownerReferences: [] } });
}

describe('the certificates in the status', () => {
  it('have every kind, with an expiry and a renewal at about half of the lifetime', async () => {
    const found = after(await issued(), 0);
    expect(found.map(({ kind }) => kind)).toEqual(certificateKinds);
    for (const entry of found) {
      expect(CertificateStatus.parse(entry)).toEqual(entry);
      const days = entry.kind.endsWith('CA') ? 3650 : 365;
      expect(Date.parse(entry.notAfter)).toBe(now.getTime() + days * day);
      const share = (Date.parse(entry.renewsAt!) - now.getTime()) / (days * day);
      expect(share).toBeGreaterThan(0.499);
      expect(share).toBeLessThan(0.6);
    }
  });

  it('do not change without a renewal, so that no status is written', async () => {
    const management = await issued();
    expect(after(management, 1)).toEqual(after(management, 0));
  });

  it('name the certificate that expires first', async () => {
    const management = await issued();
    const all = expiryReport(scopeOf(management));
    expect(all.certificatesNotAfter).toBe(new Date(now.getTime() + 365 * day).toISOString().replace('.000', ''));
    management.remove(management.get(Secret, 'c1-apiserver')!);
    await certificates.run(scopeOf(management, { facts, now: new Date(now.getTime() + day) }));
    const server = after(management, 1).find(({ kind }) => kind === 'Server');
    expect(server).toMatchObject({ secret: 'c1-konnectivity-server', notAfter: all.certificatesNotAfter });
  });

  it.each([
    [218, []],
    [220, ['c1-apiserver', 'c1-konnectivity-server']],
  ])('list overdue certificates after %d days of a year', async (days, expected) => {
    const server = after(await issued(), days).find(({ kind }) => kind === 'Server');
    expect([...(server?.expiring ?? [])].sort()).toEqual(expected);
  });

  it("contain no renewal of a user's own CA and kubeconfig", async () => {
    const management = await issued();
    disown(management, 'c1-ca');
    disown(management, 'c1-kubeconfig');
    const withoutRenewal = after(management, 0).filter(({ renewsAt }) => renewsAt === undefined);
    expect(withoutRenewal.map(({ kind }) => kind)).toEqual(['ClusterCA', 'Kubeconfig']);
  });

  it('leave out missing and unreadable ones', async () => {
    const management = await issued();
    management.remove(management.get(Secret, 'c1-etcd')!);
    const secret = management.objects.find(({ metadata }) => metadata.name === 'c1-proxy')!;
    management.put({ ...secret, data: { 'tls.crt': Buffer.from('no certificate').toString('base64') } });
    expect(after(management, 0).map(({ kind }) => kind)).toEqual(
      certificateKinds.filter((kind) => kind !== 'EtcdCA' && kind !== 'ProxyCA'),
    );
    expect(expiryReport(scopeOf(new MemoryObjects()))).toEqual({});
  });
});
