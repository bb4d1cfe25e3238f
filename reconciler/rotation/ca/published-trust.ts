import { fieldManager } from '../../../constructs/api/group.ts';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type KubeObject, objectKey } from '../../kube/object.ts';

/** The CA bundles with which API servers verify clients, and front proxies. */
export type ServerTrust = 'clients' | 'front-proxy';

/** A ConfigMap from which clients in a hosted cluster read the CA certificates that they trust. */
export interface PublishedTrust {
  /** `namespace/name`. */
  readonly configMap: string;
  readonly kind: 'root' | 'cluster-info' | ServerTrust;
  /** The text with certificates as PEM, or with PEM as base64. */
  readonly text: string;
}

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The authentication configuration that API servers publish for aggregated ones. */
export const extensionAuthentication = {
  namespace: 'kube-system',
  name: 'extension-apiserver-authentication',
} as const;

/** Reads the published CA certificates. @throws when the API server does not answer */
export async function publishedTrust(client: Pick<KubeClient, 'find' | 'pages'>): Promise<PublishedTrust[]> {
  const info = await client.find<ConfigMapObject>(ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
  const extension = await client.find<ConfigMapObject>(ConfigMap, extensionAuthentication);
  const roots: ConfigMapObject[] = [];
  for await (const page of client.pages(ConfigMap, { fieldSelector: 'metadata.name=kube-root-ca.crt' })) {
    roots.push(...page);
  }
  return [
    ...roots.map((object) => published(object, 'root', 'ca.crt')),
    ...(info ? [published(info, 'cluster-info', 'kubeconfig')] : []),
    ...(extension ? serverTrusts.map((kind) => published(extension, kind, serverTrustKeys[kind])) : []),
  ];
}

const serverTrusts: readonly ServerTrust[] = ['clients', 'front-proxy'];
const serverTrustKeys = { clients: 'client-ca-file', 'front-proxy': 'requestheader-client-ca-file' } as const;

/**
 * Removes CA certificates that API servers have published. Each API server adds those that it trusts immediately when
 * the content changes. A certificate that reappears is still trusted by one of them.
 * @param certificates PEM of the CA certificates that remain
 */
export async function republishTrust(
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
