import type { HostedControlPlaneObject } from '../../../../reconciler/clusters/management/hosted-control-plane-object.ts';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { overviewOf } from '../../../../reconciler/cli/overview.ts';
import { describeStatus } from '../../../../reconciler/cli/status/description.ts';
import type { Cause } from '../../../../reconciler/cli/status/warnings.ts';
import type { View } from '../../../../reconciler/cli/view.ts';
import { markedView, narrowView } from '../../../support/marked-view.ts';
import { hostedControlPlaneObject } from '../../../support/scope.ts';

const now = Date.parse('2026-11-26T12:00:00Z');

const condition = (type: string, status: string, reason: string, message = '') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: new Date(now - 120_000).toISOString(),
});

const words = 'pod c1-scheduler-x: container kube-scheduler ended with exit code 1: unknown flag: --no-such-flag';
const refused = 'the bucket refuses the access key of Secret etcd-backup: set one that it knows';

const object = {
  ...hostedControlPlaneObject(),
  status: {
    components: [
      { name: 'etcd', replicas: 3, readyReplicas: 3, version: '3.6.8' },
      { name: 'scheduler', replicas: 2, readyReplicas: 1, version: 'v1.36.3', message: words },
    ],
    conditions: [
      condition('CACertificatesReady', 'True', 'Succeeded'),
      condition('SchedulerReady', 'False', 'PodsFailing', words),
      condition('EtcdBackupReady', 'False', 'BackupSecretInvalid', refused),
      condition('WorkloadSetupReady', 'False', 'WaitingForOtherPhases'),
      condition('RollingOut', 'True', 'RollingOut', 'one of two schedulers runs with the flags of the spec'),
      condition('Ready', 'False', 'PodsFailing', words),
    ],
  },
} as unknown as HostedControlPlaneObject;

const described = (one: HostedControlPlaneObject, view?: View, causes: readonly Cause[] = []) =>
  describeStatus({ ...overviewOf(one), causes, workers: null, unknown: [] }, { now }, view);

const long = (lines: readonly string[]) => lines.filter((line) => line.length > 60);

