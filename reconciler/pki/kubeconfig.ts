import { stringify } from 'yaml';
import { z } from 'zod';
import { type Endpoint, formatEndpoint } from '../../constructs/cluster/facts.ts';
import type { KeyPair } from './issue.ts';
import { parseYaml } from '../kube/yaml.ts';
import { valueOf } from './secret.ts';
import type { SecretObject } from '../../imports/kubernetes.ts';

/** Content of a kubeconfig. */
export interface KubeconfigContent {
  readonly cluster: string;
  /** Name of the user's entry. `<cluster>-admin` if unset, as in Cluster API's own control plane provider. */
  readonly user?: string;
  readonly endpoint: Endpoint;
  /** PEM of the cluster CA. */
  readonly ca: string;
  readonly client: KeyPair;
}

/** Writes a kubeconfig in the format of Cluster API's own control plane provider: everything inline, no plugins. */
export function writeKubeconfig(content: KubeconfigContent): string {
  const { cluster, user = `${cluster}-admin`, endpoint, ca, client } = content;
  const context = `${user}@${cluster}`;
  const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: cluster,
        cluster: { server: `https://${formatEndpoint(endpoint)}`, 'certificate-authority-data': base64(ca) },
      },
    ],
    users: [
      {
        name: user,
        user: { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) },
      },
    ],
    contexts: [{ name: context, context: { cluster, user } }],
    'current-context': context,
  });
}

const Readable = z.object({
  users: z.tuple([
    z.object({ user: z.object({ 'client-certificate-data': z.base64(), 'client-key-data': z.base64() }) }),
  ]),
});

/** The client certificate in a kubeconfig that the operator wrote; undefined if it has another form. */
export function clientOf(kubeconfig: string | undefined): KeyPair | undefined {
  if (kubeconfig === undefined) return undefined;
  const parsed = Readable.safeParse(parseYaml(kubeconfig));
  if (!parsed.success) return undefined;
  const { user } = parsed.data.users[0];
  const text = (base64: string) => Buffer.from(base64, 'base64').toString('utf8');
  return { certificate: text(user['client-certificate-data']), key: text(user['client-key-data']) };
}

const clients = new WeakMap<SecretObject, { readonly client: KeyPair | undefined }>();

/** The client certificate in the Secret of such a kubeconfig. It is read once for each version of the Secret. */
export function clientIn(secret: SecretObject | undefined): KeyPair | undefined {
  if (!secret) return undefined;
  const known = clients.get(secret) ?? { client: clientOf(valueOf(secret, 'value')) };
  clients.set(secret, known);
  return known.client;
}

const ReadableClusters = z.object({
  clusters: z.tuple([z.object({ cluster: z.object({ 'certificate-authority-data': z.base64() }) })]),
});

/** PEM of the CA certificates in a kubeconfig with one cluster; undefined if it has another form. */
export function caOf(kubeconfig: string | undefined): string | undefined {
  if (kubeconfig === undefined) return undefined;
  const parsed = ReadableClusters.safeParse(parseYaml(kubeconfig));
  if (!parsed.success) return undefined;
  return Buffer.from(parsed.data.clusters[0].cluster['certificate-authority-data'], 'base64').toString('utf8');
}
