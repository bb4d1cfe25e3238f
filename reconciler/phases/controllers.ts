import { Deployment } from '../../constructs/api/resources.ts';
import { controlPlaneChart } from './charts.ts';
import { deploymentReadiness } from '../kube/readiness.ts';
import { podProblemMeanwhile, unstablePods, waitForPods } from '../clusters/pods/wait-for-pods.ts';
import { type Outcome, wait } from '../engine/outcome.ts';
import { awaitedServer, followed } from '../desired-state/upgrade/followers.ts';
import { type AnyPhase, phase } from './scope.ts';
import { apiServer } from './api-server.ts';
import { certificates } from './certificates.ts';
import { hibernation } from './hibernation.ts';

/**
 * Controller manager and scheduler. They start after the first API server: earlier they would use the CPU that it needs, exit
 * after ten seconds and lose more time in restart back-off. During an upgrade they must not be newer than any API
 * server.
 */
export const controllerManager = controller('controller-manager', 'ControllerManagerReady');
export const scheduler = controller('scheduler', 'SchedulerReady');

function controller(component: 'controller-manager' | 'scheduler', condition: AnyPhase['condition']) {
  return phase({
    condition,
    needs: [certificates, hibernation],
    after: [apiServer],
    meanwhile: (scope) => podProblemMeanwhile(component, scope),
    async run(scope): Promise<Outcome> {
      const awaited = awaitedServer(scope);
      if (awaited) return awaited;
      const { facts, followers: cluster, onRefused, writer } = scope;
      const live = await writer.apply(controlPlaneChart(cluster, facts, component), { onRefused });

      const readiness = deploymentReadiness(live.find(({ kind }) => kind === Deployment.kind));
      if (readiness.ready) {
        const unstable = unstablePods(component, scope);
        return unstable ? wait('PodsFailing', `${component}: ${unstable.message}`, unstable) : followed(cluster, scope);
      }
      const { message, isStuck } = readiness;
      return waitForPods(component, { message: `${component}: ${message}`, isStuck }, scope);
    },
  });
}
