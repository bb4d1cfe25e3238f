import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lanesOf, seconds } from './lanes.ts';

const files = [
  'test/system/disaster.test.ts',
  'test/testbed/testbed.test.ts',
  'test/cluster/etcd-pods/members.test.ts',
  'test/cluster/kube/client.test.ts',
  'test/cluster/kube/lease.test.ts',
];

it('each file is in one lane, in the same one whatever order files come in', () => {
  const lanes = lanesOf(files, 2);
  expect([...lanes.keys()].sort()).toEqual([...files].sort());
  expect(lanesOf(files.toReversed(), 2)).toEqual(lanes);
});

it('what looks at the whole host is in the first lane, and the longest of the rest beside it', () => {
  const lanes = lanesOf(files, 2);
  expect(lanes.get('test/system/disaster.test.ts')).toBe(1);
  expect(lanes.get('test/testbed/testbed.test.ts')).toBe(1);
  expect(lanes.get('test/cluster/etcd-pods/members.test.ts')).toBe(2);
});

it('one lane has everything', () => {
  expect(new Set(lanesOf(files, 1).values())).toEqual(new Set([1]));
});

it('durations are told of files that there are', () => {
  const missing = Object.keys(seconds).filter((file) => !existsSync(join(import.meta.dirname, '..', file)));
  expect(missing).toEqual([]);
});
