import { describe, expect, it } from 'vitest';
import type { HostClaim, HostedControlPlaneClaim, RouteClaim } from '../../../reconciler/exposure/host-claim.ts';
import { hostOwner } from '../../../reconciler/exposure/host-owner.ts';

const host = 'c1.team.example.org';
const gateway = 'infra/shared';
const [early, late, now] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];

function plane(key: string, createdAt: string, hosts: readonly string[] = [host]): HostedControlPlaneClaim {
  return { kind: 'HostedControlPlane', key, createdAt, hosts, gateway };
}
function route(key: string, createdAt: string, changes: Partial<RouteClaim> = {}): RouteClaim {
  return { kind: 'TLSRoute', key, createdAt, hosts: [host], gateways: [gateway], ...changes };
}

/** Has not published an endpoint yet. */
const newcomer = plane('team/c1', now, []);
const holder = plane('team/c1', late);

describe('a host name', () => {
  it.each<[string, HostedControlPlaneClaim, HostClaim[], string | undefined]>([
    ['is free if no object claims it', newcomer, [], undefined],
    ['is free if only the requester claims it', holder, [holder], undefined],
    ['is kept by another control plane that claims it', newcomer, [plane('other/c9', early)], 'other/c9'],
    [
      'is kept by a younger control plane that claims it already',
      newcomer,
      [plane('other/c9', '2026-02-01T00:00:00Z')],
      'other/c9',
    ],
    ['stays with the older of two that claim it', holder, [holder, plane('other/c9', now)], undefined],
    ['is lost to the older of two that claim it', holder, [holder, plane('other/c9', early)], 'other/c9'],
    ['is lost by name if both have the same age', holder, [holder, plane('a/c9', late)], 'a/c9'],
    ['stays by name if both have the same age', holder, [holder, plane('z/c9', late)], undefined],
    [
      'with several claims is kept by the oldest',
      newcomer,
      [plane('other/b', late), plane('other/a', early), plane('other/c', now)],
      'other/a',
    ],
    ['is kept by a route of another owner', newcomer, [route('web/shop', now)], 'web/shop'],
    ['is lost to an older route of another owner', holder, [holder, route('web/shop', early)], 'web/shop'],
    ['is not lost to a younger route of another owner', holder, [holder, route('web/shop', now)], undefined],
    [
      'is free if the route belongs to the requester',
      newcomer,
      [route('team/c1', early, { owner: 'team/c1' })],
      undefined,
    ],
    [
      'is kept by the route of an unknown control plane',
      newcomer,
      [route('away/c7', early, { owner: 'away/c7' })],
      'away/c7',
    ],
    [
      'is decided between control planes, not between their routes',
      holder,
      [holder, plane('other/c9', now), route('other/c9', early, { owner: 'other/c9' })],
      undefined,
    ],
    [
      'is free if the route is behind another Gateway',
      newcomer,
      [route('web/shop', early, { gateways: ['infra/other'] })],
      undefined,
    ],
    [
      'is free for an Ingress, whatever routes exist',
      { ...newcomer, gateway: undefined },
      [route('web/shop', early)],
      undefined,
    ],
  ])('%s', (_, requester, claims, expected) => {
    expect(hostOwner(host, requester, claims)?.key).toBe(expected);
  });

  it('is decided the same way by both that claim it, so that exactly one keeps it', () => {
    for (const [a, b] of [
      [plane('team/a', early), plane('team/b', late)],
      [plane('team/a', early), plane('team/b', early)],
    ] as const) {
      const losers = [a, b].filter((requester) => hostOwner(host, requester, [a, b]) !== undefined);
      expect(losers.map(({ key }) => key)).toEqual(['team/b']);
    }
  });
});
