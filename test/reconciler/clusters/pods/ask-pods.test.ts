import type { PodObject } from '../../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { askPods } from '../../../../reconciler/clusters/pods/ask-pods.ts';

const pod = (name: string, podIP?: string): PodObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  status: podIP === undefined ? {} : { podIP },
});

it('tells the answer of each pod, and why another one is silent', async () => {
  const pods = [pod('a', '192.0.2.1'), pod('b'), pod('c', '192.0.2.3')];
  const ask = async (address: string) => {
    if (address === '192.0.2.3') throw new Error('connection refused');
    return 42;
  };
  expect(await askPods(pods, ask)).toEqual([
    { kind: 'answered', pod: 'a', value: 42 },
    { kind: 'silent', pod: 'b', problem: 'has no address yet' },
    { kind: 'silent', pod: 'c', problem: 'does not answer (connection refused)' },
  ]);
});
