import type { EventObject } from '../../../../imports/kubernetes.ts';
import type { TLSRouteObject } from '../../../../imports/gateway-api.ts';
import { describe, expect, it } from 'vitest';
import { Event, Gateway, TLSRoute } from '../../../../constructs/api/resources.ts';
import type { Cause } from '../../../../reconciler/cli/status/warnings.ts';
import { gatewayCauses, type GatewayEvidence } from '../../../../reconciler/cli/status/gateway-causes.ts';
import type { GatewayObject, ReportedCondition } from '../../../../reconciler/clusters/exposure/gateway-object.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const name = { namespace: 'infra', name: 'shared' };

const yes = (type: string, observedGeneration = 3): ReportedCondition => ({ type, status: 'True', observedGeneration });
const no = (type: string, reason: string, message: string, observedGeneration = 3): ReportedCondition => {
  return { type, status: 'False', reason, message, observedGeneration };
};
/** As the API creates each condition of a Gateway. */
const initial = (type: string): ReportedCondition => {
  return { type, status: 'Unknown', reason: 'Pending', message: 'Waiting for controller' };
};
const works = [yes('Accepted'), yes('Programmed')];

type Status = NonNullable<GatewayObject['status']>;
const address = { value: '192.0.2.1' };
const listener = (listenerName: string, ...conditions: ReportedCondition[]) => ({ name: listenerName, conditions });
const healthyListener = listener('tls', ...works, yes('ResolvedRefs'), no('Conflicted', 'NoConflicts', ''));

/** A Gateway of generation 3 with two listeners of protocol TLS and one of another. */
function gateway(status: Status): GatewayObject {
  const { apiVersion, kind } = Gateway;
  const listeners = [
    { name: 'tls', protocol: 'TLS', port: 443 },
    { name: 'tls-of-others', protocol: 'TLS', port: 8443 },
    { name: 'web', protocol: 'HTTPS', port: 443 },
  ];
  return {
    apiVersion,
    kind,
    metadata: { ...name, generation: 3 },
    spec: { gatewayClassName: 'blue', listeners },
    status,
  };
}
const healthy = gateway({ conditions: works, addresses: [address], listeners: [healthyListener] });

const parentRef = { ...name, kind: Gateway.kind, sectionName: 'tls' };
/** A route of generation 3, with what controllers report about it. */
function route(...reports: (readonly ReportedCondition[])[]): TLSRouteObject {
  const { apiVersion, kind } = TLSRoute;
  return {
    apiVersion,
    kind,
    metadata: { name: 'c1-api', namespace: 'team', generation: 3 },
    spec: { parentRefs: [parentRef] },
    status: { parents: reports.map((conditions) => ({ parentRef, conditions })) },
  };
}
const accepted = route([yes('Accepted'), yes('ResolvedRefs')]);
const ofAnother: TLSRouteObject = { ...route(), spec: { parentRefs: [{ ...parentRef, name: 'other' }] } };

const warning = (regarding: { kind: string; name: string }, reason: string): EventObject => ({
  apiVersion: Event.apiVersion,
  kind: Event.kind,
  metadata: { name: reason },
  type: 'Warning',
  reason,
  note: 'it fails',
  regarding,
  series: { lastObservedTime: new Date(now - 3000).toISOString() },
});

/** The causes as text, those of a cause indented. */
const shown = (causes: readonly Cause[]): string[] =>
  causes.flatMap(({ text, causes: behind }) => [text, ...shown(behind).map((line) => `  ${line}`)]);
const causesOf = (evidence: Partial<GatewayEvidence>, events: EventObject[] = []): string[] =>
  shown(gatewayCauses({ name, gateway: healthy, events: [], routes: [accepted], ...evidence }, events, now));

