import { degraded, done, type Outcome } from '../engine/outcome.ts';
import { phase } from './scope.ts';

/** How soon the clocks are compared again: both must have agreed for a minute. */
const againMs = 30_000;

/** Says that the clock of the operator cannot be trusted. Phases that depend on the time hold what they would do. */
export const clock = phase({
  condition: 'ClocksAgree',
  needs: [],
  async run({ clockFault, now }): Promise<Outcome> {
    if (clockFault === undefined) return done();
    const message = `${clockFault}: until they agree, nothing is issued, renewed, deleted or scheduled by the time, and everything else continues: correct the time synchronization of the node that is wrong`;
    return degraded('ClockWrong', message, { requeueAt: new Date(now.getTime() + againMs) });
  },
});
