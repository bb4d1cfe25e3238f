import { execute, isEtcdCall } from '../../../reconciler/etcd/execute-step.ts';
import { isRefusedForNow } from '../../../reconciler/etcd/client.ts';
import { type EtcdObservation, healthyVoters } from '../../../reconciler/etcd/members.ts';
import { planEtcdStep } from '../../../reconciler/etcd/plan-step.ts';
import type { EtcdStep } from '../../../reconciler/etcd/steps.ts';
import { until } from '../../support/until.ts';
import type { EtcdProcesses } from './etcd-processes.ts';

/**
 * Executes the planned steps, one after the other, until the desired state is reached. A failed request to etcd is
 * retried, as the reconciler does.
 * @param onAct called before each step, with the observation it was planned from
 * @returns the steps that changed something, as `Kind member`.
 */
export async function settle(
  cluster: EtcdProcesses,
  replicas: number,
  quotaBytes = 2 ** 31,
  onAct: (step: EtcdStep, observation: EtcdObservation) => void = () => {},
): Promise<string[]> {
  const steps: string[] = [];
  let failed: { readonly step: string; readonly cause: unknown } | undefined;
  let last = 'nothing';
  await until(
    `etcd to have ${replicas} members`,
    async () => {
      const observation = await cluster.observe();
      const goal = { replicas, revision: cluster.revision, cause: 'requested', quotaBytes } as const;
      const decision = planEtcdStep(observation, goal);
      const next = decision.kind === 'act' ? nameOf(decision.step) : undefined;
      last = next ?? (decision.kind === 'wait' ? decision.message : `${healthyVoters(observation).length} are well`);
      // The request got no answer, but was executed; without a quorum this is still unknown.
      if (decision.kind !== 'wait') {
        if (failed && failed.step !== next) steps.push(failed.step);
        failed = undefined;
      }
      if (decision.kind === 'settled') return healthyVoters(observation).length === replicas;
      if (decision.kind === 'wait') {
        await cluster.runMissing(observation);
        return false;
      }
      const { step } = decision;
      onAct(step, observation);
      try {
        await (isEtcdCall(step) ? execute(step, observation, cluster.clients) : cluster.executeOnPods(step));
        if (step.kind !== 'markVolume') steps.push(nameOf(step));
      } catch (cause) {
        if (!isEtcdCall(step)) throw cause;
        if (!isRefusedForNow(cause)) failed = { step: nameOf(step), cause };
      }
      return false;
    },
    180_000,
  ).catch((error: unknown) => {
    const done = steps.slice(-10).join(', ') || 'nothing';
    const why = `${failed ? 'which failed' : 'the last decision'}: ${last}; done before: ${done}`;
    throw new Error(`${String(error)}; ${why}`, { cause: failed?.cause ?? error });
  });
  return steps;
}

function nameOf(step: EtcdStep): string {
  return `${step.kind} ${'member' in step ? step.member : step.to}`;
}
