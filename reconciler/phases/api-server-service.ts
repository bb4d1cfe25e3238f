import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { wayIn } from '../../constructs/control-plane/exposure/exposure.ts';
import { KubeError } from '../kube/errors.ts';
import { done, InvalidConfiguration, type Outcome, wait } from '../outcome.ts';
import type { Phase } from '../scope.ts';
import type { ServiceObject } from '../service-object.ts';

/** The API server's Service and the address it offers. Everything that names an address waits for it. */
export const apiServerService: Phase = {
  condition: 'APIServerServiceReady',
  needs: [],
  async run({ cluster, facts, writer }): Promise<Outcome> {
    const objects = renderControlPlane(cluster, facts, 'api-server-service');

    const [live] = await writer.apply<ServiceObject>(objects).catch((error: unknown) => {
      throw nodePortTaken(error) ?? error;
    });

    const decision = wayIn(cluster.name, cluster.spec).endpoint({
      loadBalancer: live?.status?.loadBalancer?.ingress ?? [],
    });
    if (!decision.known) return wait(decision.reason, decision.message);
    const { endpoint, konnectivityEndpoint, advertiseAddress } = decision;
    return done({ endpoint, konnectivityEndpoint, advertiseAddress });
  },
};

function nodePortTaken(error: unknown): InvalidConfiguration | undefined {
  if (!(error instanceof KubeError) || !error.causes.some(({ field }) => field?.endsWith('nodePort'))) return undefined;
  return new InvalidConfiguration('NodePortTaken', `${error.message}: choose another port in exposure.nodePort`);
}
