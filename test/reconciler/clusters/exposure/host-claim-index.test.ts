import { expect, it } from 'vitest';
import type { HostedControlPlaneClaim } from '../../../../reconciler/clusters/exposure/host-claim.ts';
import { HostClaimIndex } from '../../../../reconciler/clusters/exposure/host-claim-index.ts';

const claim = (key: string, ...hosts: string[]): HostedControlPlaneClaim => ({
  kind: 'HostedControlPlane',
  key,
  hosts: hosts.map((name) => ({ name, heldSince: '2026-01-01T00:00:00Z' })),
});

it('finds every object that claims a host, and returns the hosts that a change affects', () => {
  const book = new HostClaimIndex();
  expect(book.put(claim('team/a', 'x', 'y'))).toEqual(['x', 'y']);
  expect(book.put(claim('team/b', 'y'))).toEqual(['y']);
  expect(book.at('y').map(({ key }) => key)).toEqual(['team/a', 'team/b']);
  expect(book.put(claim('team/a', 'x', 'y'))).toEqual([]);
  expect(book.put(claim('team/a', 'z'))).toEqual(['x', 'y', 'z']);
  expect(book.at('x')).toEqual([]);
  expect(book.remove(claim('team/a'))).toEqual(['z']);
  expect([book.at('z'), book.hostedControlPlane('team/a')]).toEqual([[], undefined]);
  expect(book.remove(claim('team/a'))).toEqual([]);
  expect(book.hostedControlPlane('team/b')?.hosts.map(({ name }) => name)).toEqual(['y']);
});
