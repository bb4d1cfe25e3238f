import { expect, it } from 'vitest';
import { addressAt } from '../../../constructs/cluster/cidr.ts';

it.each([
  ['10.96.0.0/12', 1, '10.96.0.1'],
  ['10.96.0.0/12', 10, '10.96.0.10'],
  ['10.96.7.9/12', 1, '10.96.0.1'],
  ['172.16.0.0/16', 256, '172.16.1.0'],
  ['255.255.255.0/24', 1, '255.255.255.1'],
  ['fd00:10:96::/112', 1, 'fd00:10:96::1'],
  ['fd00:10:96::/112', 10, 'fd00:10:96::a'],
  ['2001:db8:0:0:1:2:3:4/64', 1, '2001:db8::1'],
  ['::/0', 1, '::1'],
])('address of %s number %i is %s', (cidr, n, address) => {
  expect(addressAt(cidr, n)).toBe(address);
});

it.each(['10.96.0.0', '10.96.0.0/33', 'fd00::/129', '10.96.0.0/', '/12', 'example.org/8', ''])(
  'refuses %j, which is not a network, with an example',
  (cidr) => {
    expect(() => addressAt(cidr, 1)).toThrow(`"${cidr}" is not a network such as 10.96.0.0/12`);
  },
);
