import type { k8s } from 'cdk8s-plus-30';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { container, projected } from '../../pod/component.ts';
import { etcdPaths } from './config.ts';
import type { RestoreRun } from '../../cluster/facts.ts';
import { restorePaths } from './volume.ts';
import { namesOf } from '../../cluster/names.ts';
import { etcdVersion, imageReference } from '../../cluster/versions.ts';

/** Name of the volume that all steps work on. */
export const etcdDataVolume = 'etcd-data';

export const etcdDataMount: k8s.VolumeMount = { name: etcdDataVolume, mountPath: etcdPaths.volume };
export const etcdPkiMount: k8s.VolumeMount = { name: 'pki', mountPath: etcdPaths.pki, readOnly: true };

/** The certificates by which a pod that restores, and the etcd in it, are known. */
export function etcdServerPki(cluster: string): k8s.Volume {
  const { etcdCA, etcdServer } = namesOf(cluster).secrets;
  return projected(etcdPkiMount.name, [
    { secret: etcdCA, items: { 'ca.crt': 'tls.crt' } },
    { secret: etcdServer, items: { 'server.crt': 'tls.crt', 'server.key': 'tls.key' } },
  ]);
}

/** Waits for the snapshot, which the operator sends: no credential of a store and no key of a backup is in any pod. */
export function receiveStep(run: RestoreRun): k8s.Container {
  const args = [`--pki=${etcdPaths.pki}`, `--size=${run.sizeBytes}`, `--sha256=${run.sha256}`];
  return operatorStep('receive', run, args, [etcdDataMount, etcdPkiMount]);
}

/** Puts the restored data directory in the place of the old one. */
export function swapStep(run: RestoreRun): k8s.Container {
  return operatorStep('swap', run, [], [etcdDataMount]);
}

/** A step that the operator's own image does. */
function operatorStep(
  act: 'receive' | 'swap',
  { run, operatorImage }: RestoreRun,
  args: readonly string[],
  volumeMounts: k8s.VolumeMount[],
): k8s.Container {
  return step({
    name: act,
    image: operatorImage,
    command: ['node', '/app/receiver.js'],
    args: [act, `--volume=${etcdPaths.volume}`, `--run=${run}`, ...args],
    settings: undefined,
    volumeMounts,
  });
}

/** Makes a data directory of the snapshot. `args` say for which member, and what becomes of revisions. */
export function restoreStep(cluster: HostedCluster, run: string, args: readonly string[]): k8s.Container {
  const { tools } = cluster.spec.etcd;
  const tag = `v${etcdVersion(cluster.spec).replace(/-\d+$/, '')}`;
  const paths = restorePaths(etcdPaths.volume, run);
  return step({
    name: 'restore',
    // Kubernetes' own image of etcd has no etcdutl.
    image: imageReference({ registry: 'gcr.io/etcd-development', repository: 'etcd', tag }, tools.image),
    command: ['etcdutl'],
    args: ['snapshot', 'restore', paths.snapshot, `--data-dir=${paths.restoredData}`, ...args],
    settings: tools,
    volumeMounts: [etcdDataMount],
  });
}

function step(props: Omit<Parameters<typeof container>[0], 'requests'>): k8s.Container {
  return container({ ...props, requests: { cpu: '50m', memory: '128Mi' } });
}
