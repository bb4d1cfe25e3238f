import { expect, it } from 'vitest';
import { alarmsIn } from '../../../reconciler/etcd/etcd3-client.ts';

const full = { memberId: '1234', alarm: 'Nospace' };

it.each([
  ['memberID:1234 alarm:NOSPACE', [full]],
  ['memberID:1234 alarm:NOSPACE ', [full]],
  // etcd 3.7, in some builds
  ['memberID:1234  alarm:NOSPACE', [full]],
  ['memberID:9  alarm:CORRUPT', [{ memberId: '9', alarm: 'Corrupt' }]],
  ['alarm:CORRUPT', [{ memberId: '0', alarm: 'Corrupt' }]],
  ['etcdserver: no leader', []],
])('the error %o of a status is an alarm or not', (error, expected) => {
  expect(alarmsIn(error)).toEqual(expected);
});
