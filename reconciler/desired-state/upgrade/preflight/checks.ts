import type { ConditionReason } from '../../../../constructs/api/conditions.ts';
import { skipPreflightAnnotation } from '../../../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../../../constructs/api/hosted-control-plane.ts';
import { minorOf, parseVersion } from '../../../../constructs/cluster/versions.ts';
import type { ObjectMeta } from '../../../kube/object.ts';

/** Names of the checks before a minor upgrade, as in the annotation that skips them. */
export const preflightChecks = ['nodes', 'removed-apis', 'webhooks', 'etcd', 'backup', 'configuration'] as const;
type PreflightCheck = (typeof preflightChecks)[number];

/** Those that need an answer of the hosted cluster. */
export const checksOfHosted: readonly PreflightCheck[] = ['nodes', 'removed-apis', 'webhooks'];

/** A deprecated API that clients have requested. */
export interface RequestedAPI {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** The minor that does not serve it any more, such as `1.37`. */
  readonly removedRelease: string;
}

/** What was observed before a minor upgrade. */
export interface PreflightInput {
  /** The version of the spec. */
  readonly version: string;
  readonly nodes: readonly { readonly name: string; readonly kubeletVersion: string }[];
  /** Deprecated APIs that clients have requested of any API server since it started. */
  readonly requested: readonly RequestedAPI[];
  /** API servers that did not answer, with why. */
  readonly silent: readonly string[];
  /** What an admission webhook has answered to writes that the upgrade needs, when it kept them from being made. */
  readonly webhookErrors: readonly string[];
  /** Why etcd must not be changed now; undefined when it is healthy. */
  readonly etcd: string | undefined;
  /** Why nothing proves that a backup can be restored; undefined when something does. */
  readonly backup: string | undefined;
  /** What the kube-apiserver of the version has against flags, token issuers and audit settings; undefined for nothing. */
  readonly configuration: string | undefined;
}

/** What stands in the way of an upgrade. */
export interface PreflightProblem {
  readonly check: PreflightCheck;
  readonly reason: ConditionReason<'UpgradePreflightSucceeded'>;
  /** One sentence: what was found, and what to do. */
  readonly message: string;
}

/** API servers serve kubelets of their own minor and of this many before it. */
const kubeletMinors = 3;
/** Names in a message; the number of the others follows. */
const namedAtMost = 5;

/** Every problem, in the order of {@link preflightChecks}. */
export function findProblems(observation: PreflightInput): PreflightProblem[] {
  return [nodes, removedAPIs, webhooks, etcd, backup, configuration].flatMap((check) => check(observation) ?? []);
}

type Check = (observation: PreflightInput) => PreflightProblem | undefined;

const nodes: Check = ({ version, nodes: all }) => {
  const target = minorOf(version);
  const [oldest, newest] = [target - kubeletMinors, target];
  const unfit = all.filter(({ kubeletVersion }) => {
    const minor = parseVersion(kubeletVersion)?.minor;
    return minor !== undefined && (minor < oldest || minor > newest);
  });
  if (unfit.length === 0) return undefined;
  const names = listed(unfit.map(({ name, kubeletVersion }) => `${name} (${kubeletVersion})`));
  return {
    check: 'nodes',
    reason: 'NodesUnsuitable',
    message: `API servers ${version} serve kubelets 1.${oldest} to 1.${newest}, not the kubelets of nodes ${names}: upgrade or replace these nodes first`,
  };
};

const removedAPIs: Check = ({ version, requested, silent }) => {
  const removed = requested.filter(({ removedRelease }) => minorOf(removedRelease) <= minorOf(version));
  if (removed.length > 0) {
    const names = listed([
      ...new Set(
        removed.map(({ group, version: served, resource }) => `${resource} in ${group ? `${group}/` : ''}${served}`),
      ),
    ]);
    return {
      check: 'removed-apis',
      reason: 'RemovedAPIsInUse',
      message: `clients have requested ${names}, which Kubernetes ${version} does not serve any more: change these clients, whose names are in audit events with the annotation k8s.io/removed-release; API servers forget requests when they restart`,
    };
  }
  if (silent.length === 0) return undefined;
  return {
    check: 'removed-apis',
    reason: 'APIServersSilent',
    message: `which APIs are in use is unknown, because API servers do not answer: ${listed(silent)}`,
  };
};

const webhooks: Check = ({ webhookErrors }) => {
  if (webhookErrors.length === 0) return undefined;
  return {
    check: 'webhooks',
    reason: 'WebhooksRefuse',
    message: `admission webhooks refuse writes in kube-system that the upgrade needs: ${listed([...new Set(webhookErrors)])}: repair the webhooks, or exclude kube-system from them`,
  };
};

const etcd: Check = ({ etcd: problem }) =>
  problem === undefined
    ? undefined
    : {
        check: 'etcd',
        reason: 'EtcdNotHealthy',
        message: `etcd must be healthy and have space before an upgrade: ${problem}`,
      };

const backup: Check = ({ backup: problem }) =>
  problem === undefined
    ? undefined
    : {
        check: 'backup',
        reason: 'BackupNotVerified',
        message: `the way back needs a backup that can be restored: ${problem}`,
      };

const configuration: Check = ({ configuration: problem }) =>
  problem === undefined ? undefined : { check: 'configuration', reason: 'ConfigurationRefused', message: problem };

function listed(names: readonly string[]): string {
  const shown = names.slice(0, namedAtMost).join(', ');
  return names.length > namedAtMost ? `${shown} and ${names.length - namedAtMost} more` : shown;
}

/** The checks that a user skips, and what the annotation names besides. */
interface SkippedChecks {
  readonly checks: readonly PreflightCheck[];
  readonly unknown: readonly string[];
}

/** Reads the annotation of a HostedControlPlane. */
export function skippedChecks({ annotations = {} }: Pick<ObjectMeta, 'annotations'>): SkippedChecks {
  const names = (annotations[skipPreflightAnnotation] ?? '').split(',').map((name) => name.trim());
  const isCheck = (name: string): name is PreflightCheck => preflightChecks.some((check) => check === name);
  return { checks: names.filter(isCheck), unknown: names.filter((name) => name !== '' && !isCheck(name)) };
}

/** What was observed longer ago may not hold any more. */
const validMs = 5 * 60_000;

/** Whether the checks before an upgrade to the version of the spec have succeeded, recently enough to begin. */
export function hasPassed({ spec, status }: Pick<HostedControlPlane, 'spec' | 'status'>, now: Date): boolean {
  const { version, succeeded = '' } = status?.preflight ?? {};
  return version === spec.version && now.getTime() - Date.parse(succeeded) < validMs;
}
