import { Pod, type Resource } from '../../../../constructs/api/resources.ts';
import type { AnyFields } from '../api-server.ts';
import type { AdmissionRequest } from './admission.ts';

/** The operator neither reads nor writes these. */
export const PriorityClass: Resource = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  namespaced: false,
};

/** Every API server has them from the start. */
const builtIn = ['system-cluster-critical', 'system-node-critical'];

/** A pod names a PriorityClass that exists, or none. */
export function priorities({ resource, object, stored, store, forbidden }: AdmissionRequest): AnyFields {
  if (stored || resource.kind !== Pod.kind) return object;
  const { priorityClassName: name } = (object['spec'] ?? {}) as { readonly priorityClassName?: string };
  if (name === undefined || builtIn.includes(name) || store.find(PriorityClass, { name })) return object;
  throw forbidden(`no PriorityClass with name ${name} was found`);
}
