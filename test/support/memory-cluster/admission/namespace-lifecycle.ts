import { Namespace } from '../../../../constructs/api/resources.ts';
import type { AnyFields } from '../api-server.ts';
import type { AdmissionRequest } from './admission.ts';

/** Nothing is created in a namespace that is being deleted. */
export function namespaceLifecycle({ resource, object, stored, store, forbidden }: AdmissionRequest): AnyFields {
  const { namespace } = object.metadata;
  if (stored || !resource.namespaced || namespace === undefined) return object;
  if (!store.find(Namespace, { name: namespace })?.metadata.deletionTimestamp) return object;
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  throw forbidden(`unable to create new content in namespace ${namespace} because it is being terminated`, [cause]);
}
