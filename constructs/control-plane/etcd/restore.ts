import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { definedOnly } from '../../cluster/defined-only.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { etcdVolumeSizeToRestore } from './config.ts';
import type { EtcdRestoreFacts } from '../../cluster/facts.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { etcdMember, etcdMemberHost, etcdRestorePod, etcdVolumeClaim } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { asMember, etcdDataVolume, etcdServerPki, receiveStep, restoreStep, swapStep } from './restore-steps.ts';
import { restrictedPod } from '../../pod/restricted-pod.ts';

export interface EtcdRestoreProps {
  readonly cluster: HostedCluster;
  readonly restore: EtcdRestoreFacts;
}

/**
 * One pod per member, which replaces the data on its volume with a backup. The pod waits for the snapshot from the
 * operator, so that it has no credentials of a backup store and no encryption key. `etcdutl` creates a data directory
 * from the snapshot. The last step replaces the old data directory, which is kept. A failed pod is recreated and starts
 * from the beginning.
 */
export class EtcdRestore extends Construct {
  constructor(scope: Construct, id: string, { cluster, restore }: EtcdRestoreProps) {
    super(scope, id);
    for (let ordinal = 0; ordinal < cluster.spec.etcd.replicas; ordinal++) {
      this.claim(cluster, restore, ordinal);
      this.pod(cluster, restore, ordinal);
    }
  }

  /** The same claim as that of the StatefulSet: a new control plane that starts with a restore has no volumes yet. */
  private claim(cluster: HostedCluster, { sizeBytes }: EtcdRestoreFacts, ordinal: number): void {
    const storage = etcdVolumeSizeToRestore(cluster, sizeBytes);
    new k8s.KubePersistentVolumeClaim(this, `claim-${ordinal}`, {
      metadata: {
        name: etcdVolumeClaim(cluster.name, ordinal),
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'etcd'),
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        ...definedOnly({ storageClassName: cluster.spec.etcd.storageClassName }),
        resources: { requests: { storage: k8s.Quantity.fromString(storage) } },
      },
    });
  }

  private pod(cluster: HostedCluster, restore: EtcdRestoreFacts, ordinal: number): void {
    const pod = {
      metadata: {
        name: etcdRestorePod(cluster.name, ordinal),
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'etcd-restore'),
        annotations: { [restoreRunAnnotation]: restore.run },
      },
      spec: {
        ...restrictedPod({
          selector: selectorLabels(cluster.name, 'etcd-restore'),
          spreadPerRevision: false,
          volumes: [
            { name: etcdDataVolume, persistentVolumeClaim: { claimName: etcdVolumeClaim(cluster.name, ordinal) } },
            etcdServerPki(cluster.name),
          ],
          containers: [swapStep(cluster, restore)],
        }),
        // etcdutl rejects the files of an interrupted attempt, so only the whole pod is retried.
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 5,
        initContainers: [
          receiveStep(cluster, restore),
          restoreStep(cluster, restore.run, memberArguments(cluster, restore, ordinal)),
        ],
      },
    };
    new k8s.KubePod(this, `pod-${ordinal}`, asMember(cluster, pod));
  }
}

/** Annotation of a restore pod with the ID of its run. */
export const restoreRunAnnotation = 'controlplane.cluster.x-k8s.io/etcd-restore-run';

/** The token from which the IDs of a restored cluster and of its members are computed. */
export function restoreToken({ namespace, name }: Pick<HostedCluster, 'namespace' | 'name'>, run: string): string {
  return `${namespace}.${name}.${run}`;
}

/** The arguments of `etcdutl` for one member of several. */
function memberArguments(cluster: HostedCluster, { run, revisionBump }: EtcdRestoreFacts, ordinal: number): string[] {
  const peerUrl = (member: number) => `https://${etcdMemberHost(cluster, member)}:${ports.etcdPeer}`;
  const members = Array.from(
    { length: cluster.spec.etcd.replicas },
    (_, member) => `${etcdMember(cluster.name, member)}=${peerUrl(member)}`,
  );
  return [
    `--name=${etcdMember(cluster.name, ordinal)}`,
    `--initial-cluster=${members.join(',')}`,
    `--initial-advertise-peer-urls=${peerUrl(ordinal)}`,
    // A new token gives all members new IDs: a member that missed the restore cannot rejoin them.
    `--initial-cluster-token=${restoreToken(cluster, run)}`,
    `--bump-revision=${revisionBump}`,
    '--mark-compacted',
  ];
}
