import { beforeAll, expect, it } from 'vitest';
import { fieldManager } from '../../../constructs/api/group.ts';
import { Deployment, resourceOf, Secret } from '../../../constructs/api/resources.ts';
import { isApplied } from '../../../reconciler/kube/apply-decision.ts';
import { errorFromStatus } from '../../../reconciler/kube/errors.ts';
import { describeObject, type KubeObject } from '../../../reconciler/kube/object.ts';
import { askForCertificate, isAnswered } from '../../support/loop/asking-kubelet.ts';
import { gateway, orderedBehindGateway } from '../../support/loop/behind-gateway.ts';
import { Life } from '../../support/loop/life.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { settleBy } from '../../support/loop/scenario.ts';
import { problemsIn } from '../conditions/operate.ts';

const words = 'because a test says so';
let complete: MemoryCluster;
/** What a new operator process applies, as its client says it: `apply Secret team/c1-ca`. */
let applied: string[];

beforeAll(async () => {
  complete = await orderedBehindGateway({ gateway });
  await complete.change({ kubeconfigs: [{ name: 'ci', user: 'ci', groups: ['ci'] }] });
  await settleBy(complete);
  await askForCertificate(complete);
  for (const server of [complete.management, complete.hosted]) loseOneField(server);
  applied = await actionsOf(complete.copy());
});

/** A new operator process applies what lacks a field of the operator, such as a label. */
function loseOneField({ store }: MemoryCluster['hosted']): void {
  for (const object of store.objects.filter(
    (one) => isApplied(one, fieldManager) && one.kind !== 'HostedControlPlane',
  )) {
    const managedFields = object.metadata.managedFields?.map((entry) =>
      entry.manager === fieldManager ? { ...entry, fieldsV1: { ...entry.fieldsV1, 'f:lost': {} } } : entry,
    );
    store.put({ ...object, metadata: { ...object.metadata, managedFields } });
  }
}

async function actionsOf(cluster: MemoryCluster): Promise<string[]> {
  const actions = new Set<string>();
  const before = (action: string) => void (action.startsWith('apply ') && actions.add(action));
  await settleBy(cluster, new Life({ before }));
  return [...actions].filter((action) => !/HostedControlPlane|CertificateSigningRequest/.test(action)).sort();
}

const codes = [422, 403];

/** A process one of whose objects is refused, for a while with each code. @returns with which codes a condition has told it */
async function refused(cluster: MemoryCluster, action: string): Promise<{ told: number[]; errors: string[] }> {
  let code = 0;
  const before = (asked: string): void => {
    if (asked === action) throw errorFromStatus(asked, code, { message: `refused with ${code} ${words}` });
  };
  const operator = await OperatorProcess.start(cluster, new Life({ before }));
  const told: number[] = [];
  for (code of codes) {
    // The first watch of the hosted cluster begins in the first one.
    await operator.rounds(code === codes[0] ? 2 : 1);
    const isTold = (problem: string) => problem.includes(`refused with ${code} ${words}`);
    if (problemsIn(cluster).some((problem) => / False ObjectRefused: /.test(problem) && isTold(problem)))
      told.push(code);
  }
  await operator.stop();
  return { told, errors: operator.errors.map(String) };
}

/** What has to come back, other than what is refused. */
const lost = [
  [Deployment, 'c1-scheduler'],
  [Deployment, 'c1-controller-manager'],
  [Secret, 'c1-scheduler'],
  [Secret, 'c1-controller-manager'],
  [Secret, 'c1-kubeconfig'],
] as const;

function lose({ objects }: MemoryCluster, action: string): KubeObject[] {
  return lost.flatMap(([resource, name]) => {
    const found = objects.get(resource, name);
    if (!found || action.includes(describeObject(found))) return [];
    objects.remove(found);
    return [found];
  });
}

/** With `inClusterAccess: Policy` the control plane works without it; another condition says so when it is missing. */
const isOptional = (action: string): boolean => action === 'apply TLSRoute team/c1-tunnel';

it('all objects that lack something are applied by a new operator process', () => {
  const stored = [...complete.objects.objects, ...complete.hosted.store.objects];
  const ours = stored.filter((object) => isApplied(object, fieldManager)).map(describeObject);
  const named = applied.map((action) => action.replace(/^apply | in the hosted cluster$/g, ''));
  expect(named).toEqual(expect.arrayContaining(ours.filter((object) => !/HostedControlPlane|ConfigMap/.test(object))));
  expect(applied.length).toBeGreaterThan(60);
});

it('while an API server refuses any one object, everything else is looked after, and a condition has its words', async () => {
  const found: Record<string, object> = {};
  for (const action of applied) {
    const cluster = complete.copy();
    const gone = lose(cluster, action);
    const outcome = await refused(cluster, action);
    const missing = gone.filter((one) => !cluster.objects.get(resourceOf(one), one.metadata.name));
    found[action] = { ...outcome, missing: missing.map(describeObject), isApproved: isAnswered(cluster) };
  }
  const right = (action: string) => ({
    told: isOptional(action) ? [] : codes,
    errors: [],
    missing: [],
    isApproved: true,
  });
  expect(found).toEqual(Object.fromEntries(applied.map((action) => [action, right(action)])));
}, 120_000);
