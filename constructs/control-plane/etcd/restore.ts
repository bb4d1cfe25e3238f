import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { definedOnly } from '../../cluster/defined.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { etcdVolumeSizeToRestore } from './config.ts';
import type { EtcdRestoreFacts } from '../../cluster/facts.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { etcdMember, etcdMemberHost, etcdRestorePod, etcdVolumeClaim } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { etcdDataVolume, etcdServerPki, receiveStep, restoreStep, swapStep } from './restore-steps.ts';
import { restrictedPod } from '../../pod/restricted-pod.ts';

export interface EtcdRestoreProps {
  readonly cluster: HostedCluster;
  readonly restore: EtcdRestoreFacts;
}

/**
 * One pod per member that makes its volume anew from a backup. It waits for the snapshot, which the operator sends, so
 * that no credential of a store and no key of a backup is in any pod; `etcdutl` makes a data directory of it; the last
 * step puts that in the place of the old one, which is kept. A pod that fails is made again and begins anew.
 */
export class EtcdRestore extends Construct {
  constructor(scope: Construct, id: string, { cluster, restore }: EtcdRestoreProps) {
    super(scope, id);
    for (let ordinal = 0; ordinal < cluster.spec.etcd.replicas; ordinal++) {
      this.claim(cluster, restore, ordinal);
      this.pod(cluster, restore, ordinal);
    }
  }

  /** As the StatefulSet would make it: a new control plane that begins with a restore has no volumes yet. */
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
    new k8s.KubePod(this, `pod-${ordinal}`, {
      metadata: {
        name: etcdRestorePod(cluster.name, ordinal),
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'etcd-restore'),
        annotations: { [restoreRunAnnotation]: restore.run },
      },
      spec: {
        ...restrictedPod({
          selector: selectorLabels(cluster.name, 'etcd-restore'),
          pod: cluster.spec.etcd,
          spreadPerRevision: false,
          volumes: [
            { name: etcdDataVolume, persistentVolumeClaim: { claimName: etcdVolumeClaim(cluster.name, ordinal) } },
            etcdServerPki(cluster.name),
          ],
          containers: [swapStep(restore)],
        }),
        // The tool refuses what a killed attempt of it has left; only the whole pod begins anew.
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 5,
        initContainers: [
          receiveStep(restore),
          restoreStep(cluster, restore.run, memberArguments(cluster, restore, ordinal)),
        ],
      },
    });
  }
}

/** Annotation of a restore pod with the run it works for. */
export const restoreRunAnnotation = 'controlplane.cluster.x-k8s.io/etcd-restore-run';

/** The token that ids of a restored cluster and of its members are made from. */
export function restoreToken({ namespace, name }: Pick<HostedCluster, 'namespace' | 'name'>, run: string): string {
  return `${namespace}.${name}.${run}`;
}

/** What `etcdutl` is told for one member of several. */
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
    // Another token gives all of them other ids: a member that missed the restore cannot come back among them.
    `--initial-cluster-token=${restoreToken(cluster, run)}`,
    `--bump-revision=${revisionBump}`,
    '--mark-compacted',
  ];
}
