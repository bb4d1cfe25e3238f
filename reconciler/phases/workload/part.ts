import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { renderWorkload, type WorkloadPart } from '../../../constructs/workload/chart.ts';
import { HostedClusterNotReady } from '../../hosted/not-ready.ts';
import type { KubeObject } from '../../kube/object.ts';
import { done, type Outcome, wait } from '../../engine/outcome.ts';
import type { Phase, Scope } from '../scope.ts';

export interface WorkloadPartOptions {
  readonly condition: ConditionType;
  readonly needs: readonly Phase[];
  readonly part: WorkloadPart;
  /** Precondition of the part. By default none. */
  readonly before?: (scope: Scope) => Outcome;
  /** Converts the applied objects to an outcome. By default it is done. */
  readonly judge?: (live: readonly KubeObject[], scope: Scope) => Outcome;
}

/** A phase that applies one part of the workload chart. A part without objects is done. */
export function workloadPart({ condition, needs, part, before, judge }: WorkloadPartOptions): Phase {
  return {
    condition,
    needs,
    async run(scope): Promise<Outcome> {
      const first = before?.(scope) ?? done();
      if (first.kind === 'wait') return first;

      try {
        const live = await scope.hosted(scope.facts).apply(renderWorkload(scope.cluster, scope.facts, part));
        return judge?.(live, scope) ?? done();
      } catch (error) {
        if (!(error instanceof HostedClusterNotReady)) throw error;
        return wait('WaitingForAPIServer', error.message, { afterMs: error.afterMs });
      }
    },
  };
}
