import { usuallyFalse } from '../../../constructs/api/conditions.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Cluster, HostedControlPlane } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { MemoryCluster } from '../loop/memory-cluster.ts';
import { Life } from '../loop/life.ts';
import { OperatorProcess } from '../loop/operator-process.ts';
import { lostAnswer } from '../memory-cluster/failures.ts';
import { Ledger } from './ledger.ts';

/** What becomes of the operator while it attends to an act. */
export interface Fate {
  /** How often it reconciles the control plane before the next act. */
  readonly rounds: number;
  /** Which write is its last one, counted from 1; it is stored. 0 for none. */
  readonly diesAfter: number;
  /** The answer to which write is lost, counted from 1. 0 for none. */
  readonly losesAnswer: number;
}

/** Something that is wrong until a user undoes it. */
export interface Mistake {
  readonly kind: string;
  /** The control plane whose conditions tell it; undefined for each that the operator reconciles. */
  readonly of: MemoryCluster | undefined;
  /** What one of its conditions says. */
  readonly words: RegExp;
  /** Other mistakes in the same control plane, while which it cannot be told. */
  readonly hiddenBy?: readonly string[] | undefined;
  /** The namespace in which it hides those of all control planes, until it is undone. */
  readonly hidesIn?: string | undefined;
  /** Whether it went with the objects on which it was made, so that no condition tells it any more. Undefined: it lasts until undone. */
  readonly isOver?: () => boolean;
  readonly undo: () => Promise<unknown>;
}

/** Between two rounds of an operator that waits: more than between two tries of what was refused. */
const patienceMs = 31_000;

/** More rounds than a control plane takes to come up. */
const roundLimit = 40;

/** Control planes in one management cluster, the operator, and all that users have done wrong there. */
export class World {
  readonly clusters: readonly MemoryCluster[];
  readonly ledger: Ledger;
  readonly mistakes: Mistake[] = [];
  /** Those on which users have acted. */
  readonly touched = new Set<MemoryCluster>();
  /** With which users create control planes. */
  readonly spec: object;
  readonly #first: MemoryCluster;
  #operator: OperatorProcess | undefined;
  #fate: Fate = unharmed;
  #writes = 0;

  constructor(complete: MemoryCluster, spec: object) {
    this.spec = spec;
    this.#first = complete.copy();
    this.clusters = this.#first.all;
    this.ledger = new Ledger(this.clusters);
  }

  get first(): MemoryCluster {
    return this.#first;
  }

  /** The operator reconciles one control plane, as its watches ask after an act. */
  async attend(cluster: MemoryCluster, fate: Fate): Promise<void> {
    this.#fate = fate;
    this.#writes = 0;
    for (let round = 0; round < fate.rounds; round++) await this.#round(cluster);
    this.#fate = unharmed;
  }

  /** Time passes and the operator works until a condition holds. @throws with what is left of it */
  async until(cluster: MemoryCluster, left: () => readonly string[]): Promise<void> {
    for (let round = 0; round < roundLimit; round++) {
      const before = this.#operator?.errors.length ?? 0;
      await this.#round(cluster);
      const errors = this.#operator?.errors.slice(before) ?? [];
      if (errors.length === 0 && left().length === 0) return;
      if (round === roundLimit - 1) {
        const lines = [...left(), ...errors.map(String), ...problemsOf(cluster)];
        throw new Error(`${cluster.place.cluster}: ${lines.join('\n  ')}`);
      }
      await this.#first.clock.advance(patienceMs);
    }
  }

  async stop(): Promise<void> {
    await this.#operator?.stop();
  }

  async #round(cluster: MemoryCluster): Promise<void> {
    const operator = await this.#living();
    await operator.untilObserved();
    await operator.reconcile(cluster.name.name, cluster.place.namespace);
    this.ledger.check();
    cluster.settle();
    await operator.untilObserved();
    this.ledger.check();
  }

  async #living(): Promise<OperatorProcess> {
    if (this.#operator && !this.#operator.life.isOver) return this.#operator;
    // A process that was killed does nothing more; its watches end with it.
    void this.#operator?.stop();
    const life = new Life({ after: (action) => this.#afterWrite(action, life) });
    this.#operator = await OperatorProcess.start(this.#first, life);
    return this.#operator;
  }

  #afterWrite(action: string, life: Life): void {
    this.#writes += 1;
    if (this.#writes === this.#fate.diesAfter) life.end();
    if (this.#writes === this.#fate.losesAnswer) throw lostAnswer(action);
  }
}

export const unharmed: Fate = { rounds: 0, diesAfter: 0, losesAnswer: 0 };

export function ownObject({ objects, name }: MemoryCluster): KubeObject | undefined {
  return objects.get(HostedControlPlane, name.name);
}

export function clusterObject({ objects, place }: MemoryCluster): KubeObject | undefined {
  return objects.get(Cluster, place.cluster);
}

/** Asks whether the HostedControlPlane is another one than now: a new one has the spec with which it is created. */
export function whenCreatedAgain(cluster: MemoryCluster): () => boolean {
  const uid = ownObject(cluster)?.metadata.uid;
  return () => ownObject(cluster)?.metadata.uid !== uid;
}

/** The labels of all objects of a control plane. */
export function labelsOf({ place }: MemoryCluster): Readonly<Record<string, string>> {
  return { [clusterNameLabel]: place.cluster };
}

/** What its conditions say is wrong or under way. */
export function problemsOf(cluster: MemoryCluster): string[] {
  if (!ownObject(cluster)) return ['it is gone'];
  return cluster.conditions
    .filter(
      ({ type, status, reason }) =>
        status !== (usuallyFalse.some((one) => one === type) ? 'False' : 'True') || reason.endsWith('Refused'),
    )
    .map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);
}
