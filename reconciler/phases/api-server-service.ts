import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { KubeError } from '../kube/errors.ts';
import { done, InvalidConfiguration, type Outcome, wait } from '../engine/outcome.ts';
import { phase } from './scope.ts';
import type { ServiceObject } from '../kube/service-object.ts';

/** The API server's Service, and its address if it needs one. All phases that need an address wait for it. */
export const apiServerService = phase({
  condition: 'APIServerServiceReady',
  needs: [],
  async run({ cluster, facts, writer }): Promise<Outcome> {
    const objects = renderControlPlane(cluster, facts, 'api-server-service');

    const [live] = await writer.apply<ServiceObject>(objects).catch((error: unknown) => {
      throw nodePortTaken(error) ?? error;
    });

    if (live?.spec?.type !== 'LoadBalancer') return done();
    const [address] = live.status?.loadBalancer?.ingress ?? [];
    return address
      ? done({ serviceAddress: { ip: address.ip, hostname: address.hostname } })
      : wait(
          'WaitingForLoadBalancerAddress',
          `Service ${live.metadata.name} of type LoadBalancer has no address yet: the load balancer implementation of the management cluster assigns it; check that it runs and has free addresses`,
        );
  },
});

function nodePortTaken(error: unknown): InvalidConfiguration | undefined {
  if (!(error instanceof KubeError) || !error.causes.some(({ field }) => field?.endsWith('nodePort'))) return undefined;
  return new InvalidConfiguration('NodePortTaken', `${error.message}: choose another port in exposure.nodePort`);
}
