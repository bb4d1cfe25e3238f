import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { Secret } from '../../../constructs/api/resources.ts';
import { type SecretObject, valueOf } from '../../../reconciler/pki/secret.ts';
import type { Workbench } from '../../support/workbench.ts';
import type { Instance } from '../../tools/testbed/instance.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';

interface Kubeconfig {
  readonly clusters: readonly [{ readonly name: string; readonly cluster: { readonly server: string } }];
}

interface Review {
  readonly status: { readonly userInfo: { readonly username: string; readonly groups: readonly string[] } };
}

/**
 * The user that a hosted API server reports for kubectl, with the kubeconfig that Cluster API uses. Its client certificate
 * is effective only if no proxy terminates TLS.
 * @param address of the endpoint's host, which this machine's resolver does not know
 */
export async function whoAmI(
  { instance, bench, address }: { instance: Instance; bench: Workbench; address: string },
  cluster: string,
): Promise<Review['status']['userInfo']> {
  const name = { namespace: bench.namespace, name: `${cluster}-kubeconfig` };
  const published = parse(valueOf(await bench.client.get<SecretObject>(Secret, name), 'value') ?? '') as Kubeconfig;
  const [entry] = published.clusters;
  const { hostname, port } = new URL(entry.cluster.server);
  const near = { server: `https://${address}:${port || 443}`, 'tls-server-name': hostname };

  const directory = await mkdtemp(join(tmpdir(), 'who-am-i-'));
  try {
    const file = join(directory, 'kubeconfig');
    const clusters = [{ ...entry, cluster: { ...entry.cluster, ...near } }];
    await writeFile(file, stringify({ ...published, clusters }), { mode: 0o600 });
    const answer = await kubectl(instance, ['--kubeconfig', file, 'auth', 'whoami', '--output', 'json']);
    return (JSON.parse(answer) as Review).status.userInfo;
  } finally {
    await rm(directory, { recursive: true });
  }
}