describe('the state of a Gateway', () => {
  const taken = (...conditions: ReportedCondition[]) =>
    gateway({ conditions, addresses: [address], listeners: [healthyListener] });

  it.each<[string, GatewayEvidence['gateway'], string[]]>([
    ['healthy', healthy, []],
    ['unreadable', undefined, []],
    ['missing', 'NotFound', ['Gateway infra/shared: does not exist: create it']],
    [
      'not served',
      'NotServed',
      [
        'Gateway infra/shared: the management cluster does not serve the Gateway API in version v1: install the Gateway API',
      ],
    ],
    ...(
      [
        ['new', [initial('Accepted'), initial('Programmed')]],
        ['without conditions', []],
      ] as const
    ).map(([state, conditions]): [string, GatewayObject, string[]] => [
      state,
      gateway({ conditions }),
      [
        'Gateway infra/shared: no controller has taken it: check that GatewayClass blue exists and that its controller runs',
      ],
    ]),
    [
      'refused',
      taken(no('Accepted', 'InvalidParameters', 'no such\nparameters'), yes('Programmed')),
      ['Gateway infra/shared: Accepted is False: InvalidParameters: no such parameters'],
    ],
    [
      'not decided yet by a controller that has seen it',
      taken({ ...initial('Accepted'), observedGeneration: 3 }, initial('Programmed')),
      [
        'Gateway infra/shared: Accepted is Unknown: Pending: Waiting for controller; Programmed is Unknown: Pending: Waiting for controller',
      ],
    ],
    [
      'accepted and not programmed yet',
      taken(yes('Accepted'), initial('Programmed')),
      ['Gateway infra/shared: Programmed is Unknown: Pending: Waiting for controller'],
    ],
    [
      'not programmed without reason and message',
      taken(yes('Accepted'), { type: 'Programmed', status: 'False' }),
      ['Gateway infra/shared: Programmed is False'],
    ],
    [
      'accepted with nothing else reported',
      taken(yes('Accepted')),
      ['Gateway infra/shared: the controller has not reported Programmed yet'],
    ],
    [
      'changed since its controller has seen it',
      taken(no('Accepted', 'Invalid', 'was bad', 2), yes('Programmed', 2)),
      ['Gateway infra/shared: the controller has not processed generation 3 yet (Accepted, Programmed)'],
    ],
    [
      'of a controller that reports no generation',
      taken({ type: 'Accepted', status: 'True' }, { type: 'Programmed', status: 'True' }),
      [],
    ],
    ['with other conditions that are False', taken(...works, no('example.org/Nice', 'No', '')), []],
    [
      'without an address',
      gateway({ conditions: works, listeners: [healthyListener] }),
      ['Gateway infra/shared: has no address yet: check that the load balancer of its controller gets one'],
    ],
    [
      'without an address because of a failure',
      gateway({ conditions: [yes('Accepted'), no('Programmed', 'AddressNotAssigned', 'no address')] }),
      ['Gateway infra/shared: Programmed is False: AddressNotAssigned: no address'],
    ],
  ])('is reported when it is %s', (_, object, expected) => {
    expect(causesOf({ gateway: object })).toEqual(expected);
  });

  it('has the newest warnings of its own namespace, after its listeners', () => {
    const broken = gateway({
      listeners: [listener('tls', no('Accepted', 'PortUnavailable', 'in use'))],
      conditions: works,
    });
    const about = { kind: Gateway.kind, name: name.name };
    const others = [warning(about, 'OfAnotherNamespace')];
    expect(causesOf({ gateway: broken, events: [warning(about, 'Failed')] }, others)).toEqual([
      'Gateway infra/shared',
      '  listener tls: Accepted is False: PortUnavailable: in use',
      '  Failed 3s ago: it fails',
    ]);
    expect(causesOf({ events: [warning(about, 'Failed')] })).toEqual([]);
  });
});

