import type { MachineDeploymentObject } from '../../../../imports/cluster-api.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  caNotBeforeAnnotation,
  clientCertificateSignerAnnotation,
  rolledOutForAnnotation,
  servingCertificateSignerAnnotation,
} from '../../../../constructs/api/group.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { createCA, type KeyPair, validFor } from '../../../../reconciler/pki/issue.ts';
import { planWorkers, type WorkersState } from '../../../../reconciler/certificates/workers/plan-worker-move.ts';
import type { MachinePoolState } from '../../../../reconciler/certificates/workers/machines.ts';
import { issuedToNodes, nodeCertificatesOf } from '../../../../reconciler/certificates/workers/node-certificates.ts';
import { hostedCluster } from '../../../support/scope.ts';
import { issuedKubeletRequest } from '../../../support/kubelet-client-request.ts';

const since = new Date('2026-11-21T12:00:00.700Z');
const after = (minutes: number) => new Date(since.getTime() + minutes * 60_000);
const now = after(60);
const oldEnd = new Date('2027-11-22T12:00:00Z');
const signerName = 'bbbbbbbbbbbb';
const before = after(-1000);
const [client, serving] = nodeCertificatesOf(hostedCluster());
if (!client || !serving) throw new Error('kubelets have two kinds of certificates');
let old: KeyPair;
let signer: KeyPair;

beforeAll(async () => {
  const validity = validFor(10 * 365 * 24 * 3600_000, since);
  old = await createCA({ commonName: 'kubernetes' }, validity);
  signer = await createCA({ commonName: 'kubernetes' }, validity);
});

const notes = (signedBy: string) => ({
  [clientCertificateSignerAnnotation]: signedBy,
  [servingCertificateSignerAnnotation]: signedBy,
});

interface NodeOptions {
  readonly created?: Date;
  readonly machine?: string;
  readonly note?: string;
  readonly pool?: string;
}

function node(name: string, { created = before, machine, note, pool }: NodeOptions = {}): KubeObject {
  const owner = { 'cluster.x-k8s.io/owner-kind': 'MachinePool', 'cluster.x-k8s.io/owner-name': pool ?? '' };
  const annotations = {
    ...(pool ? owner : {}),
    ...(machine ? { 'cluster.x-k8s.io/machine': machine } : {}),
    ...(note ? notes(note) : {}),
  };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, creationTimestamp: seconds(created), annotations } };
}

function machine(name: string, created: Date, deployment?: string): KubeObject {
  const labels = deployment ? { 'cluster.x-k8s.io/deployment-name': deployment } : {};
  const metadata = { name, creationTimestamp: seconds(created), labels };
  return { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', metadata };
}

function deployment(name: string, rolloutAfter?: string, rolledOutFor?: string): MachineDeploymentObject {
  const annotations = rolledOutFor ? { [rolledOutForAnnotation]: rolledOutFor } : {};
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name, annotations },
    spec: rolloutAfter ? { rollout: { after: rolloutAfter } } : {},
  };
}

const caNotBefore = '2026-11-21T11:55:00Z';

function pool(name: string, bootstrapData?: Date, annotation?: string, deletionTimestamp?: string): MachinePoolState {
  const annotations = annotation ? { [caNotBeforeAnnotation]: annotation } : {};
  const object = (kind: string, creationTimestamp: string) => ({
    apiVersion: 'x',
    kind,
    metadata: { name, creationTimestamp, ...(deletionTimestamp ? { deletionTimestamp } : {}) },
  });
  return {
    pool: { ...object('MachinePool', seconds(before)), spec: { template: { metadata: { annotations } } } },
    bootstrapData: bootstrapData && object('Secret', seconds(bootstrapData)),
  };
}

const seconds = (time: Date) => time.toISOString().replace(/\.\d+/, '');

const noneIssued = () => new Map([client, serving].map((kind) => [kind, new Map<string, string>()]));

function decide(changes: Partial<WorkersState>) {
  const nothing = { nodes: [], issued: noneIssued(), machines: [], deployments: [], pools: [], caNotBefore };
  const decision = planWorkers({
    signer: signer.certificate,
    signerName,
    since,
    now,
    oldEnd,
    ...nothing,
    ...changes,
  });
  const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);
  const noted = decision.notes.map(({ node: { metadata }, annotations }) => [metadata.name, annotations]);
  return {
    ...decision,
    notes: Object.fromEntries(noted) as object,
    rollOut: names(decision.rollOut),
    annotate: names(decision.annotate),
  };
}

const settled = { notes: {}, rollOut: [], annotate: [], message: '', requeueAt: undefined };

