import type { PodObject } from '../../imports/kubernetes.ts';
import { versionAnnotation } from '../../constructs/pod/component.ts';
import { hasChange } from '../../constructs/cluster/versions.ts';
import type { KubernetesApi } from '../kube/client.ts';
import { samplesOf } from '../kube/metric-samples.ts';
import { isReady } from '../kube/readiness.ts';
import { podsWithProblem } from '../clusters/pods/proven-by-all.ts';
import { wasStartedWith } from '../clusters/pods/secret-files.ts';

const metric = 'apiserver_encryption_config_controller_last_config_info';

/**
 * Hash of the encryption configuration that an API server reports as loaded, from its metrics; undefined if there is
 * none.
 */
export function loadedConfiguration(metrics: string): string | undefined {
  const [sample] = samplesOf(metrics, metric);
  return sample && Number(sample.value) === 1 ? sample.labels.get('hash') : undefined;
}

/** Hash of the encryption configuration that an API server has loaded; undefined if its metrics contain none. */
export async function loadedEncryption(client: Pick<KubernetesApi, 'raw'>): Promise<string | undefined> {
  return loadedConfiguration(await client.raw('/metrics'));
}

/** Queries the API server of a pod by its address. */
export type AskLoaded = (address: string) => Promise<string | undefined>;

/**
 * Part of a sentence about each pod that has not loaded a configuration. A pod that does not answer is included, because it may
 * return with its previous configuration.
 */
export function podsWithout(
  { hash, secret }: { readonly hash: string; readonly secret: string },
  pods: readonly PodObject[],
  ask: AskLoaded,
): Promise<string[]> {
  return podsWithProblem(pods, async (address, pod) => {
    const hasLoaded = reports(pod) ? (await ask(address)) === hash : isStartedWith(pod, secret, hash);
    return hasLoaded ? undefined : 'has not loaded the keys yet';
  });
}

function reports({ metadata }: PodObject): boolean {
  return hasChange(metadata.annotations?.[versionAnnotation] ?? 'v1.0', 'reportsLoadedEncryption');
}

/**
 * The kubelet reads a Secret again when a pod starts, and this pod was created when the Secret already had this
 * content.
 */
function isStartedWith(pod: PodObject, secret: string, hash: string): boolean {
  return isReady(pod) && wasStartedWith(pod, secret, hash.slice('sha256:'.length));
}
