import type { ClusterObject } from '../../../imports/cluster-api.ts';
import type { SecretObject } from '../../../imports/kubernetes.ts';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { Cluster, Secret, Service } from '../../../constructs/api/resources.ts';
import { networkOf } from '../../../constructs/cluster/cluster.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { apiServiceHost } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import type { Instance } from './instance.ts';
import { kubectl } from './kubectl.ts';

/** A Cluster by its name; several namespaces may have one of the same name. */
export interface ClusterName {
  readonly namespace: string;
  readonly name: string;
}

/** A hosted cluster, as its administrator on this host connects to it: by the ClusterIP of its Service, whatever its exposure. */
export interface HostedApi extends ClusterName {
  /** The address that workers use: `host:port` of the endpoint in Cluster API's kubeconfig. */
  readonly endpoint: string;
  /** PEM of the cluster CA. */
  readonly certificateAuthority: string;
  /** Networks of its Services. */
  readonly services: readonly string[];
  /** The caller closes its connection. */
  readonly client: KubeClient;
  /** Path of a kubeconfig for programs on this host. */
  readonly kubeconfig: string;
}

const Kubeconfig = z.looseObject({
  clusters: z.tuple([
    z.looseObject({ cluster: z.looseObject({ server: z.url(), 'certificate-authority-data': z.base64() }) }),
  ]),
  users: z.tuple([
    z.looseObject({
      user: z.looseObject({ 'client-certificate-data': z.base64(), 'client-key-data': z.base64() }),
    }),
  ]),
});

interface ServiceObject extends KubeObject {
  readonly spec: { readonly clusterIP: string; readonly ports: readonly { name?: string; port: number }[] };
}

/** Opens the API of a hosted cluster. Throws if it has no kubeconfig yet, or if the Cluster does not exist. */
export async function openHostedApi(
  instance: Instance,
  management: KubeClient,
  cluster: ClusterName,
): Promise<HostedApi> {
  const { namespace, name } = cluster;
  const names = namesOf(name);
  const [object, secret, service] = await Promise.all([
    management.find<ClusterObject>(Cluster, cluster),
    management.find<SecretObject>(Secret, { namespace, name: names.secrets.kubeconfig }),
    management.find<ServiceObject>(Service, { namespace, name: names.apiService }),
  ]);
  if (!object) throw new Error(`there is no Cluster ${namespace}/${name} in testbed ${instance.name}`);
  const text = valueOf(secret, 'value');
  const port = service?.spec.ports.find((candidate) => candidate.name === 'api')?.port;
  if (!text || !service || !port) {
    throw new Error(`Cluster ${namespace}/${name} has no kubeconfig yet: see kubectl -n ${namespace} describe hcp`);
  }

  const kubeconfig = Kubeconfig.parse(parse(text));
  const [{ cluster: published }] = kubeconfig.clusters;
  const [{ user }] = kubeconfig.users;
  const server = `https://${service.spec.clusterIP}:${port}`;
  const serverName = apiServiceHost(cluster);
  const certificateAuthority = decoded(published['certificate-authority-data']);
  const near = { ...published, server, 'tls-server-name': serverName };
  const path = join(instance.directory, 'hosted', namespace, `${name}.kubeconfig`);
  await mkdir(join(path, '..'), { recursive: true });
  const content = stringify({ ...kubeconfig, clusters: [{ ...kubeconfig.clusters[0], cluster: near }] });
  // A program that reads it now must not find half of it.
  const written = `${path}.${randomUUID()}`;
  await writeFile(written, content, { mode: 0o600 });
  await rename(written, path);
  const connection = connectionFor({
    server,
    serverName,
    ca: certificateAuthority,
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  });
  return {
    ...cluster,
    endpoint: withPort(new URL(published.server)),
    certificateAuthority,
    services: networkOf(object.spec?.clusterNetwork).services,
    // Long enough for a busy machine, and short enough to retry when its API server has just been replaced.
    client: new KubeClient(connection, { deadlineMs: 15_000 }),
    kubeconfig: path,
  };
}

/** Runs kubectl with a hosted cluster and returns its standard output; `input` is the content for `-f -`. */
export function hostedKubectl(
  instance: Instance,
  { kubeconfig }: Pick<HostedApi, 'kubeconfig'>,
  args: readonly string[],
  input?: string,
): Promise<string> {
  return kubectl(instance, ['--kubeconfig', kubeconfig, ...args], input);
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

/** A URL omits the default port of its scheme, and kubeadm needs it. */
function withPort({ hostname, port }: URL): string {
  return `${hostname}:${port || '443'}`;
}
