import type { PodObject, ResourceQuotaObject } from '../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { PersistentVolumeClaim, Pod, ResourceQuota } from '../../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { exceededBy, fitsAfter, usageOf } from '../../../../reconciler/clusters/dry-run/quota.ts';

const { apiVersion, kind } = Pod;
const pod = (spec: PodObject['spec'] = {}): PodObject => ({ apiVersion, kind, metadata: { name: 'one' }, spec });

describe('what pods use of a quota', () => {
  it.each<[what: string, pods: PodObject[], usage: object]>([
    ['of none is nothing', [], {}],
    ['without resources is their number', [pod(), pod()], { pods: 2, 'count/pods': 2 }],
    [
      'is what containers and sidecars request and are limited to, by each name',
      [
        pod({
          containers: [{ resources: { requests: { cpu: '100m' }, limits: { cpu: '1' } } }],
          initContainers: [
            { resources: { limits: { cpu: '2' } } },
            { restartPolicy: 'Always', resources: { limits: { cpu: '500m' } } },
          ],
        }),
      ],
      { pods: 1, 'count/pods': 1, cpu: 2, 'requests.cpu': 2, 'limits.cpu': 2 },
    ],
    [
      'is what a container that ends needs beside the sidecars before it',
      [
        pod({
          initContainers: [
            { restartPolicy: 'Always', resources: { limits: { cpu: '500m' } } },
            { resources: { limits: { cpu: '2' } } },
          ],
        }),
      ],
      { pods: 1, 'count/pods': 1, cpu: 2.5, 'requests.cpu': 2.5, 'limits.cpu': 2.5 },
    ],
    ['that have ended is nothing', ['Succeeded', 'Failed'].map((phase) => ({ ...pod(), status: { phase } })), {}],
  ])('%s', (_, pods, usage) => {
    expect(usageOf(pods)).toEqual(usage);
  });
});

describe('several objects at the same time', () => {
  const claim = {
    apiVersion: PersistentVolumeClaim.apiVersion,
    kind: PersistentVolumeClaim.kind,
    metadata: { name: 'data' },
    spec: { storageClassName: 'fast', resources: { requests: { storage: '4Gi' } } },
  };
  const limited = pod({ containers: [{ resources: { limits: { cpu: '500m' } } }] });
  const quota = (hard: Record<string, string>, used: Record<string, string> = {}, spec = {}): ResourceQuotaObject => ({
    apiVersion: ResourceQuota.apiVersion,
    kind: ResourceQuota.kind,
    metadata: { name: 'q' },
    spec,
    status: { hard, used },
  });

  it.each<
    [what: string, objects: KubeObject[], quotas: ResourceQuotaObject[], ends: Record<string, number>, words?: string]
  >([
    ['fit without a quota', [pod(), pod()], [], {}],
    ['fit where they use it up', [pod(), pod()], [quota({ pods: '4' }, { pods: '2' })], {}],
    [
      'do not where they need more',
      [pod(), pod()],
      [quota({ pods: '3' }, { pods: '2' })],
      {},
      'exceeded quota: q, requested: pods=2 by 2 objects at the same time, used: pods=2, limited: pods=3',
    ],
    ['fit when as much ends before', [pod(), pod()], [quota({ pods: '3' }, { pods: '2' })], { pods: 2 }],
    [
      'are counted by what each uses',
      [limited, limited, limited],
      [quota({ pods: '9', 'limits.cpu': '1' })],
      {},
      'exceeded quota: q, requested: limits.cpu=1.5 by 3 objects at the same time, used: limits.cpu=0, limited: limits.cpu=1',
    ],
    [
      'need storage of a class',
      [claim, claim],
      [quota({ 'fast.storageclass.storage.k8s.io/requests.storage': '6Gi' })],
      {},
      'exceeded quota: q, requested: fast.storageclass.storage.k8s.io/requests.storage=8589934592 by 2 objects at the same time, used: fast.storageclass.storage.k8s.io/requests.storage=0, limited: fast.storageclass.storage.k8s.io/requests.storage=6Gi',
    ],
    ['fit in a quota for what they do not need', [pod(), pod()], [quota({ secrets: '0' })], {}],
    ['are not held against a quota for some pods', [pod(), pod()], [quota({ pods: '1' }, {}, { scopes: ['x'] })], {}],
    ['nor against one that selects them', [pod(), pod()], [quota({ pods: '1' }, {}, { scopeSelector: {} })], {}],
    [
      'do not where more ends than the quota has counted',
      [pod(), pod()],
      [quota({ pods: '1' }, { pods: '1' })],
      { pods: 2 },
      'exceeded quota: q, requested: pods=2 by 2 objects at the same time, used: pods=1, limited: pods=1',
    ],
  ])('%s', (_, objects, quotas, ends, words) => {
    expect(exceededBy(objects, quotas, ends)).toBe(words);
  });
});

describe('a quota', () => {
  const words = (requested: string, used: string, limited: string) =>
    `create Pod a/b: pods "b" is forbidden: exceeded quota: q, requested: ${requested}, used: ${used}, limited: ${limited}`;

  it.each<[what: string, words: string, ends: Record<string, number>, fits: boolean]>([
    ['is exceeded', words('pods=1', 'pods=4', 'pods=4'), {}, false],
    ['fits when as much ends', words('pods=1', 'pods=4', 'pods=4'), { pods: 1 }, true],
    ['counts suffixes', words('memory=512Mi', 'memory=1Gi', 'memory=1Gi'), { memory: 512 * 1024 ** 2 }, true],
    ['fits by no text that is not its own', 'pods "b" is forbidden: violates PodSecurity', { pods: 9 }, false],
    ['fits by no numbers that cannot be read', words('pods=x', 'pods=4', 'pods=4'), { pods: 9 }, false],
    ['fits by no part of the text', 'exceeded quota: q, requested: pods=1', { pods: 9 }, false],
  ])('%s', (_, text, ends, fits) => {
    expect(fitsAfter(text, ends)).toBe(fits);
  });
});
