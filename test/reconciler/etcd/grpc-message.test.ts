import { expect, it } from 'vitest';
import { grpcMessage } from '../../../reconciler/etcd/etcd3-client.ts';

it.each([
  [
    '14 UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED 10.2.2.13:2379. Resolution note: ',
    'connect ECONNREFUSED 10.2.2.13:2379',
  ],
  [
    '4 DEADLINE_EXCEEDED: Deadline exceeded after 4.811s,name resolution: 0.326s,Waiting for LB pick',
    'no answer in time',
  ],
  ['14 UNAVAILABLE: etcdserver: unhealthy cluster', 'etcdserver: unhealthy cluster'],
  [
    '8 RESOURCE_EXHAUSTED: Received message larger than max (4194302 vs 65536)',
    'the answer is longer than any of etcd',
  ],
  ['something else', 'something else'],
])('shortens %j to %j', (message, expected) => {
  expect(grpcMessage(new Error(message))).toBe(expected);
});
