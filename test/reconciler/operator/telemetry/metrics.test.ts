import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { HostedControlPlaneStatus } from '../../../../constructs/api/status.ts';
import { releaseVersion } from '../../../../constructs/provider/release.ts';
import { newestRevision } from '../../../../constructs/cluster/release-revisions.ts';
import { Metrics, type MetricsSources } from '../../../../reconciler/operator/telemetry/metrics.ts';
import { serveMetrics } from '../../../../reconciler/operator/http-servers.ts';
import { hostedControlPlaneObject } from '../../../support/scope.ts';

const nothing: MetricsSources = {
  hostedControlPlanes: () => [],
  queueDepth: () => 0,
  runningWork: () => 0,
  clockOffsetMs: () => 1500,
};

const condition = (type: string, status: 'True' | 'False' | 'Unknown') => ({
  type,
  status,
  reason: 'Any',
  message: 'Secret team/x holds -----BEGIN',
  lastTransitionTime: '2026-11-21T12:00:00Z',
});

const status: Partial<HostedControlPlaneStatus> = {
  certificates: [
    { kind: 'ClusterCA', notAfter: '2036-11-18T12:00:00Z', secret: 'c1-ca' },
    { kind: 'Server', notAfter: '2027-11-21T12:00:00Z', secret: 'c1-apiserver', renewsAt: '2027-06-01T00:00:00Z' },
  ],
  conditions: [condition('Ready', 'False'), condition('SomebodyElses', 'True')],
  releaseRevision: 1,
};

/** Lines of one metric without its explanation, sorted. */
async function lines(metrics: Metrics, name: string): Promise<string[]> {
  const text = await metrics.text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`hosted_control_plane_${name}`))
    .map((line) => line.slice('hosted_control_plane_'.length))
    .sort();
}

