import { z } from 'zod';
import { Cluster, type Resource } from '../../../constructs/api/resources.ts';
import * as clusterApi from '../../../imports/cluster.x-k8s.io.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { isInvalid } from '../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { applyObjects } from './apply-objects.ts';
import type { Provider } from './components.ts';
import { caCertificate, issueServing } from './credentials.ts';
import { providerImageName } from './images.ts';
import type { Instance } from './instance.ts';
import { until } from './progress.ts';
import { parseObject } from './rendered-objects.ts';

/**
 * Installs a manager of Cluster API: the Deployment, permissions and webhooks that upstream ships, with certificates
 * signed here instead of by cert-manager.
 */
export async function applyProvider(
  instance: Instance,
  client: KubeClient,
  provider: Provider,
  components: readonly KubeObject[],
): Promise<void> {
  const image = await providerImageName(provider);
  const certificateAuthority = await caCertificate(instance);
  const wanted = components.filter(({ kind }) => kind !== 'Issuer');
  await applyObjects(
    client,
    await Promise.all(wanted.map((object) => adapted(instance, image, certificateAuthority, object))),
  );
}

/** Ends when Cluster API's webhooks validate Clusters. */
export async function untilWebhooksAnswer(client: KubeClient): Promise<void> {
  const infrastructure = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'ProbeCluster', name: 'probe' };
  const metadata = { name: 'probe', namespace: 'default' };
  const probe = clusterApi.Cluster.manifest({ metadata, spec: { infrastructureRef: infrastructure } });
  await untilJudged(client, probe, Cluster, 'kubectl -n capi-system logs deploy/capi-controller-manager');
}

const KubeadmConfig: Resource = {
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
  kind: 'KubeadmConfig',
  plural: 'kubeadmconfigs',
  namespaced: true,
};

/** Ends when the webhooks of the kubeadm bootstrap provider validate KubeadmConfigs. */
export async function untilBootstrapAnswers(client: KubeClient): Promise<void> {
  const { apiVersion, kind } = KubeadmConfig;
  const probe = {
    apiVersion,
    kind,
    metadata: { name: 'probe', namespace: 'default' },
    spec: { format: 'cloud-config' },
  };
  const logs = 'kubectl -n capi-kubeadm-bootstrap-system logs deploy/capi-kubeadm-bootstrap-controller-manager';
  await untilJudged(client, probe, KubeadmConfig, logs);
}

async function untilJudged(client: KubeClient, probe: KubeObject, resource: Resource, logs: string): Promise<void> {
  const what = `the webhook that judges a ${resource.kind} (${logs})`;
  await until({ what, timeoutMs: 90_000, intervalMs: 100 }, () =>
    client.apply(probe, { resource, fieldManager: 'testbed', dryRun: true, deadlineMs: 5_000 }).then(
      () => true,
      (error: unknown) => {
        // an answer of the webhook too, which reports that the probe is invalid
        if (isInvalid(error)) return true;
        throw error;
      },
    ),
  );
}

/** The object with the values of this cluster: the image, the CA of the webhooks, their certificate. */
async function adapted(
  instance: Instance,
  image: string,
  certificateAuthority: string,
  object: KubeObject,
): Promise<KubeObject> {
  switch (object.kind) {
    case 'Certificate':
      return webhookSecret(instance, Certificate.parse(object));
    case 'Deployment':
      return manager(object, image);
    default:
      return trusting(object, certificateAuthority);
  }
}

const Certificate = z.object({
  metadata: z.object({ namespace: z.string() }),
  spec: z.object({ secretName: z.string(), dnsNames: z.tuple([z.string()], z.string()) }),
});

async function webhookSecret(instance: Instance, wanted: z.infer<typeof Certificate>): Promise<KubeObject> {
  const { certificate, key } = await issueServing(instance, wanted.spec.dnsNames);
  const metadata = { name: wanted.spec.secretName, namespace: wanted.metadata.namespace };
  const data = { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data };
  return secret;
}

/** No registry answers here, and a readiness probe every ten seconds would be most of the time until the webhooks answer. */
function manager(deployment: KubeObject, image: string): KubeObject {
  const text = JSON.stringify(deployment, (key, value: unknown) => {
    if (key === 'image') return image;
    if (key === 'imagePullPolicy') return 'IfNotPresent';
    // upstream ends a manager that is late three times, and with it the webhooks of every test
    if (key === 'livenessProbe') return { ...Object(value), timeoutSeconds: 20, failureThreshold: 6 };
    if (key === 'readinessProbe') return { ...Object(value), periodSeconds: 1 };
    // one replica needs no election, and after a kill there is no lease to wait for
    if (key === 'args' && Array.isArray(value)) return value.filter((flag) => flag !== '--leader-elect');
    return value;
  });
  return parseObject(text);
}

/** Admission and conversion webhooks alike call a Service by a `clientConfig`. */
function trusting(object: KubeObject, certificateAuthority: string): KubeObject {
  const caBundle = base64(certificateAuthority);
  const text = JSON.stringify(object, (key, value: unknown) => {
    // a schema that has such a field itself is skipped
    const isMeant = key === 'clientConfig' && typeof value === 'object' && value !== null && 'service' in value;
    return isMeant ? { ...value, caBundle } : value;
  });
  return parseObject(text);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