describe('the listeners of a Gateway', () => {
  const failing = (...listeners: NonNullable<Status['listeners']>) =>
    gateway({ conditions: works, addresses: [address], listeners });

  it.each<[string, ReportedCondition, string[]]>([
    [
      'a failure',
      no('ResolvedRefs', 'InvalidRouteKinds', 'no TLSRoute'),
      ['ResolvedRefs is False: InvalidRouteKinds: no TLSRoute'],
    ],
    [
      'a conflict',
      { ...no('Conflicted', 'HostnameConflict', 'twice'), status: 'True' },
      ['Conflicted is True: HostnameConflict: twice'],
    ],
    ['a failure of an older generation', no('Accepted', 'Old', '', 2), []],
    ['another condition', no('OverlappingTLSConfig', 'NoOverlap', ''), []],
  ])('add %s, if it keeps one from its work', (_, condition, expected) => {
    const lines = causesOf({ gateway: failing(listener('tls', condition)) });
    expect(lines).toEqual(
      expected.length === 0 ? [] : ['Gateway infra/shared', ...expected.map((text) => `  listener tls: ${text}`)],
    );
  });

  const bad = no('Accepted', 'Bad', '');
  const all = failing(listener('tls', bad), listener('tls-of-others', bad), listener('web', bad));
  it.each<[string, GatewayEvidence['routes'], string[]]>([
    ['those to which a route attaches', [accepted], ['tls']],
    ['those of protocol TLS while there is no route', [], ['tls', 'tls-of-others']],
    ['those of protocol TLS while no route is for the Gateway', [ofAnother], ['tls', 'tls-of-others']],
  ])('are %s', (_, routes, expected) => {
    const lines = causesOf({ gateway: all, routes });
    expect(lines).toEqual([
      'Gateway infra/shared',
      ...expected.map((one) => `  listener ${one}: Accepted is False: Bad`),
    ]);
  });
});

describe('the state of a route', () => {
  it.each<[string, TLSRouteObject, string[]]>([
    ['accepted', accepted, []],
    [
      'accepted by one of two controllers',
      route([no('Accepted', 'No', '')], [yes('Accepted'), yes('ResolvedRefs')]),
      [],
    ],
    [
      'not taken',
      route(),
      ['no controller has taken it: check that the controller of Gateway infra/shared runs and supports TLSRoutes'],
    ],
    [
      'rejected',
      route([no('Accepted', 'NotAllowedByListeners', 'not in the list'), yes('ResolvedRefs')]),
      [
        'Gateway infra/shared refuses it: NotAllowedByListeners: not in the list: allow TLSRoutes of this namespace in allowedRoutes of listener tls',
      ],
    ],
    [
      'without a backend',
      route([yes('Accepted'), no('ResolvedRefs', 'BackendNotFound', 'no s-c1')]),
      [
        'Gateway infra/shared refuses it: BackendNotFound: no s-c1: check the events and the status of Gateway infra/shared',
      ],
    ],
    [
      'not decided',
      route([{ ...no('Accepted', 'Pending', 'wait'), status: 'Unknown' }]),
      ['the controller has not reported ResolvedRefs yet; Accepted is Unknown: Pending: wait'],
    ],
    [
      'changed since its controllers have seen it',
      route([yes('Accepted', 2), yes('ResolvedRefs', 2)], [yes('Accepted', 2)]),
      ['the controller has not processed generation 3 yet (Accepted, ResolvedRefs)'],
    ],
    ['one of another Gateway', ofAnother, []],
  ])('is reported when it is %s', (_, object, expected) => {
    expect(causesOf({ routes: [object] })).toEqual(expected.map((text) => `TLSRoute c1-api: ${text}`));
  });

  it('has the newest warnings of its own namespace', () => {
    const about = { kind: TLSRoute.kind, name: 'c1-api' };
    const lines = causesOf({ routes: [route()], events: [warning(about, 'Elsewhere')] }, [warning(about, 'Failed')]);
    expect(lines.slice(1)).toEqual(['  Failed 3s ago: it fails']);
  });

  it.each<[string, GatewayEvidence['gateway'], number]>([
    ['of the Gateway alone, if that does not exist', 'NotFound', 0],
    ['of the Gateway alone, if none has taken that either', gateway({}), 0],
    ['if the Gateway may not be read', undefined, 1],
  ])('that no controller has taken is a cause %s', (_, object, expected) => {
    const lines = causesOf({ gateway: object, routes: [route()] });
    expect(lines.filter((line) => line.startsWith('TLSRoute'))).toHaveLength(expected);
  });

  it.each<[string, GatewayEvidence['gateway'], string]>([
    ['only routes are', healthy, 'the management cluster does not serve TLSRoute'],
    ['the whole API is', 'NotServed', 'the management cluster does not serve the Gateway API'],
  ])('is one sentence when %s not served', (_, object, expected) => {
    expect(causesOf({ gateway: object, routes: 'NotServed' })).toEqual([expect.stringContaining(expected)]);
  });
});
