import { execFileSync, spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  adminPlan,
  type CertificatePlan,
  planCAs,
  planCertificates,
  planEtcdCertificates,
} from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { crossCertify } from '../../../reconciler/pki/cross-certificate.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { createSigningRequest } from '../../../reconciler/pki/signing-request.ts';
import { createKey } from '../../../reconciler/pki/key.ts';
import { clientOf, writeKubeconfig } from '../../../reconciler/pki/kubeconfig.ts';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import { type Handshake, verifies } from '../../simulation/chain.ts';
import { askGo } from '../../support/go-verifier.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';

const year = 365 * 24 * 3600_000;
const now = new Date('2026-11-21T12:00:00Z');
const cluster = clusterOf();
const endpoint = knownFacts.endpoint;
const plans: readonly CertificatePlan[] = [
  ...planEtcdCertificates(cluster),
  ...planCertificates(cluster, endpoint, endpoint, endpoint),
  adminPlan(cluster.name),
];
const goTakes = 5 * 60_000;

interface Question extends Handshake {
  readonly what: string;
  readonly isValid: boolean;
}

/** Handshakes with everything that is issued before and after the replacement of each CA, from each side's view. */
const questions: Question[] = [];
let requests: readonly string[];

beforeAll(async () => {
  const caCertificates = planCAs(cluster.name);
  for (const { ca, commonName } of caCertificates) {
    const [before, after, unrelated] = await Promise.all([
      createCA({ commonName }, validFor(10 * year, now)),
      createCA({ commonName }, validFor(10 * year, now)),
      createCA({ commonName }, validFor(10 * year, now)),
    ]);
    const cross = await crossCertify(after.certificate, before, now);
    for (const plan of plans.filter(({ signer }) => signer === ca)) {
      questions.push(...(await questionsOn(plan, { before, after, unrelated, cross })));
    }
  }
  requests = await Promise.all(
    caCertificates.map(async ({ commonName }) => createSigningRequest({ commonName }, createKey())),
  );
}, goTakes);

interface CAs {
  readonly before: KeyPair;
  readonly after: KeyPair;
  readonly unrelated: KeyPair;
  /** The CA after the replacement, certified by the one before. */
  readonly cross: string;
}

async function questionsOn(plan: CertificatePlan, caCertificates: CAs): Promise<Question[]> {
  const { before, after, unrelated, cross } = caCertificates;
  const [old, fresh] = await Promise.all([
    issueCertificate(plan, before, validFor(year, now)),
    issueCertificate(plan, after, validFor(year, now)),
  ]);
  const shown = plan.secret === adminPlan(cluster.name).secret ? inKubeconfig(fresh) : fresh.certificate;
  const both = before.certificate + after.certificate;
  const cases: readonly (readonly [string, string, string, boolean])[] = [
    ['of the one before, trusted alone', old.certificate, before.certificate, true],
    ['of the one before, both trusted', old.certificate, both, true],
    ['of the next one, both trusted', fresh.certificate, both, true],
    ['of the next one with the way to the one before, which is trusted alone', shown + cross, before.certificate, true],
    ['of the next one with the way to the one before, the next one trusted', shown + cross, after.certificate, true],
    ['of the next one with the way to the one before, both trusted', shown + cross, both, true],
    ['of the next one, the one before trusted alone', fresh.certificate, before.certificate, false],
    ['of the one before, the next one trusted alone', old.certificate, after.certificate, false],
    [
      'of the next one with the way to the one before, another of that name trusted',
      shown + cross,
      unrelated.certificate,
      false,
    ],
  ];
  return cases.flatMap(([what, presented, trusted, isValid]) =>
    plan.usages.flatMap((usage) =>
      (usage === 'server' ? plan.hosts : [undefined]).map((host) => ({
        what: `${plan.secret} as ${usage} ${host ?? ''}: ${what} (${plan.signer})`,
        presented,
        trusted,
        usage,
        host,
        isValid,
      })),
    ),
  );
}

/** The certificate as a reader of the file finds it. */
function inKubeconfig(client: KeyPair): string {
  const text = writeKubeconfig({ cluster: cluster.name, endpoint, ca: client.certificate, client });
  return clientOf(text)?.certificate ?? '';
}

describe('issued certificates and their chains during the replacement of every CA', () => {
  test(
    "are verified or refused by Go's library as expected, for every name, and the tests' own verifier agrees",
    { timeout: goTakes },
    () => {
      expect(questions.length).toBeGreaterThan(300);
      const answers = askGo(questions.map((question) => ({ ...question, at: now })));
      const wrong = questions.flatMap(({ what, isValid }, index) =>
        (answers[index] === '') === isValid ? [] : [`${what}: ${answers[index] || 'accepted'}`],
      );
      expect(wrong).toEqual([]);
      expect(questions.filter((question) => verifies(question, now.getTime()) !== question.isValid)).toEqual([]);
    },
  );

  test('are refused by Go for the other usage, and after their expiry', { timeout: goTakes }, () => {
    const valid = questions.filter(({ isValid }) => isValid);
    const clients = valid.filter(
      ({ usage, what }) => usage === 'client' && !what.includes('etcd-server') && !what.includes('etcd-peer'),
    );
    const asked = [
      ...clients.map((question) => ({ ...question, usage: 'server' as const, at: now })),
      ...valid.map((question) => ({ ...question, at: new Date(now.getTime() + year + 1000) })),
    ];
    expect(askGo(asked).filter((answer) => answer === '')).toEqual([]);
  });

  test('are verified by OpenSSL in its strict mode', { timeout: goTakes }, () => {
    const directory = mkdtempSync(join(tmpdir(), 'chains-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = (name: string, text: string) => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    // one name of each: OpenSSL needs a process per question
    const each = [...new Map(questions.map((question) => [question.what.replace(/ \S*:/, ':'), question])).values()];
    const wrong = each.flatMap(({ what, presented, trusted, usage, isValid }) => {
      const [leaf = '', ...between] = splitCertificates(presented);
      const args = ['-x509_strict', '-attime', String(now.getTime() / 1000), '-purpose', `ssl${usage}`];
      const untrusted = between.length > 0 ? ['-untrusted', file('between.pem', between.join(''))] : [];
      const files = ['-CAfile', file('trusted.pem', trusted), ...untrusted, file('leaf.pem', leaf)];
      const { status, stderr } = spawnSync('openssl', ['verify', ...args, ...files], { encoding: 'utf8' });
      return (status === 0) === isValid ? [] : [`${what}: ${stderr}`];
    });
    expect(wrong).toEqual([]);
  });

  test('start with requests that Go and OpenSSL verify', { timeout: goTakes }, () => {
    expect(askGo(requests.map((presented) => ({ presented })))).toEqual(requests.map(() => ''));
    for (const request of requests) {
      const key = execFileSync('openssl', ['req', '-verify', '-noout', '-pubkey'], {
        encoding: 'utf8',
        input: request,
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      expect(createPublicKey(key).asymmetricKeyType).toBe('ec');
    }
  });
});
