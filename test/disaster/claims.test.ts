import { expect, test } from 'vitest';
import { claims } from './claims.ts';
import type { Rebuilt } from './disaster.ts';

const seen: Rebuilt['before'] = {
  worker: { containers: ['a 1', 'b 2'], kubelet: '3', credentials: 'digest' },
  endpoint: { server: 'https://c1.example.com:443', certificateAuthority: 'PEM' },
};

const unchanged: Rebuilt = {
  before: seen,
  // additional objects, such as a completed pod, are not a loss
  after: { ...seen, worker: { ...seen.worker, containers: ['a 1', 'b 2', 'c 4'] } },
  pages: { before: ['hello'], meanwhile: ['hello'], after: ['hello'] },
  writes: { backup: 'b', acknowledged: 40, lostOfBackup: [], younger: 20, lostSince: [] },
  pod: { asked: 'configmap/kube-root-ca.crt\n', byOldToken: 'configmap/kube-root-ca.crt' },
  sealed: { before: 'sesame', after: 'sesame' },
  newPod: 'made after the rebuild',
  seconds: { silence: 3, rebuild: 2, worker: 1 },
};

const after = (changes: Partial<Rebuilt['after']>) => ({ after: { ...unchanged.after, ...changes } });
const worker = (changes: Partial<Rebuilt['after']['worker']>) =>
  after({ worker: { ...unchanged.after.worker, ...changes } });

const failed = (changes: Partial<Rebuilt>): string[] =>
  claims.filter(({ fault }) => fault({ ...unchanged, ...changes }) !== undefined).map(({ claim }) => claim);

test('no claim fails if everything is as it was', () => {
  expect(failed({})).toEqual([]);
});

test.for<[string, Partial<Rebuilt>]>([
  ['the endpoint is the same', after({ endpoint: { ...seen.endpoint, server: 'https://other' } })],
  ['the CA is the same', after({ endpoint: { ...seen.endpoint, certificateAuthority: 'another' } })],
  [
    'the old kubeconfig writes, and each write that was acknowledged since is there',
    { writes: { ...unchanged.writes, lostSince: [7] } },
  ],
  ['each write that the backup holds is there', { writes: { ...unchanged.writes, lostOfBackup: [7] } }],
  ['the kubelet is the same process with the same credentials', worker({ kubelet: '5' })],
  ['the kubelet is the same process with the same credentials', worker({ credentials: 'new' })],
  ['no container was restarted', worker({ containers: ['a 1', 'b 5'] })],
  ['pods answered all the while', { pages: { ...unchanged.pages, meanwhile: [''] } }],
  ['pods answered all the while', { pages: { ...unchanged.pages, after: [''] } }],
  [
    'a running pod reaches its API server, and its old token counts',
    { pod: { ...unchanged.pod, asked: 'Unauthorized' } },
  ],
  ['a running pod reaches its API server, and its old token counts', { pod: { ...unchanged.pod, byOldToken: '' } }],
  ['Secrets, which are encrypted in etcd, can be read', { sealed: { before: 'sesame', after: '' } }],
  ['a new pod runs, and its log can be read', { newPod: '' }],
])('only "%s" fails if that is not so', ([claim, changes]) => {
  expect(failed(changes)).toEqual([claim]);
});
