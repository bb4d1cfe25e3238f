import { expect, it } from 'vitest';
import { SilentNodes } from '../../../reconciler/hosted/silent-nodes.ts';

const since = new Date('2026-11-21T12:00:00Z');
const joined = '2026-06-01T00:00:00Z';
const day = 24 * 3_600_000;

/** Nodes whose kubelets have last reported at these times; records which are read. */
function nodesThatReported(reports: Readonly<Record<string, string | undefined>>) {
  const read: string[] = [];
  const times = { ...reports };
  const silent = new SilentNodes(async (name) => {
    read.push(name);
    const conditions = [{ type: 'DiskPressure' }, { type: 'Ready', lastHeartbeatTime: times[name] }];
    return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions } };
  });
  const metadata = Object.keys(times).map((name) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-${name}`, creationTimestamp: joined },
  }));
  return { silent, metadata, read, times };
}

it('a Node that reported before and not since is silent, until it reports', async () => {
  const { silent, metadata, times } = nodesThatReported({ back: '2026-11-21T12:00:10Z', lost: '2026-07-01T00:00:00Z' });
  const lost = { name: 'lost', lastReport: new Date('2026-07-01T00:00:00Z') };
  expect(await silent.of(metadata, since, day)).toEqual([lost]);
  times['lost'] = '2026-11-21T12:20:00Z';
  expect(await silent.of(metadata, since, day)).toEqual([]);
});

it('a Node that was silent for a short time only is not counted', async () => {
  const { silent, metadata } = nodesThatReported({ off: '2026-11-21T11:00:00Z', never: undefined });
  expect(await silent.of(metadata, since, day)).toEqual([]);
});

it('a Node that joined later is not read', async () => {
  const { silent, metadata, read } = nodesThatReported({ old: undefined, young: undefined });
  const [old, young] = metadata;
  if (!old || !young) throw new Error('two Nodes');
  const joinedLater = { ...young, metadata: { ...young.metadata, creationTimestamp: '2026-11-21T12:01:00Z' } };
  await silent.of([old, joinedLater], since, day);
  expect(read).toEqual(['old']);
});

it('a Node that came back is read once for each hibernation, and a silent one each time', async () => {
  const { silent, metadata, read } = nodesThatReported({ back: '2026-11-21T12:00:10Z', lost: '2026-07-01T00:00:00Z' });
  await silent.of(metadata, since, day);
  await silent.of(metadata, since, day);
  expect(read).toEqual(['back', 'lost', 'lost']);
  await silent.of(metadata, new Date('2026-12-21T12:00:00Z'), day);
  expect(read).toEqual(['back', 'lost', 'lost', 'back', 'lost']);
});
