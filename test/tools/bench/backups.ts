import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restorePaths } from '../../../constructs/control-plane/etcd/volume.ts';
import { EtcdProcesses } from '../../cluster/etcd/etcd-processes.ts';
import { settle } from '../../cluster/etcd/settle.ts';
import { startS3 } from '../../support/s3.ts';
import { findBinaries } from '../testbed/binaries.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { run } from '../testbed/run.ts';
import type { BackupJob, BackupMeasurement } from './backup-process.ts';
import { answerOf, ending, start } from './child-program.ts';
import { fill } from './etcd-data.ts';
import type { Extent } from './extent.ts';
import { type Figure, median, seconds } from './figure.ts';

const goal = { atLeast: 0.8 };

/** One backup and its restore, and the same by etcd's own tools; times in milliseconds. */
interface Round {
  readonly product: { readonly take: BackupMeasurement; readonly push: BackupMeasurement };
  readonly etcdTools: { readonly save: number; readonly restore: number };
}

/**
 * Backups as the operator takes and restores them, compared with etcd's own tools and the same data. Both sides
 * take turns, on the same disk, so that a busy machine slows both.
 */
export async function measureBackups({ runs, backupBytes }: Extent, report: (line: string) => void): Promise<Figure[]> {
  const cluster = await EtcdProcesses.start(1, 1, ['--quota-backend-bytes=4294967296']);
  const s3 = await startS3();
  const directory = await mkdtemp(join(tmpdir(), 'backups-'));
  try {
    await settle(cluster, 1);
    await fill(cluster, backupBytes);
    const rounds: Round[] = [];
    for (let number = 1; number <= runs; number += 1) {
      const round = await measureRound({ cluster, s3, directory });
      rounds.push(round);
      const { product, etcdTools } = round;
      report(
        `backup, run ${number} of ${runs}: taken in ${seconds(product.take.ms)} s, etcdctl ${seconds(etcdTools.save)} s; sent to a pod in ${seconds(product.push.ms)} s, etcdutl ${seconds(etcdTools.restore)} s`,
      );
    }
    return figuresOf(rounds, `${backupBytes / 2 ** 20} MiB`);
  } finally {
    await cluster.stop();
    await s3.stop();
    await rm(directory, { recursive: true });
  }
}

interface Place {
  readonly cluster: EtcdProcesses;
  readonly s3: Awaited<ReturnType<typeof startS3>>;
  readonly directory: string;
}

async function measureRound({ cluster, s3, directory }: Place): Promise<Round> {
  const { member, credentials } = cluster.access('etcd-0');
  const tools = await findBinaries(instanceFrom(process.env).cache, process.env['HCP_TESTBED_BIN'], () => {});
  const path = (name: string): string => join(directory, name);
  for (const [name, content] of Object.entries(credentials)) await writeFile(path(name), content);

  const save = await timed(tools['etcdctl'] ?? '', [
    `--endpoints=https://${member.address}`,
    ...['cacert', 'cert', 'key'].map((flag) => `--${flag}=${path(flag === 'cacert' ? 'ca' : flag)}`),
    'snapshot',
    'save',
    path('saved.db'),
  ]);
  const take = await answerOf<BackupMeasurement>('backup-process.ts', {
    kind: 'take',
    store: s3.settings,
    member,
    credentials,
  } satisfies BackupJob);

  await mkdir(path('volume'));
  const receiver = start('receiver-process.ts', {
    volume: path('volume'),
    run: '1',
    expected: take,
    port: 0,
    tls: credentials,
  });
  const ended = ending(receiver);
  const listening = new Promise((resolve) => receiver.stdout?.once('data', resolve));
  const port = Number(
    await Promise.race([listening, ended.then(() => Promise.reject(new Error('it never listened')))]),
  );
  const push = await answerOf<BackupMeasurement>('backup-process.ts', {
    kind: 'push',
    store: s3.settings,
    port,
    serverName: member.serverName,
    credentials,
  } satisfies BackupJob);
  await ended;
  const restore = await timed(tools['etcdutl'] ?? '', [
    'snapshot',
    'restore',
    restorePaths(path('volume'), '1').snapshot,
    `--data-dir=${path('restored')}`,
    '--bump-revision=1000000000',
    '--mark-compacted',
  ]);
  for (const left of ['saved.db', 'volume', 'restored']) await rm(path(left), { recursive: true });
  return { product: { take, push }, etcdTools: { save, restore } };
}

async function timed(program: string, args: readonly string[]): Promise<number> {
  const start = performance.now();
  await run([program, ...args]);
  return performance.now() - start;
}

function figuresOf(rounds: readonly Round[], size: string): Figure[] {
  const of = (value: (round: Round) => number): number => median(rounds.map(value));
  const rate = (value: (round: Round) => number): number =>
    of((round) => round.product.take.sizeBytes / 2 ** 20 / (value(round) / 1000));
  const memory = (key: 'take' | 'push'): number =>
    Math.max(...rounds.map(({ product }) => (product[key].peakBytes - product[key].restBytes) / 1e6));
  const memoryGoal = { atMost: 60 };
  return [
    {
      name: 'backup to S3: throughput / etcdctl snapshot save to a file',
      value: of(({ product, etcdTools }) => etcdTools.save / product.take.ms),
      unit: 'ratio',
      goal,
    },
    { name: 'backup to S3: throughput', value: rate(({ product }) => product.take.ms), unit: 'MiB/s' },
    {
      name: 'backup to S3: time of the main thread for each MiB',
      value: of(({ product: { take } }) => take.mainThreadMs / (take.sizeBytes / 2 ** 20)),
      unit: 'ms',
      goal: { atMost: 0.2 },
    },
    { name: 'etcdctl snapshot save: throughput', value: rate(({ etcdTools }) => etcdTools.save), unit: 'MiB/s' },
    {
      name: 'restore, from S3 to the volume: throughput / etcdutl snapshot restore',
      value: of(({ product, etcdTools }) => etcdTools.restore / product.push.ms),
      unit: 'ratio',
      goal,
    },
    {
      name: 'restore, from S3 to the volume: throughput',
      value: rate(({ product }) => product.push.ms),
      unit: 'MiB/s',
    },
    { name: 'etcdutl snapshot restore: throughput', value: rate(({ etcdTools }) => etcdTools.restore), unit: 'MiB/s' },
    {
      name: `memory of the operator above rest, upload of ${size}`,
      value: memory('take'),
      unit: 'MB',
      goal: memoryGoal,
    },
    {
      name: `memory of the operator above rest, restore of ${size}`,
      value: memory('push'),
      unit: 'MB',
      goal: memoryGoal,
    },
  ];
}
