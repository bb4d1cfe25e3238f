import type { SecretObject } from '../../imports/kubernetes.ts';
import { z } from 'zod';
import {
  clusterNameLabel,
  importEtcdVersionAnnotation,
  importSnapshotAnnotation,
  importStoppedAnnotation,
  importedFromAnnotation,
} from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../kube/client.ts';
import { encodedData, valueOf } from '../pki/secret.ts';
import type { NewSecret } from './identity.ts';
import { type ProviderName, providerNames } from './other-control-plane.ts';

/** What an import must not lose when it is interrupted: the keys of the cluster, and what was done. */
export interface ImportRecord {
  readonly provider: ProviderName;
  /** Name of the control plane among the objects of the other provider. */
  readonly name: string;
  /** The Secrets to write. */
  readonly secrets: readonly NewSecret[];
  /** Since when the API servers of the other provider have been stopped. */
  readonly stopped: Date | undefined;
  /** The snapshot that is stored and checked. */
  readonly snapshot: string | undefined;
  /** Version of the etcd that has written it, if known. */
  readonly etcdVersion: string | undefined;
}

/** Name of the Secret with the record. It is no object of the operator. */
export function recordName(cluster: string): string {
  return `${cluster}-import`;
}

/** The key in the Secret with the Secrets to write. */
const secretsKey = 'secrets.json';

const Secrets = z.array(
  z.object({
    name: z.string(),
    pair: z.object({ certificate: z.string(), key: z.string() }),
    annotations: z.record(z.string(), z.string()),
  }),
);

/** The Secret of a new record. */
export function recordSecret(
  { namespace, cluster }: { readonly namespace: string; readonly cluster: string },
  { provider, name, secrets }: Pick<ImportRecord, 'provider' | 'name' | 'secrets'>,
): SecretObject {
  return {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: {
      namespace,
      name: recordName(cluster),
      labels: { [clusterNameLabel]: cluster },
      annotations: { [importedFromAnnotation]: `${provider}/${name}` },
    },
    type: 'Opaque',
    data: encodedData({ [secretsKey]: JSON.stringify(secrets) }),
  };
}

/** Reads the record; undefined if there is none. @throws if it cannot be read */
export async function readRecord(
  client: Pick<KubeClient, 'find'>,
  { namespace, cluster }: { readonly namespace: string; readonly cluster: string },
): Promise<ImportRecord | undefined> {
  const found = await client.find<SecretObject>(Secret, { namespace, name: recordName(cluster) });
  return found && parseRecord(found);
}

/** @throws a sentence for the user, without content of the Secret */
function parseRecord(secret: SecretObject): ImportRecord {
  const { annotations = {}, name: secretName } = secret.metadata;
  const [provider, name] = (annotations[importedFromAnnotation] ?? '').split('/');
  const known = providerNames.find((one) => one === provider);
  const secrets = parseSecrets(valueOf(secret, secretsKey) ?? '');
  if (!known || !name || !secrets)
    throw new Error(`Secret ${secretName} is no record of an import: rename or delete it`);
  const stopped = Date.parse(annotations[importStoppedAnnotation] ?? '');
  return {
    provider: known,
    name,
    secrets,
    stopped: Number.isNaN(stopped) ? undefined : new Date(stopped),
    snapshot: annotations[importSnapshotAnnotation],
    etcdVersion: annotations[importEtcdVersionAnnotation],
  };
}

function parseSecrets(text: string): readonly NewSecret[] | undefined {
  try {
    return Secrets.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
