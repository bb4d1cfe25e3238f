import type { DeploymentObject, SecretObject, StatefulSetObject } from '../../imports/kubernetes.ts';
import { Deployment, Secret } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../kube/client.ts';
import { apiServerArguments } from '../clusters/pods/api-server-arguments.ts';
import { splitCertificates } from '../pki/pem.ts';
import { valueOf } from '../pki/secret.ts';
import { etcdVersionIn, tagOf } from '../../constructs/cluster/versions.ts';
import type { OtherKeys } from './identity.ts';
import { kamajiControlPlane, type TenantControlPlaneObject } from './kamaji.ts';
import { k0smotronControlPlane } from './k0smotron.ts';
import type { EtcdPlace, OtherControlPlane, ProviderName, TextPlace } from './other-control-plane.ts';
import { TenantControlPlane } from './resources.ts';
import { teutonetControlPlane } from './teutonet.ts';

/** Where the objects are. */
export interface Place {
  readonly client: Pick<KubeClient, 'find'>;
  readonly namespace: string;
}

/** The kind in `Cluster.spec.controlPlaneRef` of each provider. */
const providerByKind: Readonly<Record<string, ProviderName>> = {
  HostedControlPlane: 'teutonet',
  K0smotronControlPlane: 'k0smotron',
  KamajiControlPlane: 'Kamaji',
};

/** The provider of a Cluster whose control plane has this kind. @throws for other kinds, with the known ones */
export function providerOf(kind: string | undefined): ProviderName {
  const known = providerByKind[kind ?? ''];
  if (known) return known;
  throw new Error(
    `the Cluster has a control plane of kind ${kind ?? 'none'}, which cannot be imported: the known kinds are ${Object.keys(providerByKind).join(', ')}`,
  );
}

/** Where the parts of a control plane are. @param name of the control plane among the objects of the provider */
export async function findOther(
  { client, namespace }: Place,
  provider: ProviderName,
  { cluster, name }: { readonly cluster: string; readonly name: string },
): Promise<OtherControlPlane> {
  if (provider === 'teutonet') return teutonetControlPlane(cluster);
  if (provider === 'k0smotron') return k0smotronControlPlane(cluster);
  const found = await client.find<TenantControlPlaneObject>(TenantControlPlane, { namespace, name });
  return kamajiControlPlane(found ?? { apiVersion: '', kind: '', metadata: { name } });
}

/**
 * Reads the keys of the cluster.
 * @param issuer that the user names; otherwise the arguments of the API server, and then the provider, decide
 * @throws a sentence for the user when a Secret is missing
 */
export async function readKeys(place: Place, other: OtherControlPlane, issuer: string | undefined): Promise<OtherKeys> {
  const { clusterCA, trusted, serviceAccountKey } = other;
  const text = (one: TextPlace) => readText(place, one);
  const certificate = await text({ secret: clusterCA.secret, key: clusterCA.certificate });
  const [server] = other.servers;
  const deployment = server?.resource === Deployment ? await find(place, Deployment, server.name) : undefined;
  return {
    ca: { certificate: splitCertificates(certificate)[0] ?? '', key: await text(clusterCA) },
    trusted: trusted ? await text(trusted) : certificate,
    serviceAccountKey: await text(serviceAccountKey),
    issuer: issuer ?? apiServerArguments(deployment)?.['service-account-issuer'] ?? other.issuer,
  };
}

/** PEM of the identity with which etcd of the other provider lets a client in, and of what it trusts. */
export async function readEtcdCredentials(place: Place, { ca, client }: EtcdPlace) {
  const text = (one: TextPlace) => readText(place, one);
  return {
    ca: await text(ca),
    cert: await text({ secret: client.secret, key: client.certificate }),
    key: await text(client),
  };
}

/** The version of etcd in the image of the other provider; undefined if its tag shows none. */
export async function readEtcdVersion(place: Place, { set }: EtcdPlace): Promise<string | undefined> {
  const found = await find(place, set.resource, set.name);
  const container = found?.spec?.template?.spec?.containers?.find(({ name }) => name === 'etcd');
  return etcdVersionIn(tagOf(container?.image));
}

function find({ client, namespace }: Place, resource: Parameters<KubeClient['find']>[0], name: string) {
  return client.find<DeploymentObject | StatefulSetObject>(resource, { namespace, name });
}

async function readText({ client, namespace }: Place, { secret, key }: TextPlace): Promise<string> {
  const found = await client.find<SecretObject>(Secret, { namespace, name: secret });
  const text = valueOf(found, key);
  if (text) return text;
  throw new Error(
    `Secret ${namespace}/${secret} ${found ? `has no ${key}` : 'does not exist'}: without it the cluster cannot be imported`,
  );
}
