import { KubeClient } from '../../reconciler/kube/client.ts';
import { connectionFor, type ConnectionTarget } from '../../reconciler/kube/config.ts';
import { kubeErrorOf } from '../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';

interface SelfSubjectReview extends KubeObject {
  readonly status: { readonly userInfo: SignedInUser };
}

/** Who an API server takes a client for. */
export interface SignedInUser {
  readonly username: string;
  readonly groups: readonly string[];
}

/** Who the API server takes the bearer of a token for; undefined when it does not accept the token. */
export async function signedInUser(
  target: Pick<ConnectionTarget, 'server' | 'serverName' | 'ca'>,
  token: string,
): Promise<SignedInUser | undefined> {
  const client = new KubeClient(connectionFor({ ...target, token }), { deadlineMs: 10_000 });
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: 'me' } };
  try {
    const answer: KubeObject & Partial<SelfSubjectReview> = await client.create(review, { fieldManager: 'test' });
    return answer.status?.userInfo;
  } catch (error) {
    if (kubeErrorOf(error)?.code === 401) return undefined;
    throw error;
  } finally {
    await client.connection.close();
  }
}
