import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * About how many seconds the longest files take, for lanes that end at about the same time; others count as `otherSeconds`.
 * Wrong numbers cost time and nothing else.
 */
const seconds: Readonly<Record<string, number>> = {
  'test/cluster/access/modes.test.ts': 150,
  'test/cluster/backup/control-plane.test.ts': 290,
  'test/cluster/backup/upgrade.test.ts': 90,
  'test/cluster/backup/verification.test.ts': 120,
  'test/cluster/cli/operated.test.ts': 90,
  'test/cluster/etcd-pods/lost-data.test.ts': 90,
  'test/cluster/etcd-pods/members.test.ts': 300,
  'test/cluster/etcd-pods/operator-killed.test.ts': 200,
  'test/cluster/etcd-pods/volumes.test.ts': 180,
  'test/cluster/reconciler/encryption-at-rest.test.ts': 420,
  'test/cluster/reconciler/hosted.test.ts': 120,
  'test/cluster/reconciler/life.test.ts': 90,
  'test/cluster/restore/recovery.test.ts': 120,
  'test/cluster/restore/restore.test.ts': 150,
  'test/cluster/workers/ways-in.test.ts': 90,
  'test/system/disaster.test.ts': 190,
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
