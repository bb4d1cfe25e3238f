import { hibernateWithMachinesAnnotation } from '../../constructs/api/group.ts';
import { done, type Outcome, type Wait, wait } from '../engine/outcome.ts';
import { describeTerminating } from '../etcd/terminating-volumes.ts';
import { observeHibernation } from '../run-state/observe-hibernation.ts';
import { type HibernationDecision, planHibernation } from '../run-state/plan-hibernation.ts';
import { refusalKeptMs } from '../clusters/management/view.ts';
import { waitForTermination } from '../clusters/pods/termination.ts';
import { refusalToStop, stop } from '../run-state/stop.ts';
import { move } from './move.ts';
import { restore } from './restore.ts';
import { phase, type Scope } from './scope.ts';

/**
 * Stops the API servers and the controllers when the spec asks for hibernation, and then waits for a backup of all data. The phase
 * of etcd stops its members.
 */
export const hibernation = phase({
  condition: 'Awake',
  needs: [restore, move],
  async run(scope): Promise<Outcome> {
    const outcome = await act(scope, planHibernation(await observeHibernation(scope)));
    return outcome.kind === 'wait' ? { ...outcome, report: { hibernation: begun(scope) } } : outcome;
  },
});

async function act(scope: Scope, decision: HibernationDecision): Promise<Outcome> {
  switch (decision.kind) {
    case 'awake':
      return done();
    case 'refuse':
      // It serves on, so that nothing waits for this.
      return done({}, undefined, {
        reason: 'HibernationRefused',
        message: `${decision.machines} Machines or MachinePools would lose their API server: delete them, or scale their deployments to 0; to hibernate nevertheless, set the annotation ${hibernateWithMachinesAnnotation}`,
      });
    case 'keepVolumes': {
      const message = `${describeTerminating(decision.claims, scope.cluster.spec.etcd.replicas)}; hibernation would end its pod`;
      if (decision.isAwake) return done({}, undefined, { reason: 'HibernationRefused', message });
      return wait('HibernationRefused', `the API servers have stopped, and etcd runs on: ${message}; ${undo}`);
    }
    case 'stopServers': {
      const refusal = await refusalToStop(scope, 'hibernation', decision);
      if (refusal !== undefined)
        return done({}, new Date(scope.now.getTime() + refusalKeptMs), {
          reason: 'HibernationRefused',
          message: `nothing was stopped, because it could not wake up again: ${refusal}`,
        });
      return stopping(await stop(scope, decision));
    }
    case 'awaitBackup':
      return wait(
        'TakingBackup',
        `the API servers have stopped, and a backup of all data is due: see the condition EtcdBackupReady, or remove etcd.backup to continue without one; ${undo}`,
      );
    case 'stopMembers':
      // The phase of etcd stops them.
      return stopping(waitForTermination('StoppingMembers', decision.pods, scope));
    case 'asleep':
      return wait('Hibernated', `no component runs; ${undo}`);
  }
}

function stopping(waiting: Wait): Wait {
  return { ...waiting, message: `${waiting.message}; ${undo}` };
}

/** Since when it hibernates. One that is over is followed by another one. */
function begun({ hostedControlPlane: { status }, now }: Scope): { readonly since: string } {
  const { since, until } = status?.hibernation ?? {};
  return { since: since === undefined || until !== undefined ? now.toISOString() : since };
}

const undo = 'to wake it up, set spec.hibernate to false';
