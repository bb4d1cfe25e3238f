import type { TLSRouteObject } from '../../../../imports/gateway-api.ts';
import { describe, expect, it } from 'vitest';
import { TLSRoute } from '../../../../constructs/api/resources.ts';
import { routeStateOf } from '../../../../reconciler/clusters/exposure/route-status.ts';

const listener = { namespace: 'capi-system', name: 'capi', listener: 'tls' };
const parentRef = {
  group: 'gateway.networking.k8s.io',
  kind: 'Gateway',
  namespace: 'capi-system',
  name: 'capi',
  sectionName: 'tls',
};

type Parents = NonNullable<NonNullable<TLSRouteObject['status']>['parents']>;
type Parent = Parents[number];
type Condition = NonNullable<Parent['conditions']>[number];

/** A route of generation 2, with the status of these parents. */
function route(...parents: Parents): TLSRouteObject {
  const { apiVersion, kind } = TLSRoute;
  return { apiVersion, kind, metadata: { name: 'c1', namespace: 'team', generation: 2 }, status: { parents } };
}

const parent = (conditions: readonly Condition[], ref: Partial<Parent['parentRef']> = {}): Parent => ({
  parentRef: { ...parentRef, ...ref },
  conditions,
});
const yes = (type: string, observedGeneration = 2): Condition => ({ type, status: 'True', observedGeneration });
const no = (type: string, reason: string, message: string, observedGeneration = 2): Condition => {
  return { type, status: 'False', observedGeneration, reason, message };
};
const good = [yes('Accepted'), yes('ResolvedRefs')];

describe('a route is accepted', () => {
  const { namespace: _namespace, kind: _kind, group: _group, ...short } = parentRef;
  const unnoted = ({ type, status }: Condition): Condition => ({ type, status });

  it.each<[string, TLSRouteObject]>([
    ['by its Gateway', route(parent(good))],
    ['by one of two controllers', route(parent([no('Accepted', 'Pending', '')]), parent(good))],
    [
      'besides rejections by other Gateways',
      route(parent([no('Accepted', 'No', '')], { name: 'other' }), parent(good)),
    ],
    ['with other conditions that are false', route(parent([...good, no('PartiallyInvalid', 'No', '')]))],
    ['by a controller that reports no generation', route(parent(good.map(unnoted)))],
  ])('%s', (_, object) => {
    expect(routeStateOf(object, listener)).toEqual({ kind: 'accepted' });
  });

  it('by a controller that omits default values', () => {
    const object = route({ parentRef: short, conditions: good });
    expect(routeStateOf(object, { ...listener, namespace: 'team' })).toEqual({ kind: 'accepted' });
    expect(routeStateOf(object, listener)).toMatchObject({ kind: 'waiting' });
  });
});

describe('a route is waited for', () => {
  it.each<[string, TLSRouteObject]>([
    ['while it has no status', route()],
    ['while only another Gateway has reported', route(parent(good, { name: 'other' }))],
    [
      'while only a Gateway of the same name in another namespace has reported',
      route(parent(good, { namespace: 'team' })),
    ],
    ['while only another listener has reported', route(parent(good, { sectionName: 'second' }))],
    ['while the status is not about a Gateway', route(parent(good, { kind: 'Service' }))],
    ['while its backends have not been checked', route(parent([yes('Accepted')]))],
    ['while the status is Unknown', route(parent([{ ...yes('Accepted'), status: 'Unknown' }, yes('ResolvedRefs')]))],
    ['while the acceptance is for an older generation', route(parent([yes('Accepted', 1), yes('ResolvedRefs', 1)]))],
    ['while the rejection is for an older generation', route(parent([no('Accepted', 'NotAllowedByListeners', '', 1)]))],
  ])('%s', (_, object) => {
    expect(routeStateOf(object, listener)).toEqual({
      kind: 'waiting',
      message: expect.stringContaining('Gateway capi-system/capi has not reported yet whether it accepts TLSRoute c1'),
    });
  });
});

describe("a route is rejected with the controller's message and a remedy", () => {
  it.each<[string, Condition[], string]>([
    [
      'if the namespace is not allowed',
      [no('Accepted', 'NotAllowedByListeners', 'not in the list'), yes('ResolvedRefs')],
      'Gateway capi-system/capi refuses TLSRoute c1: NotAllowedByListeners: not in the list: allow TLSRoutes of this namespace in allowedRoutes of listener tls',
    ],
    [
      'if its host is not covered',
      [no('Accepted', 'NoMatchingListenerHostname', 'no overlap')],
      'NoMatchingListenerHostname: no overlap: give listener tls a wildcard hostname',
    ],
    ['if the listener is gone', [no('Accepted', 'NoMatchingParent', 'none')], 'give the Gateway a listener tls'],
    [
      'if the controller does not support it',
      [no('Accepted', 'UnsupportedValue', 'no')],
      'use a Gateway whose controller',
    ],
    [
      'if its backend is rejected although the route is accepted',
      [yes('Accepted'), no('ResolvedRefs', 'BackendNotFound', 'Service s-c1 not found')],
      'refuses TLSRoute c1: BackendNotFound: Service s-c1 not found: check the events and the status of Gateway capi-system/capi',
    ],
    [
      'also without a message',
      [{ type: 'Accepted', status: 'False' }],
      'refuses TLSRoute c1: Accepted: check the events',
    ],
  ])('%s', (_, conditions, message) => {
    expect(routeStateOf(route(parent(conditions)), listener)).toEqual({
      kind: 'rejected',
      message: expect.stringContaining(message),
    });
  });
});
