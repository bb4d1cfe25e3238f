import type { V1PodSpec } from '@kubernetes/client-node';
import { Namespace, Pod } from '../../../../constructs/api/resources.ts';
import { restrictedViolations } from '../../pod-security.ts';
import type { AnyFields } from '../api-server.ts';
import type { AdmissionRequest } from './admission.ts';

/** Label of a namespace with the Pod Security Standard that its pods must meet. */
export const enforceLabel = 'pod-security.kubernetes.io/enforce';

/** In a namespace that enforces the standard `restricted`, pods meet it. It refuses pods, and not what makes them. */
export function podSecurity({ resource, object, stored, store, forbidden }: AdmissionRequest): AnyFields {
  const { namespace = '' } = object.metadata;
  if (stored || resource.kind !== Pod.kind) return object;
  if (store.find(Namespace, { name: namespace })?.metadata.labels?.[enforceLabel] !== 'restricted') return object;
  const violations = restrictedViolations(object['spec'] as V1PodSpec);
  if (violations.length === 0) return object;
  throw forbidden(`violates PodSecurity "restricted:latest": ${violations.join(', ')}`);
}
