import { Deployment } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { answeringPods } from '../../pods/answering-pods.ts';
import { askPods } from '../../pods/ask-pods.ts';
import { wasStartedWith } from '../../pods/started-with.ts';
import { deploymentReadiness, type PodObject } from '../../kube/readiness.ts';
import { signingKey, verifyingKeys } from './tokens.ts';
import type { HostedClient } from '../../hosted/hosted-client.ts';
import { findTask } from '../../tasks/task.ts';
import type { KeyRotationContext } from './context.ts';

/** What API servers do with token keys, by their IDs. */
export type KeyClaim =
  | { readonly kind: 'accept'; readonly key: string }
  | { readonly kind: 'signWith'; readonly key: string }
  | { readonly kind: 'drop'; readonly keys: readonly string[] };

export type Proof =
  | { readonly kind: 'proved' }
  /** What it waits for, as a sentence. */
  | { readonly kind: 'pending'; readonly message: string };

const proved: Proof = { kind: 'proved' };
const work = 'service account key proof';

/** API servers are replaced one at a time, each within seconds. */
export const retryMs = 3_000;

/** Whether all API servers report that the claim holds. They are queried in the background. */
export async function proveOfAPIServers(scope: KeyRotationContext, claim: KeyClaim): Promise<Proof> {
  const { cluster, reader, now } = scope;
  const pods = await answeringPods(scope, 'api-server');
  const rollout = deploymentReadiness(reader.get(Deployment, namesOf(cluster.name).apiServer));
  if (pods.length === 0)
    return {
      kind: 'pending',
      message: 'no API server runs to report its keys: see the condition APIServerDeploymentsReady',
    };

  const inputsKey = [JSON.stringify(claim), ...pods.map(({ metadata }) => metadata.uid ?? '').sort()].join(' ');
  const task = findTask<Answers>(scope.work, now, { name: work, inputsKey, retryMs, holdsMs: () => retryMs });
  const answers = task.state.kind === 'done' ? task.state.result : { holding: 0, problems: [] };
  if (rollout.ready && answers.holding === pods.length) return proved;
  if (task.isDue) {
    const hosted = scope.hosted(scope.facts);
    task.start(() => ask(pods, hosted, claim));
  }
  const message = rollout.ready ? describe(claim, pods.length, answers) : `API servers: ${rollout.message}`;
  return { kind: 'pending', message };
}

function describe({ kind }: KeyClaim, count: number, { holding, problems: [problem] }: Answers): string {
  const why = problem === undefined ? '' : `; ${problem}`;
  return `${holding} of ${count} API servers ${actions[kind]}${why}`;
}

const actions: Readonly<Record<KeyClaim['kind'], string>> = {
  accept: 'accept the new key',
  signWith: 'sign with the new key',
  drop: 'have dropped the old key',
};

/**
 * Whether the controller manager signs with a key. It does not report the key, but was started with it.
 * @param fingerprint of the key, as in `facts.signers`
 */
export async function proveOfControllerManager(scope: KeyRotationContext, fingerprint: string): Promise<Proof> {
  const { cluster, reader } = scope;
  const { controllerManager, secrets } = namesOf(cluster.name);
  const rollout = deploymentReadiness(reader.get(Deployment, controllerManager));
  if (!rollout.ready) return { kind: 'pending', message: `controller manager: ${rollout.message}` };
  const pods = await answeringPods(scope, 'controller-manager');
  return pods.every((pod) => wasStartedWith(pod, `${secrets.serviceAccount}/signer`, fingerprint))
    ? proved
    : { kind: 'pending', message: 'the pods of the controller manager are not replaced yet' };
}

interface Answers {
  readonly holding: number;
  readonly problems: readonly string[];
}

async function ask(pods: readonly PodObject[], hosted: HostedClient, claim: KeyClaim): Promise<Answers> {
  const answers = await askPods(pods, (address) => holds(hosted, address, claim));
  return {
    holding: answers.filter((answer) => answer.kind === 'answered' && answer.value).length,
    problems: answers.flatMap((answer) => (answer.kind === 'silent' ? [`${answer.pod} ${answer.problem}`] : [])),
  };
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
