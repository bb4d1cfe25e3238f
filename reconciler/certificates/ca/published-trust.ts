import type { ConfigMapObject } from '../../../imports/kubernetes.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { Collection } from '../../kube/cache-budget.ts';
import type { KubeClient } from '../../kube/client.ts';
import { objectKey } from '../../kube/object.ts';
import { caOf } from '../../pki/kubeconfig.ts';
import { fingerprint, splitCertificates } from '../../pki/pem.ts';
import { type CARotationContext, isWaiting, type RotatedCA } from './rotated-ca.ts';

/** The CA certificates with which API servers verify clients, and those with which they verify the front proxy. */
type ServerTrust = 'clients' | 'frontProxy';

/** A ConfigMap with the CA certificates that clients in a hosted cluster trust. */
interface PublishedTrust {
  /** `namespace/name`. */
  readonly configMap: string;
  readonly kind: 'root' | 'clusterInfo' | ServerTrust;
  /** The text with certificates as PEM, or with PEM as base64. */
  readonly text: string;
}

/** The authentication configuration that API servers publish for aggregated API servers. */
export const extensionAuthentication = {
  namespace: 'kube-system',
  name: 'extension-apiserver-authentication',
} as const;

/** ConfigMaps of the hosted cluster that do not contain all trusted certificates, or contain others. */
export async function staleTrustConfigMaps(scope: CARotationContext, ca: RotatedCA): Promise<string[]> {
  const { plan, pair } = ca;
  if (plan.ca === 'etcd') return [];
  const hosted = scope.hosted(scope.facts);
  const server: ServerTrust = plan.ca === 'cluster' ? 'clients' : 'frontProxy';
  const kinds: readonly PublishedTrust['kind'][] = plan.ca === 'cluster' ? ['root', 'clusterInfo', server] : [server];
  const published = (await hosted.asAdministrator(publishedTrust)).filter(({ kind }) => kinds.includes(kind));
  const others = published.filter(({ kind, text }) => !containsExactly(kind, text, pair.certificate));
  // Before it signs, API servers are still adding the other certificates.
  const mayTakeAway = !isWaiting(ca);
  const isServers = ({ kind }: PublishedTrust) => kind === server;
  if (mayTakeAway && others.some(isServers))
    await hosted.asAdministrator((client) => republishTrust(client, server, pair.certificate));
  return others
    .filter((one) => mayTakeAway || !isServers(one) || !containsAll(one.text, pair.certificate))
    .map(({ configMap }) => `ConfigMap ${configMap}, which is not up to date yet`);
}

/** Whether the text contains exactly these certificates. */
function containsExactly(kind: PublishedTrust['kind'], text: string, wanted: string): boolean {
  const given = kind === 'clusterInfo' ? (caOf(text) ?? '') : text;
  return containsAll(given, wanted) && splitCertificates(given).length === splitCertificates(wanted).length;
}

function containsAll(text: string, wanted: string): boolean {
  const given = splitCertificates(text).map(fingerprint);
  return splitCertificates(wanted).every((one) => given.includes(fingerprint(one)));
}

/** Reads the published CA certificates. @throws if the API server does not answer */
async function publishedTrust(client: Pick<KubeClient, 'find' | 'pages'>): Promise<PublishedTrust[]> {
  const info = await client.find<ConfigMapObject>(ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
  const extension = await client.find<ConfigMapObject>(ConfigMap, extensionAuthentication);
  const roots = new Collection<PublishedTrust>();
  for await (const page of client.pages(ConfigMap, { fieldSelector: 'metadata.name=kube-root-ca.crt' })) {
    for (const object of page) roots.add(published(object, 'root', 'ca.crt'));
  }
  return [
    ...roots.items,
    ...(info ? [published(info, 'clusterInfo', 'kubeconfig')] : []),
    ...(extension ? serverTrusts.map((kind) => published(extension, kind, serverTrustKeys[kind])) : []),
  ];
}

const serverTrusts: readonly ServerTrust[] = ['clients', 'frontProxy'];
const serverTrustKeys = { clients: 'client-ca-file', frontProxy: 'requestheader-client-ca-file' } as const;

/**
 * Removes other CA certificates from those that API servers have published. Each API server immediately adds those that
 * it trusts when the list changes. A certificate that returns is still trusted by one of them.
 * @param certificates PEM of the certificates to keep
 */
async function republishTrust(
  client: Pick<KubeClient, 'mergePatch'>,
  kind: ServerTrust,
  certificates: string,
): Promise<void> {
  const data = { [serverTrustKeys[kind]]: certificates };
  await client.mergePatch(ConfigMap, extensionAuthentication, { data }, { fieldManager });
}

function published({ metadata, data }: ConfigMapObject, kind: PublishedTrust['kind'], key: string): PublishedTrust {
  return { configMap: objectKey(metadata), kind, text: data?.[key] ?? '' };
}
