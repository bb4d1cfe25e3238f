import type { AnyFields } from '../api-server.ts';
import type { AdmissionRequest, AdmissionStep } from './admission.ts';
import { limitRanges } from './limit-ranges.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { podSecurity } from './pod-security.ts';
import { priorities } from './priorities.ts';
import { resourceQuotas } from './resource-quotas.ts';
import { storageProtection } from './storage-protection.ts';

/** The plugins that an API server has on by default, as far as they change or refuse what this product writes, in its order. */
const steps: readonly AdmissionStep[] = [
  namespaceLifecycle,
  limitRanges,
  podSecurity,
  priorities,
  storageProtection,
  resourceQuotas,
];

/** The object as it is to be stored. @throws what the API server answers to a refused request */
export function admitted(request: AdmissionRequest): AnyFields {
  return steps.reduce((object, step) => step({ ...request, object }), request.object);
}