describe('workers whose CA has changed', () => {
  it('are done when there are none', () => {
    expect(decide({})).toEqual(settled);
  });

  it('are done when each node is annotated with a certificate of the new CA', () => {
    expect(decide({ nodes: [node('a', { note: signerName })] })).toEqual(settled);
  });

  it.each([
    ['is annotated with one of another CA', { note: 'aaaaaaaaaaaa' }],
    ['has no annotation', {}],
    ['has joined shortly after, and its certificate was not seen', { created: after(5) }],
    ['has joined later, and its Machine is unknown', { created: after(20) }],
    ['has joined later, and its Machine is gone', { created: after(20), machine: 'gone' }],
  ])('are waited for until all old certificates have expired if one %s', (_, options) => {
    const { message, requeueAt } = decide({ nodes: [node('a', options), node('b', { note: signerName })] });
    expect(message).toBe(
      'nodes a renew their certificates automatically, the last one by 2027-11-22T12:00:00Z: join them again to renew them sooner',
    );
    expect(requeueAt).toEqual(oldEnd);
  });

  it('are done when all old certificates have expired, whatever else is known', () => {
    const machines = [machine('m', before, 'd')];
    expect(decide({ now: oldEnd, nodes: [node('a')], machines, deployments: [deployment('d')] })).toEqual(settled);
  });

  it('are waited for if one has no annotations at all', () => {
    const { annotations: _, ...metadata } = node('a').metadata;
    expect(decide({ nodes: [{ ...node('a'), metadata }] }).message).toMatch(/^nodes a renew/);
  });

  it('are listed with at most five names', () => {
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => node(name));
    expect(decide({ nodes }).message).toMatch(/^nodes a, b, c, d, e and 2 more renew/);
  });
});

describe('issued certificates of nodes', () => {
  type Given = readonly [node: string, kind: typeof client, ca: KeyPair, minutes: number];
  const issued = async (...given: readonly Given[]) => {
    const requests = await Promise.all(
      given.map(([name, { signerName }, ca, minutes]) =>
        issuedKubeletRequest(name, ca, after(minutes), { signerName }),
      ),
    );
    return new Map([client, serving].map((kind) => [kind, issuedToNodes(requests, kind)]));
  };

  it('are recorded once when the new CA has signed them', async () => {
    const certificates = await issued(['a', client, signer, 1], ['a', serving, signer, 1]);
    expect(decide({ nodes: [node('a')], issued: certificates })).toEqual({
      ...settled,
      notes: { a: notes(signerName) },
    });
    expect(decide({ nodes: [node('a', { note: signerName })], issued: certificates })).toEqual(settled);
  });

  it('are waited for separately, client and serving ones', async () => {
    const certificates = await issued(['a', client, signer, 1]);
    const { notes: noted, message } = decide({ nodes: [node('a')], issued: certificates });
    expect(noted).toEqual({ a: { [clientCertificateSignerAnnotation]: signerName } });
    expect(message).toMatch(/^nodes a renew/);
  });

  it('take precedence over annotations, and the newest one counts', async () => {
    const certificates = await issued(
      ['a', client, signer, 1],
      ['a', client, old, 2],
      ['b', client, old, 1],
      ['b', client, signer, 2],
      ['b', serving, signer, 2],
    );
    const nodes = [node('a', { note: signerName }), node('b')];
    expect(decide({ nodes, issued: certificates })).toMatchObject({
      notes: { a: { [servingCertificateSignerAnnotation]: signerName }, b: notes(signerName) },
      message: expect.stringMatching(/^nodes a renew/) as string,
    });
  });

  it('do not count if another signer has signed them, or they are for another user', async () => {
    const requests = [
      await issuedKubeletRequest('a', signer, after(1), { signerName: 'kubernetes.io/kube-apiserver-client' }),
      await issuedKubeletRequest('b', signer, after(1), { commonName: 'somebody' }),
    ];
    expect(issuedToNodes(requests, client).size).toBe(0);
  });

  it('of the old CA are waited for, however new a Node and its Machine are', async () => {
    const certificates = await issued(['n', client, old, 21]);
    const state = { nodes: [node('n', { machine: 'm', created: after(20) })], machines: [machine('m', after(19))] };
    expect(decide(state).message).toBe('');
    expect(decide({ ...state, issued: certificates }).message).toMatch(/^nodes n renew/);
    const ofNew = await issued(['n', client, signer, 21]);
    expect(decide({ ...state, issued: ofNew }).message).toBe('');
  });

  it('for serving do not matter if the user sets their CA', () => {
    const args = { 'kubelet-certificate-authority': '/etc/kubernetes/custom/kubelet-ca.crt' };
    expect(nodeCertificatesOf(hostedCluster({ deployment: { apiServer: { args } } }))).toEqual([client]);
  });
});

