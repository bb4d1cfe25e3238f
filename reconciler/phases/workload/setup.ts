import { done, notObserved, type Outcome, wait } from '../../engine/outcome.ts';
import { phase } from '../scope.ts';
import { reachable } from '../reachable.ts';
import { clusterInfo, kubeadmConfig, kubeletConfig } from './join-configuration.ts';
import { workloadRBAC } from './rbac.ts';

/** Workers can join: the objects they need exist, the endpoint is reachable, and controllers work. */
export const workload = phase({
  condition: 'WorkloadSetupReady',
  needs: [workloadRBAC, clusterInfo, kubeadmConfig, kubeletConfig, reachable],
  async run(scope): Promise<Outcome> {
    const controllersWork = scope.hosted(scope.facts).controllersWork();
    if (controllersWork === undefined)
      return notObserved('the operator has not listed the service accounts of the hosted cluster yet');
    return controllersWork
      ? done()
      : wait(
          'WaitingForControllers',
          'the controller manager has not created the default service account yet: see the condition ControllerManagerReady',
        );
  },
});
