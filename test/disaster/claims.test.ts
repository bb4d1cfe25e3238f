import { expect, test } from 'vitest';
import { claims } from './claims.ts';
import type { Rebuilt } from './disaster.ts';

const seen: Rebuilt['before'] = {
  worker: { containers: ['a 1', 'b 2'], kubelet: '3', credentials: 'digest' },
  endpoint: { server: 'https://c1.example.com:443', certificateAuthority: 'PEM' },
};

const survived: Rebuilt = {
  before: seen,
  // what is new beside what was there, such as a pod that runs to its end, is nobody's loss
  after: { ...seen, worker: { ...seen.worker, containers: ['a 1', 'b 2', 'c 4'] } },
  pages: { before: ['hello'], meanwhile: ['hello'], after: ['hello'] },
  writes: { backup: 'b', acknowledged: 40, lostOfBackup: [], younger: 20, lostSince: [] },
  pod: { asked: 'configmap/kube-root-ca.crt\n', byOldToken: 'configmap/kube-root-ca.crt' },
  sealed: { before: 'sesame', after: 'sesame' },
  newPod: 'made after the rebuild',
  seconds: { silence: 3, rebuild: 2, worker: 1 },
};

const after = (changes: Partial<Rebuilt['after']>) => ({ after: { ...survived.after, ...changes } });
const worker = (changes: Partial<Rebuilt['after']['worker']>) =>
  after({ worker: { ...survived.after.worker, ...changes } });

const failed = (changes: Partial<Rebuilt>): string[] =>
  claims.filter(({ fault }) => fault({ ...survived, ...changes }) !== undefined).map(({ claim }) => claim);

test('whatever is as it was, no claim fails', () => {
  expect(failed({})).toEqual([]);
});

test.for<[string, Partial<Rebuilt>]>([
  ['the endpoint is the same', after({ endpoint: { ...seen.endpoint, server: 'https://other' } })],
  ['the authority is the same', after({ endpoint: { ...seen.endpoint, certificateAuthority: 'another' } })],
  [
    'the old kubeconfig writes, and each write that was acknowledged since is there',
    { writes: { ...survived.writes, lostSince: [7] } },
  ],
  ['each write that the backup holds is there', { writes: { ...survived.writes, lostOfBackup: [7] } }],
  ['the kubelet is the same process with the same credentials', worker({ kubelet: '5' })],
  ['the kubelet is the same process with the same credentials', worker({ credentials: 'new' })],
  ['no container was restarted', worker({ containers: ['a 1', 'b 5'] })],
  ['pods answered all the while', { pages: { ...survived.pages, meanwhile: [''] } }],
  ['pods answered all the while', { pages: { ...survived.pages, after: [''] } }],
  [
    'a running pod reaches its API server, and its old token counts',
    { pod: { ...survived.pod, asked: 'Unauthorized' } },
  ],
  ['a running pod reaches its API server, and its old token counts', { pod: { ...survived.pod, byOldToken: '' } }],
  ['Secrets, which are encrypted in etcd, can be read', { sealed: { before: 'sesame', after: '' } }],
  ['a new pod runs, and its log can be read', { newPod: '' }],
])('"%s" fails when it is not so, and no other', ([claim, changes]) => {
  expect(failed(changes)).toEqual([claim]);
});
