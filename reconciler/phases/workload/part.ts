import type { ConditionType } from '../../../constructs/api/conditions.ts';
import type { WorkloadPart } from '../../../constructs/workload/chart.ts';
import { workloadChart } from '../charts.ts';
import { HostedClusterNotReady } from '../../clusters/hosted/outage.ts';
import type { KubeObject } from '../../kube/object.ts';
import { done, InvalidConfiguration, type Outcome, wait } from '../../engine/outcome.ts';
import { messageOf } from '../../kube/error-message.ts';
import { isNotServed } from '../../kube/errors.ts';
import { awaitedServer, followed } from '../../desired-state/upgrade/followers.ts';
import type { certificates } from '../certificates.ts';
import { type AnyPhase, type EstablishedBy, type Phase, phase, type Scope } from '../scope.ts';

/** Everything in the hosted cluster needs an API server that answers, and so knows what its clients need. */
type APIServerFacts = EstablishedBy<[typeof certificates]>;
export type WorkloadScope = Scope<APIServerFacts>;
type WorkloadPhase = Phase<APIServerFacts>;

export interface WorkloadPartOptions {
  readonly condition: ConditionType;
  readonly needs: readonly WorkloadPhase[];
  readonly after?: readonly AnyPhase[];
  readonly part: WorkloadPart;
  /** Precondition of the part. By default none. */
  readonly before?: (scope: WorkloadScope) => Outcome | Promise<Outcome>;
  /** Converts the applied objects to an outcome. By default it is done. */
  readonly judge?: (live: readonly KubeObject[], scope: WorkloadScope) => Outcome | Promise<Outcome>;
}

/** A phase that applies one part of the workload chart. A part without objects is done. */
export function workloadPart({ condition, needs, after, part, before, judge }: WorkloadPartOptions): WorkloadPhase {
  return phase({
    condition,
    needs,
    ...(after ? { after } : {}),
    async run(given): Promise<Outcome> {
      const awaited = awaitedServer(given);
      if (awaited) return awaited;
      const scope = { ...given, cluster: given.followers };
      const { cluster, facts, onRefused } = scope;
      try {
        const first = (await before?.(scope)) ?? done();
        if (first.kind === 'wait') return first;
        const live = await scope.hosted(facts).apply(workloadChart(cluster, facts, part), { onRefused });
        const judged = (await judge?.(live, scope)) ?? done();
        return judged.kind === 'done' && cluster !== given.cluster
          ? { ...followed(cluster, given), facts: judged.facts }
          : judged;
      } catch (error) {
        if (isNotServed(error)) throw new InvalidConfiguration('InvalidConfiguration', notServed(error));
        if (!(error instanceof HostedClusterNotReady)) throw error;
        return wait('WaitingForAPIServer', error.message, { afterMs: error.afterMs });
      }
    },
  });
}

/** Which API is missing is in the path of the request, which the error names. */
function notServed(error: unknown): string {
  return `the hosted API server does not serve an API that every supported version has (${messageOf(error)}): remove the argument that turns it off, such as emulated-version, runtime-config or feature-gates, from deployment.apiServer.args`;
}
