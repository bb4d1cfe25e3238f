import type { HostedCluster } from '../../cluster/cluster.ts';
import type { Facts } from '../../cluster/facts.ts';
import { usesTunnel } from '../../cluster/in-cluster-access.ts';
import type { ComponentName } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { hasChange } from '../../cluster/versions.ts';
import { podsOf, type SecretRole, type Use, uses } from './certificate-consumers.ts';

/**
 * The certificates and keys that pods of a component read only when they start, by Secret, as fingerprints that a
 * person can compare. A change of any of them replaces the pods. The programs reload all other certificates while they
 * run.
 */
export function readAtStart(cluster: HostedCluster, facts: Facts, component: ComponentName): Record<string, string> {
  const { secrets } = namesOf(cluster.name);
  const entries = Object.entries(uses) as [keyof typeof uses, readonly Use[]][];
  return Object.fromEntries(
    entries.flatMap(([role, list]) =>
      list
        .filter((use) => podsOf[use.program] === component && isThere(use, cluster) && !reloads(use, cluster))
        .map(({ part }) => [
          part === 'signer' ? `${secrets[role]}/signer` : secrets[role],
          shown(part === 'signer' ? facts.signers : facts.certificates, secrets, role),
        ]),
    ),
  );
}

/** Whether the program reloads the Secret while it runs. */
export function reloads({ reloads }: Use, { spec }: Pick<HostedCluster, 'spec'>): boolean {
  return typeof reloads === 'boolean' ? reloads : hasChange(spec.version, reloads);
}

function isThere({ program }: Use, { spec }: HostedCluster): boolean {
  return program !== 'tunnel' || usesTunnel(spec);
}

function shown(
  fingerprints: Readonly<Record<string, string>> | undefined,
  secrets: ReturnType<typeof namesOf>['secrets'],
  role: SecretRole,
): string {
  return fingerprints?.[secrets[role]]?.slice(0, 12) ?? 'unknown';
}
