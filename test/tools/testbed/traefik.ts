import { connect } from 'node:net';
import { Deployment, type Resource } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { applyObjects } from './apply-objects.ts';
import { gatewayAddress } from './gateway-address.ts';
import { traefikImage } from './images.ts';
import type { Instance } from './instance.ts';
import { until } from './progress.ts';
import { gatewayName, traefikName, traefikObjects } from './traefik-objects.ts';

/** Installs Traefik; ends when it accepts connections at its address and its Gateway is programmed. */
export async function installTraefik(
  instance: Instance,
  client: KubeClient,
  manifests: readonly KubeObject[],
): Promise<void> {
  const address = gatewayAddress(instance);
  const roles = manifests.filter(({ kind }) => kind === 'ClusterRole');
  const definitions = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
  await applyObjects(client, [...definitions, ...traefikObjects(await traefikImage(), address, roles)]);
  await untilCondition(client, Deployment, traefikName, 'Available');
  await untilCondition(client, Gateway, gatewayName, 'Programmed');
  await until({ what: `Traefik at ${address}:443`, timeoutMs: 60_000 }, () => takesConnections(address, 443));
}

const Gateway: Resource = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
};

interface Conditioned extends KubeObject {
  status?: { conditions?: { type: string; status: string; observedGeneration?: number }[] };
}

/** Ends when an object has a condition that is True and, if the condition has one, of the current generation. */
async function untilCondition(
  client: KubeClient,
  resource: Resource,
  name: { readonly name: string; readonly namespace: string },
  type: string,
): Promise<void> {
  const what = `${resource.kind} ${name.namespace}/${name.name} ${type}`;
  await until({ what, timeoutMs: 60_000, intervalMs: 100 }, async () => {
    const { metadata, status } = await client.get<Conditioned>(resource, name);
    const condition = status?.conditions?.find((candidate) => candidate.type === type);
    const isCurrent = (condition?.observedGeneration ?? metadata.generation) === metadata.generation;
    return condition?.status === 'True' && isCurrent;
  });
}

function takesConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 500 });
    const answer = (taken: boolean) => (): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', answer(true));
    socket.once('timeout', answer(false));
    socket.once('error', answer(false));
  });
}
