import { createPrivateKey, createPublicKey } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { newSecrets, type OtherKeys, problemWithKeys } from '../../../reconciler/import/identity.ts';
import { isKeyOf, readCertificate } from '../../../reconciler/pki/certificate.ts';
import { createCA, createServiceAccountKey, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { bundle, fingerprint, splitCertificates } from '../../../reconciler/pki/pem.ts';
import { hostedCluster, now } from '../../support/scope.ts';

const hourMs = 3_600_000;
const { spec } = hostedCluster();
const caFor = (hours: number, from = now): Promise<KeyPair> =>
  createCA({ commonName: 'kubernetes' }, validFor(hours * hourMs, from));
const signing = createServiceAccountKey();
let short: KeyPair, before: KeyPair, expired: KeyPair, long: KeyPair;
beforeAll(async () => {
  [short, before, expired, long] = await Promise.all([
    caFor(36),
    caFor(12),
    caFor(-1, new Date(now.getTime() - hourMs)),
    caFor(9 * 365 * 24),
  ]);
});

const keysOf = (ca: KeyPair, ...others: KeyPair[]): OtherKeys => ({
  ca,
  trusted: bundle(...others.map(({ certificate }) => certificate), ca.certificate),
  serviceAccountKey: signing.key,
  issuer: 'https://kubernetes.default.svc',
});
const made = async (keys: OtherKeys) =>
  new Map((await newSecrets(keys, { cluster: 'c1', spec, now })).map((secret) => [secret.name, secret]));
const prints = (pem = ''): string[] => splitCertificates(pem).map(fingerprint);

describe('the Secrets of an imported control plane', () => {
  it('trust what workers may present, and the successor of a CA that soon expires', async () => {
    const secrets = await made(keysOf(short, expired, before));
    const successor = secrets.get('c1-ca-next')?.pair;
    const ca = secrets.get('c1-ca')?.pair;
    expect(prints(ca?.certificate)).toEqual(
      [short, before, successor].map((pair) => fingerprint(pair?.certificate ?? '')),
    );
    expect(isKeyOf(ca?.certificate ?? '', ca?.key ?? '')).toBe(true);
    expect(isKeyOf(successor?.certificate ?? '', successor?.key ?? '')).toBe(true);
    const { notAfter, commonNames } = readCertificate(successor?.certificate ?? '');
    expect(notAfter.getTime() - now.getTime()).toBeGreaterThan(9 * 365 * 24 * hourMs);
    expect(commonNames).toEqual(['kubernetes']);
  });

  it('keep a CA that lives as long as what it signs, without a successor', async () => {
    const secrets = await made(keysOf(long));
    expect([...secrets.keys()]).toEqual(['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-sa']);
    expect(prints(secrets.get('c1-ca')?.pair.certificate)).toEqual(prints(long.certificate));
  });

  it('have new CAs for etcd and the front proxy, which no worker knows', async () => {
    const secrets = await made(keysOf(short));
    for (const [name, commonName] of [
      ['c1-etcd', 'etcd-ca'],
      ['c1-proxy', 'front-proxy-ca'],
    ] as const) {
      const { certificate = '', key = '' } = secrets.get(name)?.pair ?? {};
      expect(readCertificate(certificate)).toMatchObject({ isCA: true, commonNames: [commonName] });
      expect(isKeyOf(certificate, key)).toBe(true);
    }
  });

  it('keep the key of tokens and its issuer', async () => {
    const found = (await made(keysOf(short))).get('c1-sa');
    expect(found?.pair.key).toBe(signing.key);
    const publicKey = createPublicKey(createPrivateKey(signing.key)).export({ type: 'spki', format: 'pem' });
    expect(found?.pair.certificate).toBe(publicKey);
    expect(found?.annotations).toEqual({
      'controlplane.cluster.x-k8s.io/service-account-issuer': 'https://kubernetes.default.svc',
    });
  });
});

describe('keys of another provider', () => {
  const names = { ca: 'c1-ca', serviceAccountKey: 'c1-service-account' };
  const problem = (change: Partial<OtherKeys>) => problemWithKeys({ ...keysOf(short), ...change }, names, now);

  it('are accepted', () => expect(problem({})).toBeUndefined());

  it.each<[string, () => Partial<OtherKeys>, string]>([
    ['an expired CA', () => ({ ca: expired }), 'the CA in Secret c1-ca expired on '],
    ['a key of another CA', () => ({ ca: { ...short, key: before.key } }), 'tls.key in Secret c1-ca does not belong'],
    ['no CA', () => ({ ca: { certificate: '', key: '' } }), 'Secret c1-ca has no certificate'],
    ['no key of tokens', () => ({ serviceAccountKey: 'none' }), 'Secret c1-service-account contains no readable key'],
    [
      'an issuer that the operator would not keep',
      () => ({ issuer: 'http://a' }),
      'the service account issuer "http://a"',
    ],
  ])('are refused: %s', (_, change, message) => {
    expect(problem(change())).toContain(message);
    expect(problem(change())).not.toContain('PRIVATE');
  });
});
