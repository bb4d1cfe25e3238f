import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { CertificateStatus } from '../../../constructs/api/certificate-status.ts';
import { HostedControlPlane, PersistentVolumeClaim, Pod, ResourceQuota } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { HostedControlPlaneObject } from '../../../reconciler/clusters/management/hosted-control-plane-object.ts';
import { overviewOf } from '../../../reconciler/cli/overview.ts';
import { status } from '../../../reconciler/cli/status.ts';
import { describeStatus } from '../../../reconciler/cli/status/description.ts';
import { workersOf } from '../../../reconciler/cli/status/workers.ts';
import { commandSession } from '../../support/loop/command-session.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, orderedCluster } from '../../support/loop/scenario.ts';
import { kubectlGet } from '../../support/printed-columns.ts';
import { markedView } from '../../support/marked-view.ts';
import { clusterName, namespace } from '../../support/scope.ts';
import { until } from '../../support/until.ts';

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

const reportOf = (object: HostedControlPlaneObject) => ({
  ...overviewOf(object),
  causes: [],
  workers: workersOf([]),
  unknown: [],
});

const described = ({ hostedControlPlane, clock }: MemoryCluster, hasSteps = false) =>
  describeStatus(reportOf(hostedControlPlane), { now: clock.now(), hasSteps });

/** Runs the command, and returns what it printed. @throws what it throws, after that */
async function run(cluster: MemoryCluster, printed: string[], values = {}): Promise<void> {
  const { session } = commandSession(cluster, status);
  const terminal = { ...session.terminal, print: (line: string) => void printed.push(line) };
  await status.prepare({ positionals: [clusterName], values })({ ...session, terminal });
}

