import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { User } from './users.ts';
import type { Authorizer, AuthorizedRequest, ResourceRequest } from './authorizer.ts';

interface ReviewSpec {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly resourceAttributes?: ResourceRequest;
  readonly nonResourceAttributes?: AuthorizedRequest;
}

/** The answer to a SubjectAccessReview. */
export function reviewed<T extends KubeObject>(review: T & { spec?: ReviewSpec }, authorizer: Authorizer): T {
  const { user = '', groups = [] } = review.spec ?? {};
  return reviewedFor({ name: user, groups }, review, authorizer);
}

/** The answer to a SelfSubjectAccessReview of this user. */
export function reviewedFor<T extends KubeObject>(
  user: User,
  review: T & { spec?: ReviewSpec },
  authorizer: Authorizer,
): T {
  const { resourceAttributes, nonResourceAttributes } = review.spec ?? {};
  const request = resourceAttributes ?? nonResourceAttributes;
  const { isAllowed, problem } = request ? authorizer.decide(user, request) : { isAllowed: false };
  return { ...review, status: { allowed: isAllowed, ...(problem !== undefined && { reason: problem }) } };
}
