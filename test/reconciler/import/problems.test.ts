import { expect, it } from 'vitest';
import { kamajiControlPlane } from '../../../reconciler/import/kamaji.ts';
import { describeImport } from '../../../reconciler/import/preview.ts';
import { type ImportFacts, problemsOf } from '../../../reconciler/import/problems.ts';
import { teutonetControlPlane } from '../../../reconciler/import/teutonet.ts';
import { createCA, createServiceAccountKey, validFor } from '../../../reconciler/pki/issue.ts';
import { hostedCluster, hostedControlPlaneName, namespace, now } from '../../support/scope.ts';

const ca = await createCA({ commonName: 'kubernetes' }, validFor(36 * 3_600_000, now));
const keys = {
  ca,
  trusted: ca.certificate,
  serviceAccountKey: createServiceAccountKey().key,
  issuer: 'https://kubernetes.default.svc',
};
const { spec } = hostedCluster();
const metadata = { namespace, name: hostedControlPlaneName };
const facts: ImportFacts = {
  cluster: 'c1',
  object: { spec, metadata },
  other: teutonetControlPlane('c1'),
  workloads: ['c1-api-server'],
  keys,
  isClusterPaused: false,
  hasEndpoint: true,
  heldLeases: [],
  webhooks: [],
  storeProblem: undefined,
  snapshot: undefined,
  now,
};
const kamaji = kamajiControlPlane({
  apiVersion: '',
  kind: '',
  metadata: { name: 'c1' },
  status: { storage: { driver: 'etcd', dataStoreName: 'default' } },
});

it('a control plane with all its parts can be imported', () => expect(problemsOf(facts)).toEqual([]));

it.each<[string, Partial<ImportFacts>, string]>([
  ['nothing is there', { workloads: [] }, 'there is no control plane of teutonet to import'],
  [
    'its version is too old',
    { object: { metadata, spec: { ...spec, version: 'v1.31.12' } } },
    'Kubernetes v1.31.12 is not supported by this release: use 1.32 to 1.37; upgrade',
  ],
  ['a Secret is missing', { keys: new Error('Secret team/c1-ca does not exist') }, 'Secret team/c1-ca does not exist'],
  ['its CA has expired', { now: new Date(now.getTime() + 37 * 3_600_000) }, 'the CA in Secret c1-ca expired'],
  ['its data are shared', { other: kamaji }, 'Kamaji has no etcd for this control plane alone'],
  ['there is no bucket', { storeProblem: 'HostedControlPlane c1-x7k2p has no backups' }, 'has no backups'],
  ['there is no endpoint', { hasEndpoint: false }, 'Cluster c1 has no complete spec.controlPlaneEndpoint'],
  ['the Cluster is paused', { isClusterPaused: true }, 'Cluster c1 is paused'],
  ['the other operator runs', { heldLeases: ['capi/lease'] }, 'an operator of teutonet runs'],
  ['its webhook is left', { webhooks: ['old'] }, 'delete ValidatingWebhookConfiguration old'],
])('an import has to wait when %s', (_, change, message) => {
  expect(problemsOf({ ...facts, ...change })).toEqual([expect.stringContaining(message)]);
});

it('a snapshot that the user names replaces the etcd that is shared', () => {
  expect(problemsOf({ ...facts, other: kamaji, snapshot: 'final.etcd' })).toEqual([]);
});

it('the preview names what is stopped, when the CA expires, and what is not carried over', () => {
  const text = describeImport(facts).join('\n');
  expect(text).toContain(
    'stops c1-api-server, c1-controller-manager, c1-scheduler: from here on the API is unavailable',
  );
  expect(text).toContain('replaces the CA of the cluster, which expires on 2026-11-23T00:00:00.000Z, by c1-ca-next');
  expect(text).toContain('  - the load balancer of Service s-c1, unless');
  expect(describeImport({ ...facts, other: kamaji }).join('\n')).toContain(
    '  - the data in DataStore default (etcd), other than by a snapshot that you name',
  );
  expect(text).not.toContain('PRIVATE');
});
