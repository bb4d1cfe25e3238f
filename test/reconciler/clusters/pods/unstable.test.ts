import type { ContainerStatus, PodObject } from '../../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { Pod } from '../../../../constructs/api/resources.ts';
import { unstableOf } from '../../../../reconciler/clusters/pods/wait-for-pods.ts';

const now = new Date('2026-11-23T12:00:00Z');
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();

/** A container that runs and is ready, after a run of so many seconds that ended with an error. */
function podWith(
  { runs, ran, ends = 3 }: { runs: number; ran: number; ends?: number },
  metadata: object = {},
): PodObject {
  const terminated = {
    exitCode: 1,
    message: 'Error: no such leader',
    startedAt: ago(runs + 20 + ran),
    finishedAt: ago(runs + 20),
  };
  const container: ContainerStatus = {
    name: 'main',
    ready: true,
    restartCount: ends,
    state: { running: { startedAt: ago(runs) } },
    lastState: { terminated },
  };
  const { apiVersion, kind } = Pod;
  return { apiVersion, kind, metadata: { name: 'p', ...metadata }, status: { containerStatuses: [container] } };
}

it.each<[what: string, pod: PodObject, until: string | undefined]>([
  ['runs for the tenth second, as before', podWith({ runs: 10, ran: 10 }), ago(-50)],
  ['has run for a minute, after runs of ten seconds', podWith({ runs: 60, ran: 10 }), undefined],
  ['has run for less than twice as long as before', podWith({ runs: 200, ran: 180 }), ago(-160)],
  ['has run for twice as long as before', podWith({ runs: 360, ran: 180 }), undefined],
  ['has run for less than the longest back-off', podWith({ runs: 590, ran: 590 }), ago(-10)],
  ['had run for long before it ended', podWith({ runs: 10, ran: 600 }), undefined],
  ['has ended twice', podWith({ runs: 10, ran: 10, ends: 2 }), undefined],
  ['goes', podWith({ runs: 10, ran: 10 }, { deletionTimestamp: ago(1) }), undefined],
])('a container that %s is believed to be ready from then on', (_, pod, until) => {
  expect(unstableOf([pod], now)?.until.toISOString()).toBe(until);
});

it('says how often a container has ended, and its last words', () => {
  expect(unstableOf([podWith({ runs: 10, ran: 10 })], now)?.message).toBe(
    'pod p: container main has ended 3 times, the last time with exit code 1: no such leader',
  );
});
