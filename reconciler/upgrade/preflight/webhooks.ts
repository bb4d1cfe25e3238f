import { fieldManager } from '../../../constructs/api/group.ts';
import {
  ConfigMap,
  DaemonSet,
  Deployment,
  Lease,
  type Resource,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import { messageOf } from '../../kube/error-message.ts';
import type { KubeObject } from '../../kube/object.ts';

const metadata = { namespace: 'kube-system', name: 'upgrade-preflight' };
const labels = { app: metadata.name };
const template = { metadata: { labels }, spec: { containers: [{ name: 'any', image: 'registry.k8s.io/pause:3.10' }] } };

/** One object of each kind that new controllers and add-ons write in kube-system. They are never stored. */
const writes: readonly { readonly resource: Resource; readonly more?: object }[] = [
  { resource: Lease, more: { spec: { holderIdentity: metadata.name } } },
  { resource: ConfigMap },
  { resource: ServiceAccount },
  { resource: Deployment, more: { spec: { selector: { matchLabels: labels }, replicas: 0, template } } },
  { resource: DaemonSet, more: { spec: { selector: { matchLabels: labels }, template } } },
];

/**
 * What admission webhooks answer to writes in kube-system, by trying them without storing anything: a rule that matches is no
 * problem while its webhook works. A webhook that cannot be tried without effects is not asked.
 */
export async function webhookErrors(client: Pick<KubernetesApi, 'apply'>): Promise<string[]> {
  const errors = await Promise.all(
    writes.map(async ({ resource: { apiVersion, kind }, more }) => {
      const object: KubeObject = { apiVersion, kind, metadata, ...more };
      return client.apply(object, { fieldManager, force: true, dryRun: true }).then(
        () => [],
        (error: unknown) => {
          const message = messageOf(error);
          return /webhook/.test(message) && !/does not support dry run/.test(message) ? [message] : [];
        },
      );
    }),
  );
  return errors.flat();
}
