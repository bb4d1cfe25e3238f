import type { EventObject } from '../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { causesOf, type Evidence, tree } from '../../../../reconciler/cli/status/causes.ts';
import { warningsAbout } from '../../../../reconciler/cli/status/warnings.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();

const named = (apiVersion: string, kind: string, name: string) => ({ apiVersion, kind, metadata: { name } });
const pod = {
  ...named('v1', 'Pod', 'c1-scheduler-x'),
  status: {
    containerStatuses: [
      {
        name: 'kube-scheduler',
        ready: false,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 1, message: 'unknown flag: --no-such-flag' } },
      },
    ],
  },
} as unknown as Evidence['pods'][number];
const backOff: EventObject = {
  ...named('events.k8s.io/v1', 'Event', 'e1'),
  type: 'Warning',
  reason: 'BackOff',
  note: 'Back-off restarting\nfailed container',
  regarding: { kind: 'Pod', name: 'c1-scheduler-x' },
  series: { count: 5, lastObservedTime: ago(12) },
};
const none: Evidence = {
  deployments: [],
  pods: [],
  claims: [],
  services: [],
  ingresses: [],
  events: [],
  quotas: [],
};

const shown = (evidence: Evidence, width?: number) => tree(causesOf(evidence, now), width);

describe('what is behind the state of a control plane', () => {
  it('leads to the pod and its newest warnings', () => {
    expect(shown({ ...none, pods: [pod], events: [backOff] })).toEqual([
      '└ Pod c1-scheduler-x: container kube-scheduler ended with exit code 1: unknown flag: --no-such-flag',
      '  └ BackOff 12s ago, 5 times: Back-off restarting failed container',
    ]);
  });

  it('is wrapped to the terminal, with the lines of the tree going on', () => {
    const other = { ...pod, metadata: { name: 'c1-scheduler-y' } };
    const evidence = { ...none, pods: [pod, other], events: [backOff] };
    expect(shown(evidence, 50)).toEqual([
      '├ Pod c1-scheduler-x: container kube-scheduler',
      '│ ended with exit code 1: unknown flag:',
      '│ --no-such-flag',
      '│ └ BackOff 12s ago, 5 times: Back-off restarting',
      '│   failed container',
      '└ Pod c1-scheduler-y: container kube-scheduler',
      '  ended with exit code 1: unknown flag:',
      '  --no-such-flag',
    ]);
  });

  it('names a quota that is used up, and no other one', () => {
    const quota = (name: string, used: string) => ({
      ...named('v1', 'ResourceQuota', name),
      status: { hard: { pods: '3', cpu: '4' }, used: { pods: used, cpu: '1' } },
    });
    const lines = shown({ ...none, quotas: [quota('full', '3'), quota('half', '2')] });
    expect(lines).toContain('└ ResourceQuota full is used up: pods 3');
    expect(lines.join('\n')).not.toContain('half');
  });

  it('names a volume that is not provided, with what its provisioner says', () => {
    const claim = { ...named('v1', 'PersistentVolumeClaim', 'etcd-data-c1-etcd-0'), status: { phase: 'Pending' } };
    const event: EventObject = {
      ...backOff,
      reason: 'ProvisioningFailed',
      note: 'storageclass "fast" not found',
      regarding: { kind: 'PersistentVolumeClaim', name: 'etcd-data-c1-etcd-0' },
      series: { lastObservedTime: ago(3) },
    };
    expect(shown({ ...none, claims: [claim], events: [event] })).toEqual(
      expect.arrayContaining([
        '└ PersistentVolumeClaim etcd-data-c1-etcd-0: has no volume yet',
        '  └ ProvisioningFailed 3s ago: storageclass "fast" not found',
      ]),
    );
  });

  const warningOf = (kind: string, name: string, reason: string, note: string): EventObject => ({
    ...backOff,
    reason,
    note,
    regarding: { kind, name },
    series: { lastObservedTime: ago(3) },
  });

  it('names a load balancer without an address, with what its implementation says, and no other Service', () => {
    const service = (name: string, type: string, ...ingress: object[]) =>
      ({ ...named('v1', 'Service', name), spec: { type }, status: { loadBalancer: { ingress } } }) as const;
    const services = [
      service('s-c1', 'LoadBalancer'),
      service('has-one', 'LoadBalancer', { ip: '192.0.2.1' }),
      service('needs-none', 'ClusterIP'),
    ];
    const events = [
      warningOf('Service', 's-c1', 'SyncLoadBalancerFailed', 'no free address'),
      warningOf('Service', 'needs-none', 'FailedToUpdateEndpointSlices', 'conflict'),
    ];
    expect(shown({ ...none, services, events })).toEqual([
      '└ Service s-c1: has no address yet',
      '  └ SyncLoadBalancerFailed 3s ago: no free address',
    ]);
  });

  it('names an Ingress about which its controller warns, and no other one', () => {
    const ingresses = ['c1-api', 'c1-konnectivity'].map((name) => named('networking.k8s.io/v1', 'Ingress', name));
    const events = [warningOf('Ingress', 'c1-api', 'Rejected', 'the host is taken')];
    expect(shown({ ...none, ingresses, events })).toEqual([
      '└ Ingress c1-api',
      '  └ Rejected 3s ago: the host is taken',
    ]);
  });

  it('includes a Gateway that does not exist, before the quotas', () => {
    const gateway = {
      name: { namespace: 'infra', name: 'shared' },
      gateway: 'NotFound',
      events: [],
      routes: [],
    } as const;
    const quotas = [{ ...named('v1', 'ResourceQuota', 'full'), status: { hard: { pods: '3' }, used: { pods: '3' } } }];
    expect(shown({ ...none, gateway, quotas })).toEqual([
      '├ Gateway infra/shared: does not exist: create it',
      '└ ResourceQuota full is used up: pods 3',
    ]);
  });

  it('says each failure of a pod, with its name once', () => {
    const failing = (name: string) => ({ name, ready: false, state: { waiting: { reason: 'ImagePullBackOff' } } });
    const both = { ...pod, status: { containerStatuses: [failing('a'), failing('b')] } } as unknown as typeof pod;
    expect(shown({ ...none, pods: [both] })).toContain(
      '└ Pod c1-scheduler-x: container a: ImagePullBackOff; container b: ImagePullBackOff; check the tag, imageRegistry and imagePullSecrets',
    );
  });

  it('is no pod that has ended', () => {
    const ended = { ...pod, status: { phase: 'Succeeded' } };
    expect(shown({ ...none, pods: [ended] })).toEqual([]);
  });

  it('is nothing while all objects work', () => {
    expect(shown({ ...none })).toEqual([]);
  });
});

const texts = (...args: Parameters<typeof warningsAbout>) => warningsAbout(...args).map(({ text }) => text);

describe('the warnings about an object', () => {
  const about = { kind: 'Pod', name: 'c1-scheduler-x' };
  const at = (seconds: number, more: object = {}): EventObject => ({
    ...backOff,
    reason: `At${seconds}`,
    series: { lastObservedTime: ago(seconds) },
    ...more,
  });

  it('are the two newest ones', () => {
    expect(texts(about, [at(30), at(10), at(20)], now).map((text) => text.split(' ')[0])).toEqual(['At10', 'At20']);
  });

  it.each([
    ['of another object', { regarding: { kind: 'Pod', name: 'other' } }],
    ['that report something normal', { type: 'Normal' }],
  ])('are no events %s', (_, more) => {
    expect(texts(about, [at(1, more)], now)).toEqual([]);
  });

  it('may come from a client of the older API', () => {
    const { series: _, ...old } = at(1);
    expect(texts(about, [{ ...old, deprecatedCount: 3, deprecatedLastTimestamp: ago(7) }], now)).toEqual([
      'At1 7s ago, 3 times: Back-off restarting failed container',
    ]);
  });
});
