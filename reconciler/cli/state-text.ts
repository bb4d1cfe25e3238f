import { spanText } from './format.ts';
import type { Overview } from './overview.ts';
import type { Paint } from './view.ts';

/** How long ago or ahead a time is. */
export function age(time: string, now: number): string {
  return spanText(Math.abs(now - Date.parse(time)));
}

const meanings = {
  ready: 'ok',
  impaired: 'waits',
  paused: 'waits',
  hibernated: 'off',
  hibernating: 'waits',
  deleting: 'waits',
  waiting: 'waits',
  failing: 'fails',
  unknown: 'unknown',
} as const satisfies Readonly<Record<Overview['state']['kind'], Parameters<Paint>[0]>>;

/** Its state, painted by what it means to a person. */
export function stateText({ state: { kind, text } }: Overview, paint: Paint): string {
  return paint(meanings[kind], text);
}

/** How long it has been in its state; empty while it is Ready. */
export function stateAge({ state: { kind, since } }: Overview, now: number): string {
  return kind === 'ready' || since === null ? '' : age(since, now);
}

/** How many members of etcd are ready, and how many have a vote. */
export function etcdText({ etcd, etcdMembers }: Overview): string {
  const votes = etcdMembers === null ? '' : `, ${etcdMembers.voting} of ${etcdMembers.total} vote`;
  return etcd === null ? 'not known yet' : `${etcd.ready} of ${etcd.total} ready${votes}`;
}

/** When the last backup was stored, or why there is none. */
export function backupText({ backups: { state, since }, lastBackup }: Overview, now: number, paint: Paint): string {
  if (state === 'failing') return paint('fails', since === null ? state : `${state} ${age(since, now)}`);
  return state === 'ok' && lastBackup !== null ? `${age(lastBackup, now)} ago` : state;
}

/** The time until a certificate expires. */
export function expiry(notAfter: string | null, now: number, paint: Paint): string {
  if (notAfter === null) return '-';
  const left = Date.parse(notAfter) - now;
  return left > 0 ? spanText(left) : paint('fails', `expired ${spanText(-left)} ago`);
}
