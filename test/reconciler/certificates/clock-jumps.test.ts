import type { SecretObject } from '../../../imports/kubernetes.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import { readCertificate } from '../../../reconciler/pki/certificate.ts';
import { createCA, validFor } from '../../../reconciler/pki/issue.ts';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import { secretProps } from '../../../reconciler/certificates/secret-props.ts';
import { pairSecret, valueOf } from '../../../reconciler/pki/secret.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, smallestSpec } from '../../support/loop/scenario.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { scopeOf } from '../../support/scope.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const yearMs = 365 * 24 * hourMs;

const rotated = ['c1-ca', 'c1-etcd', 'c1-proxy'];
const asked = { certificates: { rotation: { clusterCA: 'please', etcdCA: 'please', proxyCA: 'please' } } };

const secretIn = ({ objects }: MemoryCluster, name: string) =>
  objects.get<SecretObject & { spec?: never }>(Secret, name);
const trusted = (management: MemoryCluster, name: string) => valueOf(secretIn(management, name), 'tls.crt') ?? '';
const conditionIn = ({ conditions }: MemoryCluster, type: string) =>
  conditions.find((condition) => condition.type === type);

/** What a rotation is doing: its reason, and the step of each CA. */
function phaseOf(management: MemoryCluster): string {
  const found = conditionIn(management, 'CARotationReady');
  const steps = [...(found?.message.matchAll(/\w+ CA: step \d of 3/g) ?? [])];
  return `${found?.reason} ${steps.join()}`;
}

async function round(operator: OperatorProcess, management: MemoryCluster): Promise<void> {
  await management.clock.advance(minuteMs);
  await operator.untilObserved();
  await operator.rounds(1);
}

const isOver = (management: MemoryCluster) =>
  ['CARotationReady', 'ClocksAgree', 'Ready'].every((type) => conditionIn(management, type)?.status === 'True');

async function untilOver(operator: OperatorProcess, management: MemoryCluster): Promise<void> {
  for (let rounds = 0; rounds < 120; rounds++) {
    await round(operator, management);
    if (isOver(management)) return;
  }
  throw new Error(`the rotation does not end: ${phaseOf(management)}`);
}

let phases: readonly { readonly phase: string; readonly cluster: MemoryCluster }[];
beforeAll(async () => {
  const management = await completeCluster(smallestSpec);
  await management.change(asked);
  const operator = await OperatorProcess.start(management);
  const seen = new Map<string, MemoryCluster>();
  for (let rounds = 0; rounds < 150 && (rounds < 3 || !isOver(management)); rounds++) {
    await round(operator, management);
    if (!seen.has(phaseOf(management))) seen.set(phaseOf(management), management.copy());
  }
  await operator.stop();
  phases = [...seen].map(([phase, cluster]) => ({ phase, cluster }));
}, 120_000);

describe.each([
  ['a year ahead', yearMs],
  ['a year behind', -yearMs],
  ['an hour ahead', hourMs],
  ['an hour behind', -hourMs],
])('a clock that is %s for some minutes', (_, byMs) => {
  it.each([
    ['in a process that has known the right time', false],
    ['from the start of a process on', true],
  ])(
    '%s holds a rotation at each of its phases, and lets it end when it is right',
    { timeout: 240_000 },
    async (_process, isNew) => {
      expect(phases.length).toBeGreaterThan(5);
      for (const { phase, cluster } of phases) {
        const management = cluster.copy();
        if (isNew) management.clock.setTime(byMs);
        const operator = await OperatorProcess.start(management);
        if (!isNew) management.clock.setTime(byMs);
        const before = rotated.map((name) => trusted(management, name));
        for (let rounds = 0; rounds < 2; rounds++) await round(operator, management);
        expect(
          rotated.map((name) => trusted(management, name)),
          `at ${phase}`,
        ).toEqual(before);
        expect(conditionIn(management, 'ClocksAgree')?.reason, `at ${phase}`).toBe('ClockWrong');
        management.clock.setTime(-byMs);
        await untilOver(operator, management);
        await operator.stop();
        for (const name of rotated) {
          const [ca = '', ...others] = splitCertificates(trusted(management, name));
          expect(others, `${phase}: ${name}`).toEqual([]);
          expect(readCertificate(ca).notBefore.getTime(), `at ${phase}`).toBeLessThan(management.clock.elapsed());
        }
      }
    },
  );
});

it('a new CA that begins later, by clocks that were all ahead, is made again before it signs', async () => {
  const management = await completeCluster(smallestSpec);
  await management.change({ certificates: { rotation: { proxyCA: 'please' } } });
  const next = await createCA(
    { commonName: 'front-proxy-ca' },
    validFor(10 * yearMs, new Date(management.clock.elapsed() + yearMs)),
  );
  const props = secretProps(scopeOf(new MemoryObjects()), 'c1-proxy-next');
  const { uid = '' } = management.hostedControlPlane.metadata;
  const { metadata, ...rest } = pairSecret({ ...props, owner: { ...props.owner, uid } }, 'clusterApi', next);
  await management.user.create({ ...rest, metadata }, { fieldManager: 'user' });
  const operator = await OperatorProcess.start(management);
  await round(operator, management);
  await untilOver(operator, management);
  await operator.stop();
  const [ca = '', ...others] = splitCertificates(trusted(management, 'c1-proxy'));
  expect(others).toEqual([]);
  expect(ca).not.toBe(next.certificate);
  expect(readCertificate(ca).notBefore.getTime()).toBeLessThan(management.clock.elapsed());
});
