import { unsupportedVersion } from '../../constructs/cluster/versions.ts';
import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import { type OtherKeys, problemWithKeys } from './identity.ts';
import type { OtherControlPlane } from './other-control-plane.ts';

/** What the preview of an import finds. */
export interface ImportFacts {
  readonly cluster: string;
  readonly object: Pick<HostedControlPlane, 'spec' | 'metadata'>;
  readonly other: OtherControlPlane;
  /** Workloads of the other provider that exist. */
  readonly workloads: readonly string[];
  /** The keys of the cluster, or why they cannot be read. */
  readonly keys: OtherKeys | Error;
  readonly isClusterPaused: boolean;
  readonly hasEndpoint: boolean;
  /** Leases of operators of the other provider that are held now, as `namespace/name`. */
  readonly heldLeases: readonly string[];
  /** Names of webhook configurations of the other provider. */
  readonly webhooks: readonly string[];
  /** Why the bucket cannot be used; undefined if it can. */
  readonly storeProblem: string | undefined;
  /** The snapshot that the user names. */
  readonly snapshot: string | undefined;
  readonly now: Date;
}

/** What has to be solved before an import may begin, as sentences for the user. */
export function problemsOf(facts: ImportFacts): string[] {
  return checks.flatMap((check) => check(facts) ?? []);
}

type Check = (facts: ImportFacts) => string | undefined;

const checks: readonly Check[] = [
  function nothingToImport({ workloads, other }) {
    if (workloads.length > 0) return undefined;
    return `the namespace has none of ${other.servers.map(({ name }) => name).join(', ')}: there is no control plane of ${other.provider} to import`;
  },
  function ofUnsupportedVersion({ object: { spec } }) {
    const reason = unsupportedVersion(spec.version);
    return reason && `${reason}; upgrade the control plane with the other provider first`;
  },
  function withoutKeys({ keys, other, now }) {
    if (keys instanceof Error) return keys.message;
    const names = { ca: other.clusterCA.secret, serviceAccountKey: other.serviceAccountKey.secret };
    return problemWithKeys(keys, names, now);
  },
  function withoutSnapshot({ other, snapshot }) {
    if (other.etcd || snapshot !== undefined) return undefined;
    return `${other.provider} has no etcd for this control plane alone: store a snapshot in the bucket and name it with --snapshot`;
  },
  function withoutStore({ storeProblem }) {
    return storeProblem;
  },
  function withoutEndpoint({ hasEndpoint, cluster }) {
    return hasEndpoint ? undefined : `Cluster ${cluster} has no complete spec.controlPlaneEndpoint: set host and port`;
  },
  function ofPausedCluster({ isClusterPaused, cluster }) {
    return isClusterPaused
      ? `Cluster ${cluster} is paused, so that no operator would start it: set spec.paused to false`
      : undefined;
  },
  function besideAnOperator({ heldLeases, other }) {
    if (heldLeases.length === 0) return undefined;
    return `an operator of ${other.provider} runs and would start again what is stopped (it holds Lease ${heldLeases.join(', ')}): scale its Deployment to 0`;
  },
  function besideAWebhook({ webhooks }) {
    if (webhooks.length === 0) return undefined;
    return `the webhook of the other provider refuses writes once its operator is stopped: delete ValidatingWebhookConfiguration ${webhooks.join(', ')}`;
  },
];
