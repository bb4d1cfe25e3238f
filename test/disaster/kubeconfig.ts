import { parse } from 'yaml';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { connectionFor } from '../../reconciler/kube/config.ts';
import { hostedClient } from '../support/hosted-client.ts';
import { lookupFor } from '../tools/testbed/gateway-address.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { cluster } from './hosted-cluster.ts';

/** Cluster API's kubeconfig, as an administrator downloads it. */
export async function downloadKubeconfig(instance: Instance): Promise<string> {
  const { namespace, name } = cluster;
  const output = ['--output', 'jsonpath={.data.value}'];
  const value = await kubectl(instance, ['get', 'secret', `${name}-kubeconfig`, '--namespace', namespace, ...output]);
  return Buffer.from(value, 'base64').toString('utf8');
}

/** The server of a kubeconfig and its CA. */
export interface Endpoint {
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority: string;
}

export function endpointOf(kubeconfig: string): Endpoint {
  const { clusters } = parse(kubeconfig) as {
    readonly clusters: [
      { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
    ];
  };
  const [{ cluster: published }] = clusters;
  const certificateAuthority = Buffer.from(published['certificate-authority-data'], 'base64').toString('utf8');
  return { server: published.server, certificateAuthority };
}

/** A client of the hosted cluster at its endpoint, by such a kubeconfig. The caller closes its connection. */
export function openKubeconfig(instance: Instance, kubeconfig: string): KubeClient {
  return hostedClient(kubeconfig, lookupFor(instance));
}

/** A client of the same endpoint with a token, such as a pod's. The caller closes its connection. */
export function openWithToken(
  instance: Instance,
  { server, certificateAuthority }: Endpoint,
  token: string,
): KubeClient {
  return new KubeClient(connectionFor({ server, ca: certificateAuthority, token, lookup: lookupFor(instance) }));
}