describe('the metrics', () => {
  it('contain when certificates expire and are renewed, and the status of conditions', async () => {
    const metrics = new Metrics({ ...nothing, hostedControlPlanes: () => [{ ...hostedControlPlaneObject(), status }] });
    const object = 'namespace="team",name="c1-x7k2p"';
    expect(await lines(metrics, 'certificate_')).toEqual([
      `certificate_expiration_timestamp_seconds{${object},kind="ClusterCA"} ${Date.UTC(2036, 10, 18, 12) / 1000}`,
      `certificate_expiration_timestamp_seconds{${object},kind="Server"} ${Date.UTC(2027, 10, 21, 12) / 1000}`,
      `certificate_renewal_timestamp_seconds{${object},kind="Server"} ${Date.UTC(2027, 5, 1) / 1000}`,
    ]);
    expect(await lines(metrics, 'condition')).toEqual([
      `condition{${object},type="Ready",status="False"} 1`,
      `condition{${object},type="Ready",status="True"} 0`,
      `condition{${object},type="Ready",status="Unknown"} 0`,
    ]);
    expect(await lines(metrics, 'release_revision')).toEqual([`release_revision{${object}} 1`]);
    expect(await lines(metrics, 'newest_release_revision')).toEqual([`newest_release_revision ${newestRevision}`]);
  });

  it('contain other conditions only while they are not what they usually are', async () => {
    const conditions = [
      condition('CertificatesReady', 'True'),
      condition('EtcdClusterHealthy', 'False'),
      condition('EtcdBackupReady', 'Unknown'),
      condition('Paused', 'False'),
      condition('Quarantined', 'True'),
    ];
    const metrics = new Metrics({
      ...nothing,
      hostedControlPlanes: () => [{ ...hostedControlPlaneObject(), status: { conditions } }],
    });
    const object = 'namespace="team",name="c1-x7k2p"';
    expect(await lines(metrics, 'condition')).toEqual([
      `condition{${object},type="EtcdBackupReady",status="Unknown"} 1`,
      `condition{${object},type="EtcdClusterHealthy",status="False"} 1`,
      `condition{${object},type="Quarantined",status="True"} 1`,
    ]);
  });

  it('tell apart what a control plane is, and take nothing for a proof that the spec does not ask for', async () => {
    const stateWith = async (...conditions: ReturnType<typeof condition>[]): Promise<string[]> => {
      const hostedControlPlane = { ...hostedControlPlaneObject(), status: { conditions } };
      const metrics = new Metrics({ ...nothing, hostedControlPlanes: () => [hostedControlPlane] });
      return [...(await lines(metrics, 'state')), ...(await lines(metrics, 'condition'))];
    };
    const object = 'namespace="team",name="c1-x7k2p"';
    const ready = condition('Ready', 'True');
    expect(await stateWith(ready, { ...condition('EtcdBackupReady', 'True'), reason: 'NotRequested' })).toEqual([
      `state{${object},state="ready"} 1`,
      `condition{${object},type="Ready",status="False"} 0`,
      `condition{${object},type="Ready",status="True"} 1`,
      `condition{${object},type="Ready",status="Unknown"} 0`,
    ]);
    expect(await stateWith(ready, condition('Paused', 'True'))).toContain(`state{${object},state="paused"} 1`);
    expect(await stateWith()).toEqual([]);
  });

  it('follow a new version of an object, and escape what others may have written', async () => {
    const objects = [{ ...hostedControlPlaneObject(), status: { version: 'v1.36.3' } }];
    const metrics = new Metrics({ ...nothing, hostedControlPlanes: () => objects });
    const object = 'namespace="team",name="c1-x7k2p"';
    expect(await lines(metrics, 'info')).toEqual([`info{${object},version="v1.36.3"} 1`]);
    objects[0] = { ...hostedControlPlaneObject(), status: { version: 'a"b\\c\nd' } };
    expect(await lines(metrics, 'info')).toEqual([`info{${object},version="a\\"b\\\\c\\nd"} 1`]);
  });

  it('explain each metric once, also without an object', async () => {
    const text = await new Metrics(nothing).text();
    expect(text.match(/^# TYPE hosted_control_plane_condition gauge$/gm)).toHaveLength(1);
    expect(text.endsWith('\n')).toBe(true);
    expect(text).not.toContain('\n\n\n');
  });

  it('contain what backups, etcd and the components are like', async () => {
    const reported: Partial<HostedControlPlaneStatus> = {
      version: 'v1.36.3',
      etcdLastBackupTime: '2026-11-21T12:00:00Z',
      etcdVolumeSize: '4Gi',
      etcd: {
        quotaPercent: 25,
        members: [
          { name: 'c1-etcd-0', role: 'Leader' },
          { name: 'c1-etcd-1', role: 'Follower' },
          { name: 'c1-etcd-2', role: 'Follower' },
        ],
      },
      components: [{ name: 'scheduler', ready: false, replicas: 2, readyReplicas: 1 }],
    };
    const metrics = new Metrics({
      ...nothing,
      hostedControlPlanes: () => [{ ...hostedControlPlaneObject(), status: reported }],
    });
    const object = 'namespace="team",name="c1-x7k2p"';
    expect(await lines(metrics, 'info')).toEqual([`info{${object},version="v1.36.3"} 1`]);
    expect(await lines(metrics, 'last_backup')).toEqual([
      `last_backup_timestamp_seconds{${object}} ${Date.UTC(2026, 10, 21, 12) / 1000}`,
    ]);
    expect(await lines(metrics, 'etcd_')).toEqual([
      `etcd_members{${object},role="Follower"} 2`,
      `etcd_members{${object},role="Leader"} 1`,
      `etcd_quota_used_ratio{${object}} 0.25`,
      `etcd_volume_size_bytes{${object}} ${4 * 1024 ** 3}`,
    ]);
    expect(await lines(metrics, 'component_')).toEqual([
      `component_ready_replicas{${object},component="scheduler"} 1`,
      `component_replicas{${object},component="scheduler"} 2`,
    ]);
    expect(await lines(metrics, 'build_info')).toEqual([`build_info{version="${releaseVersion}"} 1`]);
  });

  it.each([
    [{ schedule: '@daily' }, ['86400']],
    [{ schedule: '0 3 * * 1-5', timeZone: 'Europe/Berlin' }, [String(72 * 3600)]],
    [{ schedule: '0 3 30 2 *' }, []],
    [undefined, []],
  ])('contain the period of the backups %j', async (backup, expected) => {
    const object = { ...hostedControlPlaneObject(), spec: { etcd: { backup } }, status: {} };
    const metrics = new Metrics({ ...nothing, hostedControlPlanes: () => [object] });
    const found = await lines(metrics, 'backup_period');
    expect(found.map((line) => line.split(' ')[1])).toEqual(expected);
  });

  it('contain how far the clock is ahead, once that is known', async () => {
    expect(await lines(new Metrics(nothing), 'clock')).toEqual(['clock_offset_seconds 1.5']);
    const [unknown] = await lines(new Metrics({ ...nothing, clockOffsetMs: () => undefined }), 'clock');
    expect(unknown).toMatch(/^clock_offset_seconds nan$/i);
  });

  it('have no sample for what is not known', async () => {
    const metrics = new Metrics({
      ...nothing,
      hostedControlPlanes: () => [{ ...hostedControlPlaneObject(), status: {} }],
    });
    expect(await metrics.text()).not.toContain('c1-x7k2p');
  });

  it('forget an object that is gone', async () => {
    const objects = [
      { ...hostedControlPlaneObject(), status },
      { ...hostedControlPlaneObject(), status: {} },
    ];
    const metrics = new Metrics({ ...nothing, hostedControlPlanes: () => objects });
    expect(await metrics.text()).toContain('kind="Server"');
    objects.splice(0);
    expect(await metrics.text()).not.toContain('c1-x7k2p');
  });

  it('count requests by cluster, verb and result', async () => {
    const metrics = new Metrics(nothing);
    metrics.requested('management', { verb: 'apply', code: 200 });
    metrics.requested('management', { verb: 'apply', code: 200 });
    metrics.requested('hosted', { verb: 'list', code: 0 });
    expect(await lines(metrics, 'api_requests_total')).toEqual([
      'api_requests_total{cluster="hosted",verb="list",code="<error>"} 1',
      'api_requests_total{cluster="management",verb="apply",code="200"} 2',
    ]);
  });

  it('count reconciles by result and duration', async () => {
    const metrics = new Metrics(nothing);
    metrics.reconciled('success', 20);
    metrics.reconciled('error', 2000);
    const counted = await lines(metrics, 'reconcile_duration_seconds');
    expect(counted).toEqual(
      expect.arrayContaining([
        'reconcile_duration_seconds_bucket{le="0.025",result="success"} 1',
        'reconcile_duration_seconds_bucket{le="1",result="error"} 0',
        'reconcile_duration_seconds_count{result="error"} 1',
        'reconcile_duration_seconds_sum{result="error"} 2',
      ]),
    );
  });

  it('contain the queue depth and the running work', async () => {
    const metrics = new Metrics({ ...nothing, queueDepth: () => 3, runningWork: () => 2 });
    expect(await lines(metrics, 'workqueue_depth')).toEqual(['workqueue_depth 3']);
    expect(await lines(metrics, 'background_work_running')).toEqual(['background_work_running 2']);
  });

  it('contain no text of conditions, which other clients may have written', async () => {
    const metrics = new Metrics({ ...nothing, hostedControlPlanes: () => [{ ...hostedControlPlaneObject(), status }] });
    expect(await metrics.text()).not.toMatch(/BEGIN|SomebodyElses/);
  });
});

describe('the metrics server', () => {
  it('answers /metrics and nothing else', async () => {
    const server = await serveMetrics(0, new Metrics(nothing));
    try {
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const answer = await fetch(`${base}/metrics`);
      expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
      expect(await answer.text()).toContain('# TYPE hosted_control_plane_workqueue_depth gauge');
      expect((await fetch(`${base}/`)).status).toBe(404);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
