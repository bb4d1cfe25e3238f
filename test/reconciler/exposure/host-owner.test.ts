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

/** Has not published anything yet. */
const newcomer = plane('team/c1', now, []);
const holder = plane('team/c1', late);

describe('a host name', () => {
  it.each<[string, HostedControlPlaneClaim, HostClaim[], string | undefined]>([
    ['is free when nobody has it', newcomer, [], undefined],
    ['is free when only the asking one has it', holder, [holder], undefined],
    ['is kept by another one that has it', newcomer, [plane('other/c9', early)], 'other/c9'],
    ['is kept by one that came later but has it', newcomer, [plane('other/c9', '2026-02-01T00:00:00Z')], 'other/c9'],
    ['stays with the older of two that have it', holder, [holder, plane('other/c9', now)], undefined],
    ['is lost to the older of two that have it', holder, [holder, plane('other/c9', early)], 'other/c9'],
    ['goes by name where both are as old', holder, [holder, plane('a/c9', late)], 'a/c9'],
    ['stays by name where both are as old', holder, [holder, plane('z/c9', late)], undefined],
    [
      'of several is kept by the oldest',
      newcomer,
      [plane('other/b', late), plane('other/a', early), plane('other/c', now)],
      'other/a',
    ],
    ['is kept by a route of somebody else', newcomer, [route('web/shop', now)], 'web/shop'],
    ['is lost to an older route of somebody else', holder, [holder, route('web/shop', early)], 'web/shop'],
    ['is not taken away by a younger route of somebody else', holder, [holder, route('web/shop', now)], undefined],
    ['is free when the route is our own', newcomer, [route('team/c1', early, { owner: 'team/c1' })], undefined],
    [
      'is kept by the route of a control plane that is not known here',
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
      'is free when the route is behind another Gateway',
      newcomer,
      [route('web/shop', early, { gateways: ['infra/other'] })],
      undefined,
    ],
    [
      'is free for an Ingress whatever routes there are',
      { ...newcomer, gateway: undefined },
      [route('web/shop', early)],
      undefined,
    ],
  ])('%s', (_, asking, claims, expected) => {
    expect(hostOwner(host, asking, claims)?.key).toBe(expected);
  });

  it('is judged alike by both that have it, so that exactly one keeps it', () => {
    for (const [a, b] of [
      [plane('team/a', early), plane('team/b', late)],
      [plane('team/a', early), plane('team/b', early)],
    ] as const) {
      const losers = [a, b].filter((asking) => hostOwner(host, asking, [a, b]) !== undefined);
      expect(losers.map(({ key }) => key)).toEqual(['team/b']);
    }
  });
});
