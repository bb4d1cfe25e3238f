import { isDeepStrictEqual } from 'node:util';

/** A pod, or a container of it, by which a restart shows. */
export interface PodState {
  readonly name: string;
  readonly uid: string;
  /** Restarts of all of its containers. */
  readonly restarts: number;
}

/** What a borrower may not leave changed. */
export interface LentState {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly clusterSpec: Readonly<Record<string, unknown>>;
  /** Names of the annotations of the HostedControlPlane. */
  readonly annotations: readonly string[];
  /** What `status.etcd` records about backups: the next borrower has another bucket. */
  readonly records: readonly string[];
  /** Why it is not Ready of its generation, or what else its conditions report. */
  readonly wrong: readonly string[];
  /** `Kind name`, and the kinds of its owners, of each object in its namespace of the management cluster. */
  readonly management: readonly string[];
  /** `Kind namespace/name` of objects in the hosted cluster. */
  readonly hosted: readonly string[];
  /** Its pods in the management cluster. */
  readonly pods: readonly PodState[];
}

/** What a control plane was, and what its borrower has declared. */
export interface Terms {
  /** When it was born. */
  readonly birth: LentState;
  /** When it was lent. */
  readonly lent: LentState;
  /** Whether the borrower said that it restarts pods. */
  readonly restartsPods: boolean;
}

/** Every reason why a control plane may not be lent again, each a sentence; none for a clean return. */
export function returnFaults({ birth, lent, restartsPods }: Terms, now: LentState): string[] {
  return [
    ...changedFields('spec', birth.spec, now.spec),
    ...changedFields('spec of its Cluster', birth.clusterSpec, now.clusterSpec),
    ...difference('annotation ', birth.annotations, now.annotations),
    ...difference('record status.etcd.', birth.records, now.records),
    ...now.wrong,
    ...difference('in the management cluster: ', birth.management, now.management),
    ...difference('in the hosted cluster: ', birth.hosted, now.hosted),
    ...(restartsPods ? [] : restarts(lent.pods, now.pods)),
  ];
}

/** A merge patch that makes one object of another. */
export function patchTo(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const keys = Object.keys({ ...from, ...to }).filter((key) => !isDeepStrictEqual(from[key], to[key]));
  return Object.fromEntries(
    keys.map((key) => {
      const [before, after] = [from[key], to[key]];
      return [key, isRecord(before) && isRecord(after) ? patchTo(before, after) : (after ?? null)];
    }),
  );
}

function changedFields(what: string, before: object, now: object): string[] {
  const patch = patchTo({ ...now }, { ...before });
  return Object.keys(patch).length === 0 ? [] : [`its ${what} has changed: ${JSON.stringify(patch)} undoes it`];
}

function difference(what: string, before: readonly string[], now: readonly string[]): string[] {
  return [
    ...now.filter((one) => !before.includes(one)).map((one) => `${what}${one} was not there`),
    ...before.filter((one) => !now.includes(one)).map((one) => `${what}${one} is gone`),
  ];
}

function restarts(before: readonly PodState[], now: readonly PodState[]): string[] {
  return before.flatMap(({ name, uid, restarts }) => {
    const pod = now.find((one) => one.uid === uid);
    if (!pod) return [`pod ${name} was replaced: declare restartsPods if the file does that`];
    return pod.restarts > restarts ? [`a container of pod ${name} was restarted`] : [];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
