import { describe, expect, it } from 'vitest';
import { Pod } from '../../../constructs/api/resources.ts';
import { type CountedPod, fitsAfter, usageOf } from '../../../reconciler/dry-run/quota.ts';

const { apiVersion, kind } = Pod;
const pod = (spec: CountedPod['spec'] = {}): CountedPod => ({ apiVersion, kind, metadata: { name: 'one' }, spec });

describe('what pods use of a quota', () => {
  it.each<[what: string, pods: CountedPod[], usage: object]>([
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
      { pods: 1, 'count/pods': 1, cpu: 0.6, 'requests.cpu': 0.6, 'limits.cpu': 1.5 },
    ],
  ])('%s', (_, pods, usage) => {
    expect(usageOf(pods)).toEqual(usage);
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
