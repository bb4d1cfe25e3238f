import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { Authorizer, AuthorizedRequest, ResourceRequest } from './authorizer.ts';

interface ReviewSpec {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly resourceAttributes?: ResourceRequest;
  readonly nonResourceAttributes?: AuthorizedRequest;
}

/** The answer to a SubjectAccessReview. */
export function reviewed<T extends KubeObject>(review: T & { spec?: ReviewSpec }, authorizer: Authorizer): T {
  const { user = '', groups = [], resourceAttributes, nonResourceAttributes } = review.spec ?? {};
  const request = resourceAttributes ?? nonResourceAttributes;
  const { isAllowed, problem } = request ? authorizer.decide({ name: user, groups }, request) : { isAllowed: false };
  return { ...review, status: { allowed: isAllowed, ...(problem !== undefined && { reason: problem }) } };
}
