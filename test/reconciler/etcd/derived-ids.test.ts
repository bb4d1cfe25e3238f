import { expect, it } from 'vitest';
import { firstMemberId } from '../../../reconciler/etcd/derived-ids.ts';

it('the id of a restored member is the one that etcdutl 3.6 computes', () => {
  const id = firstMemberId('https://m-0.svc.nowhere.svc:2380', 't');
  expect(BigInt(id).toString(16)).toBe('793a4515f5e1b2cf');
});
