import type { ServiceObject } from '../../imports/kubernetes.ts';
import { controlPlaneChart } from './charts.ts';
import { KubeError } from '../kube/errors.ts';
import { degraded, done, InvalidConfiguration, type Outcome, wait } from '../engine/outcome.ts';
import { noting } from '../engine/refusals.ts';
import type { KubeObject } from '../kube/object.ts';
import { phase } from './scope.ts';

const retryMs = 60_000;

/**
 * The API server's Service, and its address if it needs one. All phases that need an address wait for it. Once the endpoint is published,
 * they do not wait for a node port that another Service has taken, nor for an address that was there: certificates need renewal meanwhile.
 */
export const apiServerService = phase({
  condition: 'APIServerServiceReady',
  needs: [],
  async run({ cluster, facts, hostedControlPlane, now, onRefused, takesRefusals, writer }): Promise<Outcome> {
    const objects = controlPlaneChart(cluster, facts, 'api-server-service');

    let live: ServiceObject | undefined;
    try {
      [live] = await writer.apply<ServiceObject>(objects, { onRefused: noting({ onRefused }, throwIfTaken) });
    } catch (error) {
      const taken = nodePortTaken(error);
      // Other exposures take their address from the Service.
      const isPublished = cluster.spec.exposure?.nodePort && cluster.spec.controlPlaneEndpoint?.host;
      if (!taken || !isPublished) throw taken ?? error;
      // No event says that the port is free again.
      return degraded('NodePortTaken', taken.message, { requeueAt: new Date(now.getTime() + retryMs) });
    }

    if (live?.spec?.type !== 'LoadBalancer') return done();
    const [address] = live.status?.loadBalancer?.ingress ?? [];
    if (address) return done({ serviceAddress: { ip: address.ip, hostname: address.hostname } });
    const implementation =
      'the load balancer implementation of the management cluster assigns it; check that it runs and has free addresses';
    // Clients know the endpoint, and pods were started with the address of before.
    if (takesRefusals && cluster.spec.controlPlaneEndpoint?.host) {
      const message = `Service ${live.metadata.name} of type LoadBalancer has no address any more: ${implementation}`;
      const { legacyIP: ip } = hostedControlPlane.status ?? {};
      return degraded('WaitingForLoadBalancerAddress', message, {
        facts: ip === undefined ? {} : { serviceAddress: { ip } },
      });
    }
    return wait(
      'WaitingForLoadBalancerAddress',
      `Service ${live.metadata.name} of type LoadBalancer has no address yet: ${implementation}`,
    );
  },
});

function throwIfTaken(_: KubeObject, error: Error): void {
  if (nodePortTaken(error)) throw error;
}

function nodePortTaken(error: unknown): InvalidConfiguration | undefined {
  if (!(error instanceof KubeError) || !error.causes.some(({ field }) => field?.endsWith('nodePort'))) return undefined;
  return new InvalidConfiguration('NodePortTaken', `${error.message}: choose another port in exposure.nodePort`);
}