describe('the status of a control plane', () => {
  it('has messages wrapped to the terminal, each under its beginning', () => {
    const lines = described(object, narrowView(60));
    expect(lines.slice(lines.findIndex((line) => line.startsWith('RollingOut ')))).toEqual([
      'RollingOut     one of two schedulers runs with the flags of',
      '               the spec',
      '',
      'Not Ready for 2m: SchedulerReady is PodsFailing',
      '  pod c1-scheduler-x: container kube-scheduler ended with',
      '  exit code 1: unknown flag: --no-such-flag',
      '  blocks 1 further step',
      '  next: kubectl -n team get pods -l cluster.x-k8s.io/cluster-name=c1',
      '',
      'EtcdBackupReady: the bucket refuses the access key of Secret',
      '  etcd-backup: set one that it knows',
      '',
      'COMPONENT   READY   VERSION   WAITS FOR',
      'etcd        3/3     3.6.8',
      'scheduler   1/2     v1.36.3   pod c1-scheduler-x: container…',
      '',
      'STEP              STATE   FOR   REASON',
      'EtcdBackupReady   fails   2m    BackupSecretInvalid',
      'SchedulerReady    fails   2m    PodsFailing',
    ]);
  });

  it('says of what a user has asked for that it is so, since when, and the way out of it', () => {
    const told = (...conditions: ReturnType<typeof condition>[]) => {
      const lines = described({ ...object, status: { conditions } } as HostedControlPlaneObject);
      return lines.slice(lines.indexOf('') + 1);
    };
    const asleep = [
      condition('Awake', 'False', 'Hibernated', 'no component runs'),
      condition('EtcdClusterReady', 'False', 'Hibernated'),
      condition('SchedulerReady', 'False', 'WaitingForOtherPhases'),
      condition('Ready', 'False', 'Hibernated'),
    ];
    expect(told(...asleep)).toEqual(['c1 hibernates since 2m', '  next: hcp wake c1 -n team']);
    const paused = condition('Paused', 'True', 'Paused', 'the annotation is set');
    const way = ['c1 is paused since 2m: everything here is of the time before', '  next: hcp resume c1 -n team'];
    expect(told(paused, condition('Ready', 'True', 'Ready'))).toEqual(way);
    expect(
      told(
        paused,
        condition('SchedulerReady', 'False', 'PodsFailing', words),
        condition('Ready', 'False', 'PodsFailing'),
      ),
    ).toEqual([
      ...way,
      'Not Ready for 2m: SchedulerReady is PodsFailing',
      `  ${words}`,
      '  next: kubectl -n team get pods -l cluster.x-k8s.io/cluster-name=c1',
      '',
      'STEP             STATE   FOR   REASON',
      'SchedulerReady   fails   2m    PodsFailing',
    ]);
  });

  it('says beside Ready what does not work, and what of the spec has no effect', () => {
    const conditions = [
      condition('SpecSupported', 'False', 'Overruled', 'etcd-servers has no effect'),
      condition('EtcdBackupReady', 'False', 'BackupSecretInvalid', refused),
      condition('Ready', 'True', 'Ready'),
    ];
    const lines = described({ ...object, status: { conditions } } as HostedControlPlaneObject, markedView);
    expect(lines).toEqual(
      expect.arrayContaining([
        '<waits>Ready, backups fail, 1 more</waits>',
        '<ignored>SpecSupported</ignored>: etcd-servers has no effect',
        `<fails>EtcdBackupReady</fails>: ${refused}`,
      ]),
    );
  });

  it('says what of the spec is not applied, why, and since when', () => {
    const since = new Date(now - 300_000).toISOString();
    const because = 'the change of Kubernetes 1.36 to 1.37 waits for its checks';
    const held = [
      { field: 'version', because, since },
      { field: 'spec', because: refused, since },
    ];
    const lines = described({ ...object, status: { ...object.status, held } });
    expect(lines.filter((line) => line.startsWith('Held '))).toEqual([
      `Held           spec.version for 5m: ${because}`,
      `Held           spec for 5m: ${refused}`,
    ]);
  });

  it('has what is behind the blocker below it, or below Ready', () => {
    const causes = [{ text: 'Pod c1-scheduler-x', causes: [{ text: 'BackOff 12s ago: back-off', causes: [] }] }];
    const tree = ['└ Pod c1-scheduler-x', '  └ BackOff 12s ago: back-off', ''];
    const lines = described(object, undefined, causes);
    const next = lines.findIndex((line) => line.startsWith('  next: '));
    expect(lines.slice(next + 1, next + 4)).toEqual(tree);
    const ready = {
      ...object,
      status: { conditions: [condition('Ready', 'True', 'Ready')] },
    } as HostedControlPlaneObject;
    expect(described(ready, undefined, causes)).toEqual(expect.arrayContaining(['Ready', ...tree]));
  });

  it('keeps the next command in one line, because a person copies it', () => {
    const next = described(object, narrowView(30)).find((line) => line.startsWith('  next: '));
    expect(next).toBe('  next: kubectl -n team get pods -l cluster.x-k8s.io/cluster-name=c1');
  });

  it('has every message in one line where there is no terminal', () => {
    const lines = described(object);
    expect(long(lines)).toEqual([
      'RollingOut     one of two schedulers runs with the flags of the spec',
      `  ${words}`,
      expect.stringContaining('  next: '),
      `EtcdBackupReady: ${refused}`,
      `scheduler   1/2     v1.36.3   ${words}`,
    ]);
  });

  it('is painted by its meaning', () => {
    const text = described(object, markedView).join('\n');
    expect(text).toMatch(/^<fails>Not Ready<\/fails> for 2m: /m);
    expect(text).toMatch(/^<heading>STEP<\/heading> +<heading>STATE<\/heading>/m);
    expect(text).toMatch(/^etcd +<ok>3\/3<\/ok>/m);
    expect(text).toMatch(/^scheduler +<waits>1\/2<\/waits>/m);
    expect(text).toMatch(/^SchedulerReady +<fails>fails<\/fails>/m);
    expect(text).toMatch(/^<fails>EtcdBackupReady<\/fails>: the bucket/m);
  });

  it('is green when it is Ready, and dim when nothing is known', () => {
    const ready = {
      ...object,
      status: { conditions: [condition('Ready', 'True', 'Ready')] },
    } as HostedControlPlaneObject;
    expect(described(ready, markedView)).toContain('<ok>Ready</ok>');
    const unseen = { ...object, status: { observedGeneration: -1 } };
    expect(described(unseen, markedView).join('\n')).toContain('<unknown>nothing is reported yet');
  });

  it('has the same lines with colours as without them', () => {
    const coloured = { width: 60, paint: (_: string, text: string) => `\u001B[31m${text}\u001B[39m` };
    const lines = described(object, coloured);
    expect(lines.map((line) => stripVTControlCharacters(line))).toEqual(described(object, narrowView(60)));
  });
});
