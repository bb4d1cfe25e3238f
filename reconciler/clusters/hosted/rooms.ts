import { AnswerBudget, type ServerAnswers } from '../../kube/answer-budget.ts';
import { CacheBudget, type SharedRoom } from '../../kube/cache-budget.ts';
import type { Clock } from '../../kube/clock.ts';
import { ReadingSpeed } from '../../kube/reading-speed.ts';
import { longestAnswerBytes } from './connect.ts';

/** The room of one hosted cluster. */
export interface HostedRoom {
  /** For what is being read. */
  readonly answers: ServerAnswers;
  /** For what is held. */
  readonly held: CacheBudget;
  /** The share of the processor for reading. */
  readonly speed: ReadingSpeed;
}

/** Ordinary answers have a few KiB, and never wait. */
const answerLimits = {
  bytes: 3 * longestAnswerBytes,
  bytesPerServer: longestAnswerBytes,
  freeBytes: 128 * 1024,
  patienceMs: 250,
};

/**
 * One answer of any size, and then a MiB each second: 5000 nodes that report their status send a tenth of that, and are listed in half a
 * minute.
 */
const speedLimit = { burstBytes: longestAnswerBytes, bytesPerSecond: 1024 * 1024 };

/** What the operator holds of one hosted cluster, whose users could fill all memory: 5000 nodes need a third of it. */
const heldBytes = 32 * 1024 * 1024;

/** What each one has of that whatever others hold, which is enough for 1000 nodes, and what all have together besides. */
const ownBytes = 2 * 1024 * 1024;
const sharedBytes = 96 * 1024 * 1024;

/** The memory for all hosted clusters: one that fills its own takes none of the others. */
export class HostedRooms {
  readonly #answers: AnswerBudget;
  readonly #shared: SharedRoom = { limitBytes: sharedBytes, ownBytes, usedBytes: 0 };

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#answers = new AnswerBudget(answerLimits, clock);
  }

  /** The room of another hosted cluster. Close what it holds when it is no longer managed. */
  open(): HostedRoom {
    return {
      answers: this.#answers.server(),
      held: new CacheBudget(heldBytes, this.#shared),
      speed: new ReadingSpeed(speedLimit),
    };
  }
}
