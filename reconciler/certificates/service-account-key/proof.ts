import { z } from 'zod';
import { Deployment } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { answeringPods } from '../../clusters/pods/ask-pods.ts';
import { pendingOn, podsWithProblem, type Proof, proved, provenByAll } from '../../clusters/pods/proven-by-all.ts';
import { wasStartedWith } from '../../clusters/pods/secret-files.ts';
import { deploymentReadiness } from '../../kube/readiness.ts';
import { firstServiceAccount } from '../../clusters/hosted/informers.ts';
import type { KubeClient } from '../../kube/client.ts';
import { keyOf } from './kept-tokens.ts';
import type { HostedClient } from '../../clusters/hosted/hosted-client.ts';
import type { KeyRotationContext } from './rotated-keys.ts';

/** What API servers do with token keys, by their IDs. */
export type KeyClaim =
  | { readonly kind: 'accept'; readonly key: string }
  | { readonly kind: 'signWith'; readonly key: string }
  | { readonly kind: 'drop'; readonly keys: readonly string[] };

/** Whether all API servers report that the claim holds. They are queried in the background. */
export async function proveOfAPIServers(scope: KeyRotationContext, claim: KeyClaim): Promise<Proof> {
  const { cluster, reader } = scope;
  const rollout = deploymentReadiness(reader.get(Deployment, namesOf(cluster.name).apiServer));
  if (!rollout.ready) return pendingOn([`API servers: ${rollout.message}`]);
  const client = scope.hosted(scope.facts);
  return provenByAll(scope, {
    name: 'service account key proof',
    component: 'api-server',
    version: JSON.stringify(claim),
    ask: (pods) =>
      podsWithProblem(pods, async (address) =>
        (await holds(client, address, claim)) ? undefined : problems[claim.kind],
      ),
  });
}

const problems: Readonly<Record<KeyClaim['kind'], string>> = {
  accept: 'does not accept the new key yet',
  signWith: 'does not sign with the new key yet',
  drop: 'still accepts the old key',
};

/**
 * Whether the controller manager signs with a key. It does not report the key, but was started with it.
 * @param fingerprint of the key, as in `facts.signers`
 */
export async function proveOfControllerManager(scope: KeyRotationContext, fingerprint: string): Promise<Proof> {
  const { cluster, reader } = scope;
  const { controllerManager, secrets } = namesOf(cluster.name);
  const rollout = deploymentReadiness(reader.get(Deployment, controllerManager));
  if (!rollout.ready) return pendingOn([`controller manager: ${rollout.message}`]);
  const pods = await answeringPods(scope, 'controller-manager');
  const isCurrent = pods.every((pod) => wasStartedWith(pod, `${secrets.serviceAccount}/signer`, fingerprint));
  return isCurrent ? proved : pendingOn(['the pods of the controller manager to be replaced']);
}

async function holds(hosted: HostedClient, address: string, claim: KeyClaim): Promise<boolean> {
  switch (claim.kind) {
    case 'accept':
      return (await hosted.at(address, 'administrator', verifyingKeys)).includes(claim.key);
    case 'signWith':
      return (await hosted.at(address, 'administrator', signingKey)) === claim.key;
    case 'drop': {
      const accepted = await hosted.at(address, 'administrator', verifyingKeys);
      return !claim.keys.some((key) => accepted.includes(key));
    }
  }
}

const KeySet = z.object({ keys: z.array(z.object({ kid: z.string() })) });

/** A set of keys has a few, each with 400 bytes. */
const longestKeySet = 64 * 1024;

/** No server accepts a token for this audience. */
const audience = 'hosted-control-plane-key-proof';

/**
 * IDs of the keys with which an API server verifies tokens, as it publishes them.
 * @throws if it does not answer, or returns something else
 */
export async function verifyingKeys(client: Pick<KubeClient, 'raw'>): Promise<string[]> {
  const answer = await client.raw('/openid/v1/jwks', { longestBytes: longestKeySet });
  try {
    return KeySet.parse(JSON.parse(answer)).keys.map(({ kid }) => kid);
  } catch (error) {
    throw new Error('cannot read the token keys that an API server publishes', { cause: error });
  }
}

/**
 * ID of the key with which an API server signs tokens, from a token that is requested for this check. The creation of a
 * pod with a key only shows what its kubelet knew. The token has no valid audience, and is dropped.
 * @throws if it does not answer
 */
export async function signingKey(client: Pick<KubeClient, 'serviceAccountToken'>): Promise<string | undefined> {
  return keyOf(await client.serviceAccountToken(firstServiceAccount, audience));
}
