import { Gateway, TLSRoute } from '../../../constructs/api/resources.ts';
import { ManualClock } from '../manual-clock.ts';
import { namespace, now } from '../scope.ts';
import { MemoryCluster } from './memory-cluster.ts';

/** The Gateway of {@link orderedBehindGateway}. */
export const gateway = { namespace, name: 'web' };

/** A cluster with the Gateway API and a Gateway, in which the sample control plane is requested with this exposure. */
export async function orderedBehindGateway(exposure: object): Promise<MemoryCluster> {
  const management = new MemoryCluster(new ManualClock(now.getTime()));
  await management.install();
  await management.define(Gateway);
  await management.define(TLSRoute);
  const { apiVersion, kind } = Gateway;
  const listener = {
    name: 'tls',
    protocol: 'TLS',
    port: 443,
    hostname: '*.example.org',
    tls: { mode: 'Passthrough' },
  };
  const spec = { gatewayClassName: 'any', listeners: [listener] };
  await management.user.create({ apiVersion, kind, metadata: gateway, spec }, { fieldManager: 'user' });
  await management.order({ exposure });
  return management;
}
