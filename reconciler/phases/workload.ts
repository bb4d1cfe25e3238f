import { formatEndpoint } from '../../constructs/control-plane/facts.ts';
import { renderWorkload } from '../../constructs/workload/chart.ts';
import { isUnavailable } from '../kube/errors.ts';
import { done, type Outcome, wait } from '../outcome.ts';
import { known, type Phase } from '../scope.ts';
import { apiServer } from './api-server.ts';
import { kubeconfig } from './kubeconfig.ts';

/** Inside the hosted cluster: rights of our identities, and the proof that it works from outside and that controllers do. */
export const workload: Phase = {
  condition: 'WorkloadSetupReady',
  needs: [apiServer, kubeconfig],
  async run(scope): Promise<Outcome> {
    const hosted = scope.hosted(scope.facts);
    try {
      await hosted.applyAsAdmin(renderWorkload(scope.cluster, scope.facts));
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return wait('WaitingForAPIServer', message(error), { afterMs: unreachableMs });
    }

    // Once only: afterwards the API server's own probes tell, and Cluster API probes the endpoint itself.
    if (!scope.hostedControlPlane.status?.initialization?.controlPlaneInitialized) {
      try {
        await hosted.readyThroughEndpoint();
      } catch (error) {
        const endpoint = formatEndpoint(known(scope.facts, 'endpoint'));
        return wait('EndpointUnreachable', `the API server does not answer at ${endpoint}: ${message(error)}`, {
          afterMs: unreachableMs,
        });
      }
    }

    return (await hosted.controllersWork())
      ? done()
      : wait('WaitingForControllers', 'the controller manager has not made the default service account yet', {
          afterMs: controllersMs,
        });
  },
};

/** Nothing of the management cluster tells about a hosted one: it is asked again. */
const unreachableMs = 1_000;
const controllersMs = 200;

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
