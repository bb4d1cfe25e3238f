import { createHash } from 'node:crypto';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../../../cluster/cluster.ts';
import { objectLabels } from '../../../cluster/labels.ts';
import { namesOf } from '../../../cluster/names.ts';
import { projected } from '../../../pod/component.ts';
import type { Flag } from '../../../pod/flags.ts';
import { fanOutConfig, fanOutFile } from './fan-out.ts';
import { type AuditTarget, auditTargets, fanOutKubeconfigKey, tokenKeyOf, usesFanOut } from './targets.ts';
import { fanOutKubeconfig, webhookKubeconfig } from './webhook.ts';
import { Yaml } from 'cdk8s';
import type { AuditPolicy } from '../../../api/audit-spec.ts';

/** Directory of the files in the pod. */
export const auditDirectory = '/etc/kubernetes/audit';
const files = { policy: 'policy.yaml', webhook: 'webhook.yaml', token: 'token' } as const;

const shortBackOff: Flag = [
  'audit-webhook-initial-backoff',
  '250ms',
  'the fan-out is near, and its answer in mode blocking-strict must come within seconds',
];

/** Limits with which the API server never sends the fan-out more than it can hold. */
const truncation: readonly Flag[] = [
  ['audit-webhook-truncate-enabled', 'true', 'bounds the memory of the fan-out'],
  ['audit-webhook-truncate-max-batch-size', '4194304', 'larger batches are split'],
  ['audit-webhook-truncate-max-event-size', '4194304', 'more than any stored object; only large lists lose their body'],
];

/** The flags of the API server that audit sets, sorted; none without audit. */
export function auditFlags(cluster: Pick<HostedCluster, 'namespace' | 'spec'>): Flag[] {
  const { audit } = cluster.spec.deployment.apiServer;
  if (!audit) return [];
  const policy: Flag = ['audit-policy-file', `${auditDirectory}/${files.policy}`, 'read at the start'];
  const targets = auditTargets(cluster);
  if (targets.length === 0)
    return [
      ['audit-log-mode', audit.mode, ''],
      ['audit-log-path', '-', 'standard output, which the node collects'],
      policy,
    ];
  return [
    policy,
    ['audit-webhook-config-file', `${auditDirectory}/${files.webhook}`, 'a kubeconfig with the receiver'],
    ...(usesFanOut(targets) ? [shortBackOff] : []),
    ['audit-webhook-mode', audit.mode, ''],
    ...(usesFanOut(targets) ? truncation : []),
  ];
}

/** ConfigMap with the policy, and with where the records go. Tokens are in a Secret. */
export class AuditConfig extends Construct {
  constructor(scope: Construct, id: string, { cluster }: { readonly cluster: HostedCluster }) {
    super(scope, id);
    new k8s.KubeConfigMap(this, 'config', {
      metadata: {
        name: namesOf(cluster.name).audit,
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'api-server'),
      },
      data: auditFiles(cluster),
    });
  }
}

/**
 * The files by which a kube-apiserver checks audit, by name; empty without audit. They hold no token: the API servers of a
 * newer spec may not have it yet.
 */
export function checkedAuditFiles(cluster: Pick<HostedCluster, 'namespace' | 'spec'>): Record<string, string> {
  const { audit } = cluster.spec.deployment.apiServer;
  if (!audit) return {};
  const targets = auditTargets(cluster);
  const [first] = targets;
  const policy = { [files.policy]: policyFile(audit.policy) };
  if (!first) return policy;
  const webhook = usesFanOut(targets) ? fanOutKubeconfig('') : webhookKubeconfig(first, undefined);
  return { ...policy, [files.webhook]: webhook };
}

/** What the API server reads when it starts, as an entry of what its pods start with; empty without audit. */
export function auditRestarts(cluster: HostedCluster): Record<string, string> {
  const content = auditFiles(cluster);
  if (Object.keys(content).length === 0) return {};
  return { audit: createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 12) };
}

/** The volume of {@link auditMounts}. The API server sees no token but its own. */
export function auditVolumes(cluster: HostedCluster): k8s.Volume[] {
  const content = Object.keys(auditFiles(cluster)).filter((file) => file !== fanOutFile);
  if (content.length === 0) return [];
  const { audit, auditTokens } = namesOf(cluster.name);
  const secret = secretFiles(auditTargets(cluster));
  return [
    projected('audit', [
      { configMap: audit, items: Object.fromEntries(content.map((file) => [file, file])) },
      ...(Object.keys(secret).length === 0 ? [] : [{ secret: auditTokens, items: secret }]),
    ]),
  ];
}

/** Where the API server reads its audit configuration; empty without audit. */
export function auditMounts({ spec }: HostedCluster): k8s.VolumeMount[] {
  return spec.deployment.apiServer.audit ? [{ name: 'audit', mountPath: auditDirectory, readOnly: true }] : [];
}

/** The files of the ConfigMap. */
function auditFiles(cluster: HostedCluster): Record<string, string> {
  const { audit } = cluster.spec.deployment.apiServer;
  if (!audit) return {};
  const targets = auditTargets(cluster);
  const [first] = targets;
  const policy = { [files.policy]: policyFile(audit.policy) };
  if (!first) return policy;
  if (usesFanOut(targets)) return { ...policy, [fanOutFile]: fanOutConfig(audit.mode, targets) };
  const tokenFile = first.token && `${auditDirectory}/${files.token}`;
  return { ...policy, [files.webhook]: webhookKubeconfig(first, tokenFile) };
}

/** The files of the API server that come from the Secret, with their keys. */
function secretFiles(targets: readonly AuditTarget[]): Record<string, string> {
  const [first] = targets;
  if (usesFanOut(targets)) return { [files.webhook]: fanOutKubeconfigKey };
  return first?.token ? { [files.token]: tokenKeyOf(first) } : {};
}

/**
 * The policy file. Policies that mean the same give the same bytes, so that an equal policy restarts no API server: the
 * order of rules has a meaning and stays, every other list is a set, and an empty list is the same as none.
 */
export function policyFile({ omitStages, omitManagedFields, rules }: AuditPolicy): string {
  return Yaml.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    ...set({ omitStages }),
    ...(omitManagedFields ? { omitManagedFields } : {}),
    rules: rules.map(canonicalRule),
  });
}

function canonicalRule({ level, resources = [], omitManagedFields, ...sets }: AuditPolicy['rules'][number]) {
  const { users, userGroups, verbs, namespaces, nonResourceURLs, omitStages } = sets;
  const groups = resources
    .map(({ group, resources: names, resourceNames }) => ({
      ...(group ? { group } : {}),
      ...set({ resources: names, resourceNames }),
    }))
    .sort(byText);
  return {
    level,
    ...set({ users, userGroups, verbs }),
    ...(groups.length > 0 ? { resources: groups } : {}),
    ...set({ namespaces, nonResourceURLs, omitStages }),
    // False differs from unset: it takes precedence over the policy.
    ...(omitManagedFields === undefined ? {} : { omitManagedFields }),
  };
}

/** Each list sorted and without repetitions; empty ones are left out. */
function set(lists: Readonly<Record<string, readonly string[] | undefined>>): Record<string, string[]> {
  const entries = Object.entries(lists).map(([name, values = []]) => [name, [...new Set(values)].sort()] as const);
  return Object.fromEntries(entries.filter(([, values]) => values.length > 0));
}

function byText(a: object, b: object): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