describe('MachineDeployments', () => {
  const machines = () => [machine('m', before, 'd')];
  const nodes = () => [node('n', { machine: 'm' })];

  it('are rolled if one of their Machines is older than the new CA, and waited for', () => {
    const { rollOut, message, requeueAt } = decide({
      nodes: nodes(),
      machines: machines(),
      deployments: [deployment('d')],
    });
    expect(rollOut).toEqual(['d']);
    expect(message).toBe('MachineDeployments d replace Machines m');
    expect(requeueAt).toEqual(after(65));
  });

  it.each([
    ['that a user set to an earlier time', '2026-11-01T00:00:00Z', undefined, true],
    ['that a user set to a later time, which replaces the Machines too', '2026-12-01T00:00:00Z', undefined, false],
    ['that the operator set for this rotation', '2026-11-21T12:00:00Z', signerName, false],
    ['that a user reset after the operator had set it', '2026-11-01T00:00:00Z', signerName, false],
    ['of the previous rotation', '2026-11-01T00:00:00Z', 'aaaaaaaaaaaa', true],
  ])('with a rollout %s', (_, time, rolledOutFor, isRolled) => {
    const deployments = [deployment('d', time, rolledOutFor)];
    expect(decide({ nodes: nodes(), machines: machines(), deployments }).rollOut).toEqual(isRolled ? ['d'] : []);
  });

  it.each([
    ['five seconds at first', 0.5, 0.5 + 5 / 60],
    ['a tenth of the elapsed time', 10, 11],
    ['five minutes at most', 600, 605],
  ])('are checked again after %s', (_, passed, next) => {
    const state = { nodes: nodes(), machines: machines(), deployments: [deployment('d')] };
    expect(decide({ ...state, now: after(passed) }).requeueAt).toEqual(after(next));
  });

  it('stay as they are if all of their Machines are newer', () => {
    const replaced = [machine('m', after(1), 'd')];
    const state = { nodes: [node('n', { machine: 'm', note: signerName })], machines: replaced };
    expect(decide({ ...state, deployments: [deployment('d')] })).toEqual(settled);
  });

  it('do not wait for a Machine that was created in the second in which the new CA started to sign', () => {
    const state = { machines: [machine('m', new Date('2026-11-21T12:00:00Z'), 'd')] };
    expect(decide({ ...state, deployments: [deployment('d')] })).toEqual(settled);
  });

  it('do not wait for the certificate of a Node that is clearly as new as its Machine', () => {
    const state = (minutes: number) => ({
      nodes: [node('n', { machine: 'm', created: after(minutes) })],
      machines: [machine('m', after(minutes - 1), 'd')],
    });
    expect(decide(state(20)).message).toBe('');
    expect(decide(state(10)).message).toMatch(/^nodes n renew/);
  });

  it('do not prove that a new Node is done whose own Machine is old', () => {
    const state = {
      nodes: [node('n', { machine: 'm', created: after(20) })],
      machines: [machine('other', after(19)), machine('m', before)],
    };
    expect(decide(state).message).toMatch(/^nodes n renew/);
  });

  it('do not replace a Machine without one: its node is reported like one that was joined manually', () => {
    const state = { nodes: [node('n', { machine: 'm' })], machines: [machine('m', before)] };
    expect(decide({ ...state, deployments: [deployment('d')] })).toMatchObject({
      rollOut: [],
      message: expect.stringMatching(/^nodes n renew/) as string,
    });
  });
});

describe('MachinePools of a cluster whose CA has changed', () => {
  it.each([
    ['is not annotated', undefined, undefined, true],
    ['is annotated with the previous CA', '2021-11-21T11:55:00Z', undefined, true],
    ['is annotated with this CA', caNotBefore, undefined, false],
    ['is being deleted', undefined, '2026-11-21T12:10:00Z', false],
  ])('name the CA in their template: one that %s', (_, annotation, deleted, isAnnotated) => {
    const pools = [pool('p', after(1), annotation, deleted)];
    expect(decide({ pools })).toEqual({ ...settled, annotate: isAnnotated ? ['p'] : [] });
  });

  it('are waited for while their machines join by data from before', () => {
    expect(decide({ pools: [pool('p', before, caNotBefore), pool('q', after(1), caNotBefore)] })).toEqual({
      ...settled,
      message:
        'new machines of MachinePools p accept the old CA only: let spec.template.spec.bootstrap.configRef name a copy of its object without spec.joinConfiguration.discovery',
      requeueAt: after(65),
    });
  });

  it.each([
    ['have data from after', after(1), undefined],
    ['are being deleted', before, '2026-11-21T12:10:00Z'],
    ['have no data yet', undefined, undefined],
  ])('are not waited for if they %s', (_, bootstrapData, deleted) => {
    expect(decide({ pools: [pool('p', bootstrapData, caNotBefore, deleted)] })).toEqual(settled);
  });

  it('keep their nodes until these have renewed their certificates, and say how to do it sooner', () => {
    const nodes = [
      node('a', { pool: 'p' }),
      node('b', { pool: 'p', note: signerName }),
      node('c', { pool: 'q' }),
      node('d'),
    ];
    const { message, requeueAt } = decide({ nodes, pools: [pool('p', after(1), caNotBefore)] });
    expect(message.split('; ')).toEqual([
      'nodes d renew their certificates automatically, the last one by 2027-11-22T12:00:00Z: join them again to renew them sooner',
      'nodes a, c of MachinePools p, q renew their certificates automatically, the last one by 2027-11-22T12:00:00Z: let their infrastructure replace them to renew them sooner, because Cluster API has no field for it',
    ]);
    expect(requeueAt).toEqual(oldEnd);
  });

  it('are not waited for when all old certificates have expired', () => {
    expect(decide({ now: oldEnd, pools: [pool('p', before)] })).toEqual(settled);
  });
});
