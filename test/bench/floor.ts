import type { HostedControlPlaneSpec } from '../../constructs/api/hosted-control-plane.ts';
import { Deployment, Namespace, ServiceAccount, StatefulSet } from '../../constructs/api/resources.ts';
import { type RenderedObject, renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { type HostedCluster, networkOf } from '../../constructs/control-plane/cluster.ts';
import { ports } from '../../constructs/control-plane/ports.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { settleAll } from '../../reconciler/kube/concurrency.ts';
import { deploymentReadiness, statefulSetReadiness } from '../../reconciler/kube/readiness.ts';
import { writeKubeconfig } from '../../reconciler/pki/kubeconfig.ts';
import {
  createAuthority,
  createServiceAccountKey,
  issueCertificate,
  type KeyPair,
  validFor,
} from '../../reconciler/pki/issue.ts';
import { fingerprint } from '../../reconciler/pki/pem.ts';
import {
  adminPlan,
  type AuthorityName,
  planAuthorities,
  planCertificates,
  planEtcdCertificates,
} from '../../constructs/control-plane/certificates/plan.ts';
import { pairSecret } from '../../reconciler/pki/secret.ts';
import { namesOf } from '../../constructs/control-plane/names.ts';
import { until } from '../testbed/progress.ts';
import { hostedClient } from '../support/workbench.ts';

const fieldManager = 'bench';
const cluster = 'floor';
const year = 365 * 24 * 3600_000;

/** What is measured against: everything rendered and every Secret made beforehand. */
export interface Floor {
  readonly namespace: string;
  readonly objects: readonly RenderedObject[];
  /** Of the hosted cluster's administrator. */
  readonly kubeconfig: string;
}

/** Renders the control plane of a spec, makes its Secrets, and puts namespace and Secrets in place. */
export async function prepareFloor(
  client: KubeClient,
  namespace: string,
  spec: HostedControlPlaneSpec,
  address: string,
): Promise<Floor> {
  const endpoint = { host: address, port: ports.api };
  const hosted: HostedCluster = {
    name: cluster,
    namespace,
    network: networkOf({ services: { cidrBlocks: ['10.128.0.0/16'] } }),
    spec: { ...spec, exposure: { loadBalancer: { port: ports.api, loadBalancerIP: address } } },
  };
  const validity = validFor(year, new Date());
  const authorities = new Map<AuthorityName, KeyPair>();
  const pairs = new Map<string, KeyPair>();
  for (const plan of planAuthorities(cluster)) {
    const pair = await createAuthority(plan, validity);
    authorities.set(plan.authority, pair);
    pairs.set(plan.secret, pair);
  }
  const signed = (signer: AuthorityName) => authorities.get(signer) ?? { certificate: '', key: '' };
  for (const plan of [...planEtcdCertificates(hosted), ...planCertificates(hosted, endpoint, endpoint)]) {
    pairs.set(plan.secret, await issueCertificate(plan, signed(plan.signer), validity));
  }
  pairs.set(namesOf(cluster).secrets.serviceAccount, createServiceAccountKey());
  const admin = await issueCertificate(adminPlan(cluster), signed('cluster'), validity);

  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const { apiVersion, kind } = Namespace;
  await client.apply({ apiVersion, kind, metadata: { name: namespace, labels } }, { fieldManager, force: true });
  for (const [name, pair] of pairs) {
    const { metadata, ...secret } = pairSecret({ name, namespace, cluster, owner: nobody }, 'tls', pair);
    const { ownerReferences: _, ...ownerless } = metadata;
    await client.apply({ ...secret, metadata: ownerless }, { fieldManager, force: true });
  }
  const certificates = Object.fromEntries(
    [...pairs].map(([name, { certificate }]) => [name, fingerprint(certificate)]),
  );
  return {
    namespace,
    objects: renderControlPlane(hosted, {
      endpoint,
      konnectivityEndpoint: endpoint,
      advertiseAddress: address,
      certificates,
      mounts: {},
    }),
    kubeconfig: writeKubeconfig({ cluster, endpoint, authority: signed('cluster').certificate, client: admin }),
  };
}

const nobody = { apiVersion: '', kind: '', name: '', uid: '', controller: true, blockOwnerDeletion: true };

/** Applies all objects at once; milliseconds until every workload is there, the kubeconfig works and controllers do. */
export async function measureFloor(client: KubeClient, floor: Floor): Promise<number> {
  const start = performance.now();
  const applied = await settleAll(floor.objects, 8, (object) => client.apply(object, { fieldManager, force: true }));
  const failed = applied.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  await Promise.all([untilUsable(floor.kubeconfig), untilRolledOut(client, floor.namespace)]);
  return performance.now() - start;
}

/** Resolves when a kubeconfig works and the hosted controllers do: the `default` service account is there. */
export async function untilUsable(kubeconfig: string): Promise<void> {
  const hosted = hostedClient(kubeconfig);
  try {
    await until({ what: 'the hosted cluster usable', timeoutMs: 180_000, intervalMs: 100 }, async () => {
      await hosted.raw('/readyz');
      return (await hosted.find(ServiceAccount, { namespace: 'default', name: 'default' })) !== undefined;
    });
  } finally {
    await hosted.connection.close();
  }
}

async function untilRolledOut(client: KubeClient, namespace: string): Promise<void> {
  await until({ what: 'all workloads of the floor', timeoutMs: 180_000, intervalMs: 100 }, async () => {
    const [deployments, sets] = await Promise.all([
      client.list(Deployment, { namespace }),
      client.list(StatefulSet, { namespace }),
    ]);
    return (
      deployments.items.every((d) => deploymentReadiness(d).ready) &&
      sets.items.every((s) => statefulSetReadiness(s).ready)
    );
  });
}

/** Takes it down in the order that does not make an API server wait for its etcd. */
export async function removeFloor(client: KubeClient, namespace: string): Promise<void> {
  for (const resource of [Deployment, StatefulSet]) {
    const { items } = await client.list(resource, { namespace });
    for (const { metadata } of items) {
      await client.delete(resource, { namespace, name: metadata.name }, { propagationPolicy: 'Foreground' });
    }
    await until({ what: `${resource.kind}s of the floor gone`, timeoutMs: 120_000, intervalMs: 100 }, async () => {
      return (await client.list(resource, { namespace })).items.length === 0;
    });
  }
  await client.delete(Namespace, { name: namespace });
  await until({ what: `namespace ${namespace} gone`, timeoutMs: 120_000, intervalMs: 200 }, async () => {
    return !(await client.find(Namespace, { name: namespace }));
  });
}
