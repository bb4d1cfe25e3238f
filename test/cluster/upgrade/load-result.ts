import type { ContinuousLoad } from '../../support/continuous-load.ts';
import { until } from '../../support/until.ts';

/** What etcd answers a write that meets a change of its leader, which replacing the leader takes. Its author repeats it. */
const withoutLeader = /(?:raft proposal dropped|etcdserver: (?:leader changed|request timed out[^;]*))$/;

/** Share of the writes that etcd may answer so. The goal is none. */
const withoutLeaderAtMost = 1 / 200;

/**
 * When a member of etcd is gone without closing its connections, as on a busy machine, the client of etcd in an API server notices it
 * after 40 s. Only then the events come from another member.
 */
const lastEventsMs = 90_000;

/** Ends the writer; returns what it has written and the watcher has not seen. */
export async function eventsLostBy(load: ContinuousLoad): Promise<string[]> {
  await load.stopWriting();
  const unseen = () => load.unseen;
  await until('the last events', () => unseen().length === 0, lastEventsMs, unseen).catch(() => {});
  return unseen().map((name) => `${name} was written, and no event came within ${lastEventsMs / 1000} s`);
}

/**
 * What may not be. A call may be repeated once, and a watch goes on where it was. No write may lack its answer, whichever API server is
 * replaced, and whichever member of etcd; where etcd has no leader at that moment, the answer says so.
 */
export function failuresOf({ writes, calls, events }: ContinuousLoad): string[] {
  const unanswered = [...writes.reasons, ...writes.failures];
  const byLeader = unanswered.filter((why) => withoutLeader.test(why));
  const isOften = byLeader.length > writes.answered * withoutLeaderAtMost;
  return [...unanswered.filter((why) => isOften || !byLeader.includes(why)), ...calls.failures, ...events.failures];
}