describe('hcp status', () => {
  it('says in twelve lines that all is well', async () => {
    const printed: string[] = [];
    await run(complete, printed);
    expect(printed).toEqual(described(complete));
    expect(printed.length).toBeLessThanOrEqual(12);
    const text = printed.join('\n');
    expect(text).toMatch(/^Cluster +\S+\/c1$/m);
    expect(text).toMatch(/^API servers +2 of 2 ready$/m);
    expect(text).toMatch(/^etcd +3 of 3 ready, 3 of 3 vote$/m);
    expect(text).toMatch(/^Workers +no Machines; Nodes that joined without one are not counted$/m);
    expect(text).toMatch(/^Backups +off$/m);
    expect(text).toMatch(/^Ready$/m);
    expect(text).not.toContain('next:');
  });

  it('shows every step and component with --steps, and tells those apart that the spec does not ask for', async () => {
    const printed: string[] = [];
    await run(complete, printed, { steps: true });
    expect(printed).toEqual(described(complete, true));
    const text = printed.join('\n');
    expect(text).toMatch(/^COMPONENT +READY +VERSION +WAITS FOR$/m);
    expect(text).toMatch(/^api-server +2\/2 +v1\.36\.3$/m);
    expect(text).toMatch(/^EtcdClusterReady +ok +\d+s$/m);
    for (const type of ['EtcdBackupReady', 'EtcdBackupVerified', 'EtcdRestoreReady', 'AuditReady', 'KubeconfigsReady'])
      expect(text).toMatch(new RegExp(`^${type} +off +\\d+s$`, 'm'));
  });

  it('names the one step that blocks, in its own words, and the next command', async () => {
    const cluster = complete.copy();
    const operator = await OperatorProcess.start(cluster);
    await operator.untilSettled();
    for (const resource of [Pod, PersistentVolumeClaim])
      for (const object of cluster.objects.list(resource, selectorLabels(clusterName, 'etcd')))
        cluster.objects.remove(object);
    for (let seconds = 0; seconds < 60; seconds += 30) {
      await cluster.clock.advance(30_000);
      await operator.untilObserved();
      await operator.reconcile();
    }
    await operator.stop();
    const text = described(cluster).join('\n');
    expect(text).toMatch(
      /^Not Ready for \d+s: EtcdClusterHealthy is DataLost\n {2}\S.*\n {2}next: hcp backups c1 -n /m,
    );
    expect(text).toMatch(/^EtcdClusterReady +waits +\d+s +WaitingForMembers$/m);
    const [, line = ''] = kubectlGet(cluster.hostedControlPlane, cluster.clock.now());
    expect(line).toMatch(/^\S+ +DataLost +v1/);
  });

  it('shows until when certificates are valid, and who renews them', async () => {
    const text = described(complete, true).join('\n');
    expect(text).toMatch(/^CERTIFICATES +EXPIRE IN +RENEWED IN +FIRST OF THEM +RENEWAL IS LATE$/m);
    expect(text).toMatch(/^ClusterCA +36\d\dd +\d+d +c1-ca$/m);
    expect(text).toMatch(/^Server +36\dd +\d+d +c1-\S+$/m);
    const { hostedControlPlane: object } = complete;
    const certificates: CertificateStatus[] = [
      { kind: 'ClusterCA', notAfter: '2000-01-01T00:00:00Z', secret: 'c1-ca', expiring: ['c1-ca'] },
    ];
    const own: HostedControlPlaneObject = {
      ...object,
      status: { ...(object as HostedControlPlaneObject).status, certificates },
    };
    const lines = describeStatus(reportOf(own), { now: complete.clock.now() }, markedView).join('\n');
    expect(lines).toMatch(/^ClusterCA +<fails>expired \d+d ago<\/fails> +by its user +c1-ca +<fails>c1-ca<\/fails>$/m);
  });

  it.each([
    ['json', (text: string): unknown => JSON.parse(text)],
    ['yaml', (text: string): unknown => parse(text)],
  ])('prints all of it for programs as %s, without a secret', async (output, read) => {
    const cluster = complete.copy();
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace, name: 'full' } };
    await cluster.user.create({ ...quota, spec: { hard: { pods: '1' } } }, { fieldManager: 'test' });
    await cluster.user.mergePatch(
      ResourceQuota,
      quota.metadata,
      { status: { hard: { pods: '1' }, used: { pods: '1' } } },
      { fieldManager: 'test', subresource: 'status' },
    );
    const printed: string[] = [];
    await run(cluster, printed, { output });
    const report = read(printed.join('\n')) as Record<string, unknown>;
    expect(report).toMatchObject({
      cluster: clusterName,
      ready: true,
      blocker: null,
      causes: [{ text: 'ResourceQuota full is used up: pods 1', causes: [] }],
      unknown: [],
    });
    expect(report['steps']).toContainEqual(expect.objectContaining({ type: 'EtcdClusterReady', state: 'ok' }));
    expect((report['certificates'] as object[]).length).toBeGreaterThan(5);
    expect(printed.join('\n')).not.toContain('PRIVATE KEY');
  });

  it('draws the bring-up alone, also of one that is not available', async () => {
    const printed: string[] = [];
    await run(complete, printed, { svg: true });
    expect(printed.join('\n')).toMatch(
      /^<svg xmlns="[^"]+" width="720" [^]*Bring-up of team\/c1: the API server answered after [^]*<\/svg>$/,
    );
    await expect(run(await orderedCluster(), printed, { svg: true })).rejects.toThrow('nothing is reported of c1 yet');
  });

  it('refuses, beside the picture, what would not change it', () => {
    const values = { svg: true, steps: true, output: 'json' };
    expect(() => status.prepare({ positionals: [clusterName], values })).toThrow(
      '--svg prints one picture, without --steps and --output: leave one of them out',
    );
    expect(() => status.prepare({ positionals: [clusterName], values: { svg: true, watch: true } })).toThrow(
      'without --watch',
    );
  });

  it('fails while the API server is not available, after it has said why', async () => {
    const cluster = await orderedCluster();
    const operator = await OperatorProcess.start(cluster);
    await operator.reconcile();
    await operator.stop();
    const printed: string[] = [];
    await expect(run(cluster, printed)).rejects.toThrow('the API server of c1 is not available');
    expect(printed.join('\n')).toMatch(/^Not Ready for \d+s: \w+ is \w+$/m);
  });

  it('with --watch shows it again after each change of its status, until it is deleted', async () => {
    const cluster = complete.copy();
    const printed: string[] = [];
    const watching = run(cluster, printed, { watch: true });
    await until('the first one', () => printed.length > 0);
    const options = { fieldManager: 'test', subresource: 'status' };
    await cluster.user.mergePatch(HostedControlPlane, ourName, { status: { readyReplicas: 1 } }, options);
    await until('the change', () => printed.some((line) => /^API servers +1 of 2 ready$/.test(line)));
    expect(printed.filter((line) => line.startsWith('Cluster '))).toHaveLength(2);
    cluster.management.store.remove(cluster.hostedControlPlane);
    await expect(watching).rejects.toThrow('the control plane of c1 was deleted');
  });

  it('says of a control plane that no operator has seen that nothing is reported', async () => {
    expect(described(await orderedCluster()).join('\n')).toContain('nothing is reported yet: does the operator run?');
  });
});
