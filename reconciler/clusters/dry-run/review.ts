import { fieldManager } from '../../../constructs/api/group.ts';
import { SelfSubjectAccessReview, SubjectAccessReview, TokenReview } from '../../../constructs/api/resources.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import type { KubeObject } from '../../kube/object.ts';

/** An API server that decides. */
export type Reviewer = Pick<KubernetesApi, 'create'>;

/** A user, as an API server has authenticated it. */
export interface UserInfo {
  readonly username?: string | undefined;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** What a user wants to do, with an object or at a path. */
export type Attributes =
  | {
      readonly resourceAttributes: {
        readonly namespace: string;
        readonly name?: string;
        readonly verb: string;
        readonly group: string;
        readonly resource: string;
        readonly subresource?: string;
      };
    }
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } };

/** The owner of a token; undefined if it is not valid. @throws if the API server does not decide */
export async function ownerOf(token: string, reviewer: Reviewer): Promise<UserInfo | undefined> {
  const status = await ask<{ readonly authenticated: boolean; readonly user: UserInfo }>(reviewer, TokenReview, {
    token,
  });
  return status.authenticated === true ? (status.user ?? {}) : undefined;
}

/** Whether a user may do something. @throws if the API server does not decide */
export async function isAllowed(
  { username, uid, groups, extra }: UserInfo,
  what: Attributes,
  reviewer: Reviewer,
): Promise<boolean> {
  const user = { user: username, uid, groups, extra };
  const status = await ask<{ readonly allowed: boolean }>(reviewer, SubjectAccessReview, { ...user, ...what });
  return status.allowed === true;
}

/** Whether the operator may do something. @throws if the API server does not decide */
export async function mayDo(what: Attributes, reviewer: Reviewer): Promise<boolean> {
  return (await ask<{ readonly allowed: boolean }>(reviewer, SelfSubjectAccessReview, what)).allowed === true;
}

async function ask<T>(reviewer: Reviewer, { apiVersion, kind }: typeof TokenReview, spec: object): Promise<Partial<T>> {
  const review: KubeObject & { readonly spec: object; readonly status?: Partial<T> } = await reviewer.create(
    { apiVersion, kind, metadata: { name: '' }, spec },
    { fieldManager },
  );
  return review.status ?? {};
}
