import { done, type Outcome, wait } from '../../engine/outcome.ts';
import { phase } from '../scope.ts';
import { reachable } from '../reachable.ts';
import { clusterInfo, kubeadmConfig, kubeletConfig } from './join-configuration.ts';
import { workloadRBAC } from './rbac.ts';

/** Workers can join: the objects they need exist, the endpoint is reachable, and controllers work. */
export const workload = phase({
  condition: 'WorkloadSetupReady',
  needs: [workloadRBAC, clusterInfo, kubeadmConfig, kubeletConfig, reachable],
  async run(scope): Promise<Outcome> {
    return scope.hosted(scope.facts).controllersWork()
      ? done()
      : wait(
          'WaitingForControllers',
          'the controller manager has not created the default service account yet: see the condition ControllerManagerReady',
        );
  },
});
