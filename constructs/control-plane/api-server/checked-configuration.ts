import { createHash } from 'node:crypto';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { imageReference, kubernetesImage } from '../../cluster/versions.ts';
import { auditDirectory, auditFlags, checkedAuditFiles } from './audit/audit.ts';
import { namedIssuers } from '../../cluster/service-account-issuer.ts';
import { authenticationConfiguration, authenticationFile, authenticationPath } from './authentication.ts';

/** Annotation of the API servers' Deployment, and of the pod that checks, with a {@link checkedConfiguration}. */
export const checkedAnnotation = 'controlplane.cluster.x-k8s.io/checked-configuration';

/** Files that a kube-apiserver checks before API servers read them. */
export interface CheckedFile {
  /** Directory in the pods. */
  readonly directory: string;
  readonly name: string;
  readonly content: string;
}

type Configured = Pick<HostedCluster, 'namespace' | 'spec' | 'release'>;

/** Every such file of a control plane. A file of another feature is one more entry, and the flag that names it. */
export function checkedFiles(cluster: Configured): CheckedFile[] {
  const authentication = authenticationConfiguration(cluster);
  const audit = Object.entries(checkedAuditFiles(cluster));
  return [
    ...(authentication === undefined
      ? []
      : [{ directory: authenticationPath, name: authenticationFile, content: authentication }]),
    ...audit.map(([name, content]) => ({ directory: auditDirectory, name, content })),
  ];
}

/**
 * A digest of what users decide about kube-apiserver and the program itself can refuse: flags, files, and the image that
 * reads them. Undefined when they decide nothing: what the operator sets needs no check.
 */
export function checkedConfiguration(cluster: Configured): string | undefined {
  const { spec } = cluster;
  const { image, args = {}, mounts = {} } = spec.deployment.apiServer;
  const files = checkedFiles(cluster);
  const issuers = namedIssuers(cluster);
  if (Object.keys(args).length === 0 && files.length === 0 && issuers.length === 0) return undefined;
  const inOrder = (map: object) => Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [
    imageReference(spec, kubernetesImage('kube-apiserver', spec.version), image),
    inOrder(args),
    inOrder(mounts),
    files,
    auditFlags(cluster).map(([name, value]) => [name, value]),
    issuers,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}
