import { describe, expect, it } from 'vitest';
import type {
  HostClaim,
  HostedControlPlaneClaim,
  RouteClaim,
} from '../../../../reconciler/clusters/exposure/host-claim.ts';
import { hostOwner } from '../../../../reconciler/clusters/exposure/host-owner.ts';

const host = 'c1.team.example.org';
const gateway = 'infra/shared';
const [early, late, now] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];

const held = (heldSince: string) => [{ name: host, heldSince }];
function plane(
  key: string,
  heldSince?: string,
  changes: Partial<HostedControlPlaneClaim> = {},
): HostedControlPlaneClaim {
  return {
    kind: 'HostedControlPlane',
    key,
    hosts: heldSince === undefined ? [] : held(heldSince),
    gateway,
    ...changes,
  };
}
function route(key: string, createdAt: string, changes: Partial<RouteClaim> = {}): RouteClaim {
  return { kind: 'TLSRoute', key, hosts: held(createdAt), gateways: [gateway], ...changes };
}

/** Holds no host yet. */
const newcomer = plane('team/c1');
const holder = plane('team/c1', late);
const behindIngress = { gateway: undefined };

describe('a host name', () => {
  it.each<[string, HostedControlPlaneClaim, HostClaim[], string | undefined]>([
    ['is free if no object claims it', newcomer, [], undefined],
    ['is free if only the requester claims it', holder, [holder], undefined],
    ['is kept by another control plane that holds it', newcomer, [plane('other/c9', early)], 'other/c9'],
    ['stays with the first of two that hold it', holder, [holder, plane('other/c9', now)], undefined],
    ['is lost to the first of two that hold it', holder, [holder, plane('other/c9', early)], 'other/c9'],
    ['is lost by name if both hold it since the same time', holder, [holder, plane('a/c9', late)], 'a/c9'],
    ['stays by name if both hold it since the same time', holder, [holder, plane('z/c9', late)], undefined],
    [
      'with several claims is kept by the first',
      newcomer,
      [plane('other/b', late), plane('other/a', early), plane('other/c', now)],
      'other/a',
    ],
    ['is kept by a route of another owner', newcomer, [route('web/shop', now)], 'web/shop'],
    ['is not lost to an older route that takes it later', holder, [holder, route('web/shop', early)], undefined],
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
      plane('team/c1', undefined, behindIngress),
      [route('web/shop', early)],
      undefined,
    ],
    [
      'is free if another namespace holds it behind a Gateway of its own',
      newcomer,
      [plane('other/c9', early, { gateway: 'other/own' })],
      undefined,
    ],
    [
      'is kept within one namespace also behind another Gateway',
      newcomer,
      [plane('team/c9', early, { gateway: 'team/own' })],
      'team/c9',
    ],
    [
      'below the name of its namespace is not kept by an Ingress of another namespace',
      newcomer,
      [plane('other/c9', early, behindIngress)],
      undefined,
    ],
    [
      'below the name of another namespace is lost by an Ingress',
      plane('other/c9', early, behindIngress),
      [plane('team/c1', late)],
      'team/c1',
    ],
    [
      'of an Ingress is not lost to a Gateway of a namespace that it does not name',
      plane('other/c9', early, behindIngress),
      [plane('third/c1', late)],
      undefined,
    ],
    [
      'of an Ingress is refused to a Gateway of a namespace that it does not name',
      plane('third/c1'),
      [plane('other/c9', early, behindIngress)],
      'other/c9',
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
