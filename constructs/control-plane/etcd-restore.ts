import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { definedOnly } from './defined.ts';
import type { HostedCluster } from './cluster.ts';
import { container, projected } from './component.ts';
import { etcdPaths, etcdVolumeSize } from './etcd-config.ts';
import { restorePaths } from './etcd-volume.ts';
import type { EtcdRestoreFacts, Facts } from './facts.ts';
import { objectLabels, selectorLabels } from './labels.ts';
import { etcdMember, etcdMemberHost, etcdRestorePod, etcdVolumeClaim, namesOf } from './names.ts';
import { ports } from './ports.ts';
import { restrictedPod } from './restricted-pod.ts';
import { etcdVersion, imageReference } from './versions.ts';

export interface EtcdRestoreProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
  readonly restore: EtcdRestoreFacts;
}

/**
 * One pod per member that makes its volume anew from a backup. It waits for the snapshot, which the operator sends, so
 * that no credential of a store and no key of a backup is in any pod; `etcdutl` makes a data directory of it; the last
 * step puts that in the place of the old one, which is kept. A pod that fails is made again and begins anew.
 */
export class EtcdRestore extends Construct {
  constructor(scope: Construct, id: string, { cluster, facts, restore }: EtcdRestoreProps) {
    super(scope, id);
    for (let ordinal = 0; ordinal < cluster.spec.etcd.replicas; ordinal++) {
      this.claim(cluster, facts, ordinal);
      this.pod(cluster, restore, ordinal);
    }
  }

  /** As the StatefulSet would make it: a new control plane that begins with a restore has no volumes yet. */
  private claim(cluster: HostedCluster, facts: Facts, ordinal: number): void {
    const storage = facts.etcd?.templateVolumeSize ?? etcdVolumeSize(cluster);
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
    const { etcdAuthority, etcdServer } = namesOf(cluster.name).secrets;
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
            { name: 'etcd-data', persistentVolumeClaim: { claimName: etcdVolumeClaim(cluster.name, ordinal) } },
            projected('pki', [
              { secret: etcdAuthority, items: { 'ca.crt': 'tls.crt' } },
              { secret: etcdServer, items: { 'server.crt': 'tls.crt', 'server.key': 'tls.key' } },
            ]),
          ],
          containers: [ours('swap', restore, [])],
        }),
        // The tool refuses what a killed attempt of it has left; only the whole pod begins anew.
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 5,
        initContainers: [
          ours('receive', restore, [
            `--pki=${etcdPaths.pki}`,
            `--size=${restore.sizeBytes}`,
            `--sha256=${restore.sha256}`,
          ]),
          etcdutl(cluster, restore, ordinal),
        ],
      },
    });
  }
}

/** Annotation of a restore pod with the run it works for. */
export const restoreRunAnnotation = 'controlplane.cluster.x-k8s.io/etcd-restore-run';

/** A step that the operator's own image does. */
function ours(act: 'receive' | 'swap', restore: EtcdRestoreFacts, args: readonly string[]): k8s.Container {
  return step({
    name: act,
    image: restore.operatorImage,
    command: ['node', '/app/receiver.js'],
    args: [act, `--volume=${etcdPaths.volume}`, `--run=${restore.run}`, ...args],
    settings: undefined,
    volumeMounts: act === 'receive' ? [volume, pki] : [volume],
  });
}

function etcdutl(cluster: HostedCluster, { run, revisionBump }: EtcdRestoreFacts, ordinal: number): k8s.Container {
  const { tools, replicas } = cluster.spec.etcd;
  const tag = `v${etcdVersion(cluster.spec).replace(/-\d+$/, '')}`;
  const paths = restorePaths(etcdPaths.volume, run);
  const peerUrl = (member: number) => `https://${etcdMemberHost(cluster, member)}:${ports.etcdPeer}`;
  const members = Array.from(
    { length: replicas },
    (_, member) => `${etcdMember(cluster.name, member)}=${peerUrl(member)}`,
  );
  return step({
    name: 'restore',
    // Kubernetes' own image of etcd has no etcdutl.
    image: imageReference({ registry: 'gcr.io/etcd-development', repository: 'etcd', tag }, tools.image),
    command: ['etcdutl'],
    args: [
      'snapshot',
      'restore',
      paths.snapshot,
      `--data-dir=${paths.restoredData}`,
      `--name=${etcdMember(cluster.name, ordinal)}`,
      `--initial-cluster=${members.join(',')}`,
      `--initial-advertise-peer-urls=${peerUrl(ordinal)}`,
      // Another token gives all of them other ids: a member that missed the restore cannot come back among them.
      `--initial-cluster-token=${cluster.namespace}.${cluster.name}.${run}`,
      `--bump-revision=${revisionBump}`,
      '--mark-compacted',
    ],
    settings: tools,
    volumeMounts: [volume],
  });
}

const volume: k8s.VolumeMount = { name: 'etcd-data', mountPath: etcdPaths.volume };
const pki: k8s.VolumeMount = { name: 'pki', mountPath: etcdPaths.pki, readOnly: true };

function step(props: Omit<Parameters<typeof container>[0], 'requests'>): k8s.Container {
  return {
    ...container({ ...props, requests: { cpu: '50m', memory: '128Mi' } }),
    // The last lines of a step that failed are why it did.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}
