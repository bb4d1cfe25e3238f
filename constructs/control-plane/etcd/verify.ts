import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { container, helperResources } from '../../pod/component.ts';
import { etcdPaths } from './config.ts';
import { restorePaths } from './volume.ts';
import type { RestoreRun } from '../../cluster/facts.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import {
  asMember,
  etcdDataMount,
  etcdDataVolume,
  etcdPkiMount,
  etcdServerPki,
  receiveStep,
  restoreStep,
} from './restore-steps.ts';
import { restrictedPod } from '../../pod/restricted-pod.ts';
import { etcdTag, etcdVersion, imageReference } from '../../cluster/versions.ts';

export interface EtcdVerifyProps {
  readonly cluster: HostedCluster;
  readonly run: RestoreRun;
}

/**
 * A pod that verifies a backup. It runs next to the members and cannot connect to them. Like a restore, it receives the
 * snapshot and creates a data directory from it, but keeps the revisions. It serves the data so that the operator can
 * compare the content. Its volume is deleted with the pod.
 */
export class EtcdVerify extends Construct {
  constructor(scope: Construct, id: string, { cluster, run }: EtcdVerifyProps) {
    super(scope, id);
    const pod = {
      metadata: {
        name: namesOf(cluster.name).etcdVerify,
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'etcd-verify'),
        annotations: { [verifyRunAnnotation]: run.run },
      },
      spec: {
        ...restrictedPod({
          selector: selectorLabels(cluster.name, 'etcd-verify'),
          spreadPerRevision: false,
          volumes: [
            { name: etcdDataVolume, emptyDir: { sizeLimit: k8s.Quantity.fromString(mebibytes(neededMebibytes(run))) } },
            etcdServerPki(cluster.name),
          ],
          containers: [etcd(cluster, run)],
        }),
        // The operator reports a failure, and retries with another pod.
        restartPolicy: 'Never',
        // Limits the pod's lifetime in case the operator does not come back.
        activeDeadlineSeconds: 2 * 60 * 60,
        terminationGracePeriodSeconds: 5,
        initContainers: [receiveStep(cluster, run), restoreStep(cluster, run.run, memberArguments)],
      },
    };
    new k8s.KubePod(this, 'pod', asMember(cluster, pod));
  }
}

/** Annotation of the pod with the backup that it verifies. */
export const verifyRunAnnotation = 'controlplane.cluster.x-k8s.io/etcd-verify-run';

/** A cluster with one member, to which no peer can connect. Revisions do not change, because they are compared. */
const name = 'verify';
const peerUrl = `http://127.0.0.1:${ports.etcdPeer}`;
const memberArguments = [
  `--name=${name}`,
  `--initial-cluster=${name}=${peerUrl}`,
  `--initial-advertise-peer-urls=${peerUrl}`,
];

/** Without a request, several of these pods may fill the disk of one node, and with it evict pods of others. */
function etcd(cluster: HostedCluster, restoreRun: RestoreRun): k8s.Container {
  const { run } = restoreRun;
  const storage = { 'ephemeral-storage': mebibytes(neededMebibytes(restoreRun) + logMebibytes) };
  const settings = cluster.spec.etcd;
  const own = helperResources(requests, settings.resources);
  const image = { registry: 'registry.k8s.io', repository: 'etcd', tag: etcdTag(etcdVersion(cluster)) };
  return container({
    name: 'etcd',
    image: imageReference(cluster.spec, image, settings.image),
    command: ['etcd'],
    args: [
      `--name=${name}`,
      `--data-dir=${restorePaths(etcdPaths.volume, run).restoredData}`,
      `--listen-client-urls=https://0.0.0.0:${ports.etcdClient}`,
      `--advertise-client-urls=https://127.0.0.1:${ports.etcdClient}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-cluster=${name}=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--cert-file=${etcdPaths.pki}/server.crt`,
      `--key-file=${etcdPaths.pki}/server.key`,
      `--trusted-ca-file=${etcdPaths.pki}/ca.crt`,
      '--client-cert-auth',
      // The maximum size of any database. Whether the backup fits the quota of the control plane's etcd is not part of
      // the verification.
      `--quota-backend-bytes=${8 * 1024 ** 3}`,
    ],
    ports: { client: ports.etcdClient },
    requests,
    settings: {
      ...settings,
      resources: { requests: { ...own.requests, ...storage }, limits: { ...own.limits, ...storage } },
    },
    volumeMounts: [etcdDataMount, etcdPkiMount],
  });
}

const requests = { cpu: '50m', memory: '128Mi' };

/** For the logs of all containers, which count too. */
const logMebibytes = 64;

/** Space for the snapshot, the database, the additions of etcd to it, and its write-ahead log. */
function neededMebibytes({ sizeBytes }: RestoreRun): number {
  return Math.ceil((sizeBytes * 2.5) / 1024 ** 2) + 512;
}

function mebibytes(amount: number): string {
  return `${amount}Mi`;
}
