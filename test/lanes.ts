import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * About how many seconds the longest files take, for lanes that end at about the same time; others count as `otherSeconds`.
 * Wrong numbers cost time and nothing else.
 */
export const seconds: Readonly<Record<string, number>> = {
  'test/cluster/access/modes.test.ts': 115,
  'test/cluster/backup/control-plane.test.ts': 50,
  'test/cluster/backup/patience.test.ts': 150,
  'test/cluster/backup/upgrade.test.ts': 90,
  'test/cluster/backup/verification.test.ts': 50,
  'test/cluster/certificates/hot-reload.test.ts': 405,
  'test/cluster/certificates/kubelet-serving.test.ts': 70,
  'test/cluster/certificates/refusals.test.ts': 50,
  'test/cluster/certificates/service-account-keys.test.ts': 240,
  'test/cluster/cli/hcp.test.ts': 45,
  'test/cluster/cli/operated.test.ts': 50,
  'test/cluster/etcd-pods/lost-data.test.ts': 110,
  'test/cluster/etcd-pods/members.test.ts': 210,
  'test/cluster/etcd-pods/operator-killed.test.ts': 70,
  'test/cluster/etcd-pods/volumes.test.ts': 130,
  'test/cluster/etcd/damaged.test.ts': 30,
  'test/cluster/etcd/members.test.ts': 35,
  'test/cluster/exposure/gateway.test.ts': 45,
  'test/cluster/exposure/ingress.test.ts': 40,
  'test/cluster/exposure/seed.test.ts': 40,
  'test/cluster/issuer/issuer.test.ts': 120,
  'test/cluster/issuer/worker.test.ts': 60,
  'test/cluster/kube/informer.test.ts': 25,
  'test/cluster/reconciler/ca-rotation.test.ts': 400,
  'test/cluster/reconciler/encryption-at-rest.test.ts': 425,
  'test/cluster/reconciler/faults.test.ts': 110,
  'test/cluster/reconciler/hosted.test.ts': 100,
  'test/cluster/reconciler/killed.test.ts': 50,
  'test/cluster/reconciler/life.test.ts': 25,
  'test/cluster/restore/recovery.test.ts': 160,
  'test/cluster/restore/restore.test.ts': 175,
  'test/cluster/workers/join.test.ts': 40,
  'test/cluster/workers/machine-deployments.test.ts': 40,
  'test/cluster/workers/refused-join.test.ts': 50,
  'test/cluster/workers/ways-in.test.ts': 120,
  'test/system/bootstrap-provider.test.ts': 85,
  'test/system/disaster.test.ts': 225,
  'test/system/operator-as-pod.test.ts': 130,
  'test/testbed/testbed.test.ts': 45,
};
const otherSeconds = 15;

/** These look at everything on the host, or bring up further testbeds: never two at a time. */
const together = /^test\/(testbed|system)\//;

/** Which lane, from 1 on, each file belongs to. The same files always give the same lanes. */
export function lanesOf(files: readonly string[], count: number): Map<string, number> {
  const lanes = new Map<string, number>();
  const loads = Array.from({ length: count }, () => 0);
  const put = (file: string, lane: number): void => {
    lanes.set(file, lane + 1);
    loads[lane] = (loads[lane] ?? 0) + secondsOf(file);
  };
  for (const file of files.filter((name) => together.test(name))) put(file, 0);
  const rest = files.filter((name) => !together.test(name));
  for (const file of rest.sort((a, b) => secondsOf(b) - secondsOf(a) || (a < b ? -1 : 1))) {
    put(file, loads.indexOf(Math.min(...loads)));
  }
  return lanes;
}

function secondsOf(file: string): number {
  return seconds[file] ?? otherSeconds;
}

/** What `--shard` means here: lanes of about the same length, instead of the same number of files. */
export class LaneSequencer extends BaseSequencer {
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, shard } = this.ctx.config;
    const nameOf = ({ moduleId }: TestSpecification) => relative(root, moduleId);
    const lanes = lanesOf(files.map(nameOf), shard?.count ?? 1);
    return files.filter((file) => lanes.get(nameOf(file)) === (shard?.index ?? 1));
  }
}
