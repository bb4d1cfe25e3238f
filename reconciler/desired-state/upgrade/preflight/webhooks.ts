import { fieldManager } from '../../../../constructs/api/group.ts';
import {
  ClusterRole,
  ClusterRoleBinding,
  Lease,
  Pod,
  type Resource,
  Role,
  RoleBinding,
  groupOf,
} from '../../../../constructs/api/resources.ts';
import type { AppliedKind } from '../../../../constructs/workload/applied-kinds.ts';
import { appliedKindsOf } from '../../../../constructs/workload/chart.ts';
import type { KubernetesApi } from '../../../kube/client.ts';
import { messageOf } from '../../../kube/error-message.ts';
import type { KubeObject } from '../../../kube/object.ts';

const name = 'upgrade-preflight';
const labels = { app: name };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { containers: [{ name: 'any', image: 'registry.k8s.io/pause:3.10' }] } };
const apiGroup = groupOf(Role);
const grants = (kind: string) => ({ roleRef: { apiGroup, kind, name }, subjects: [{ apiGroup, kind: 'User', name }] });

/** What an object of a kind needs besides its name, by kind. */
const bodies: Readonly<Record<string, object>> = {
  ClusterRole: { rules: [] },
  ClusterRoleBinding: grants('ClusterRole'),
  DaemonSet: { spec: { selector, template } },
  Deployment: { spec: { selector, replicas: 0, template } },
  EndpointSlice: { addressType: 'IPv4', endpoints: [], ports: [] },
  Lease: { spec: { holderIdentity: name } },
  Pod: { spec: template.spec },
  PodDisruptionBudget: { spec: { selector, maxUnavailable: 1 } },
  Role: { rules: [] },
  RoleBinding: grants('Role'),
  Service: { spec: { ports: [{ port: 443 }] } },
};

/** A kind, and the namespace in which it is written. */
type Write = Pick<AppliedKind, 'resource' | 'namespace'>;

/** What Kubernetes' controllers write, such as the next pods of add-ons, and what the operator applies as an administrator. */
const always: readonly Write[] = [
  ...[Lease, Pod, Role, RoleBinding].map((resource) => ({ resource, namespace: 'kube-system' })),
  ...[ClusterRole, ClusterRoleBinding].map((resource) => ({ resource, namespace: undefined })),
];

/** The API server asks no webhook about configurations of webhooks and about admission policies. */
const isExempt = (resource: Resource): boolean => groupOf(resource) === 'admissionregistration.k8s.io';

/** An object of each kind that an upgrade to a version writes, in each namespace where it does. They are never stored. */
export function triedWrites(version: string): KubeObject[] {
  const writes: readonly Write[] = [...always, ...appliedKindsOf(version)];
  const tried = writes.filter(({ resource }) => !isExempt(resource));
  return tried.map(({ resource: { apiVersion, kind }, namespace }) => ({
    apiVersion,
    kind,
    metadata: { ...(namespace === undefined ? {} : { namespace }), name },
    ...bodies[kind],
  }));
}

/**
 * What admission webhooks answer to the writes of an upgrade to a version, by trying them without storing anything: a rule that
 * matches is no problem while its webhook works. A webhook that cannot be tried without effects is not asked.
 */
export async function webhookErrors(client: Pick<KubernetesApi, 'apply'>, version: string): Promise<string[]> {
  const errors = await Promise.all(
    triedWrites(version).map((object) =>
      client.apply(object, { fieldManager, force: true, dryRun: true }).then(
        () => [],
        (error: unknown) => {
          const message = messageOf(error);
          return /webhook/.test(message) && !/does not support dry run/.test(message) ? [message] : [];
        },
      ),
    ),
  );
  return errors.flat();
}
