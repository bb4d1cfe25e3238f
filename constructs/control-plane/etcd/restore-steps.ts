import type { k8s } from 'cdk8s-plus-30';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { container, helperResources, projected } from '../../pod/component.ts';
import { etcdPaths } from './config.ts';
import type { RestoreRun } from '../../cluster/facts.ts';
import { withAdditions } from '../../pod/overlay.ts';
import { restorePaths } from './volume.ts';
import { namesOf } from '../../cluster/names.ts';
import { etcdVersion, imageReference, inImageRegistry } from '../../cluster/versions.ts';

/** Name of the volume of all steps. */
export const etcdDataVolume = 'etcd-data';

export const etcdDataMount: k8s.VolumeMount = { name: etcdDataVolume, mountPath: etcdPaths.volume };
export const etcdPkiMount: k8s.VolumeMount = { name: 'pki', mountPath: etcdPaths.pki, readOnly: true };

/** The serving certificates of a pod that restores, and of the etcd in it. */
export function etcdServerPki(cluster: string): k8s.Volume {
  const { etcdCA, etcdServer } = namesOf(cluster).secrets;
  return projected(etcdPkiMount.name, [
    { secret: etcdCA, items: { 'ca.crt': 'tls.crt' } },
    { secret: etcdServer, items: { 'server.crt': 'tls.crt', 'server.key': 'tls.key' } },
  ]);
}

/** A pod where members may run, with what the user adds to theirs. Its steps get no variables of the user. */
export function asMember(
  { spec }: HostedCluster,
  pod: { readonly metadata: k8s.ObjectMeta; readonly spec: k8s.PodSpec },
): typeof pod {
  return withAdditions(pod, [spec.deployment.defaults, spec.etcd], { keepsNodes: true, takesVariables: false });
}

/** Waits for the snapshot from the operator. The pod has no credentials of a backup store and no encryption key. */
export function receiveStep({ spec }: HostedCluster, run: RestoreRun): k8s.Container {
  const args = [`--pki=${etcdPaths.pki}`, `--size=${run.sizeBytes}`, `--sha256=${run.sha256}`];
  return operatorStep('receive', spec, run, args, [etcdDataMount, etcdPkiMount]);
}

/** Replaces the data directory with the restored one. */
export function swapStep({ spec }: HostedCluster, run: RestoreRun): k8s.Container {
  return operatorStep('swap', spec, run, [], [etcdDataMount]);
}

/** A step that runs the operator's own image. */
function operatorStep(
  act: 'receive' | 'swap',
  spec: HostedCluster['spec'],
  { run, operatorImage }: RestoreRun,
  args: readonly string[],
  volumeMounts: k8s.VolumeMount[],
): k8s.Container {
  return step({
    name: act,
    image: inImageRegistry(spec, operatorImage),
    command: ['node', '/app/receiver.js'],
    args: [act, `--volume=${etcdPaths.volume}`, `--run=${run}`, ...args],
    settings: { resources: helperResources(stepRequests, spec.etcd.resources) },
    volumeMounts,
  });
}

/** Creates a data directory from the snapshot. `args` set the member and how revisions change. */
export function restoreStep(cluster: HostedCluster, run: string, args: readonly string[]): k8s.Container {
  const { tools, resources } = cluster.spec.etcd;
  const tag = `v${etcdVersion(cluster).replace(/-\d+$/, '')}`;
  const paths = restorePaths(etcdPaths.volume, run);
  return step({
    name: 'restore',
    // The etcd image of Kubernetes does not contain etcdutl.
    image: imageReference(cluster.spec, { registry: 'gcr.io', repository: 'etcd-development/etcd', tag }, tools.image),
    command: ['etcdutl'],
    args: ['snapshot', 'restore', paths.snapshot, `--data-dir=${paths.restoredData}`, ...args],
    settings: { ...tools, resources: tools.resources ?? helperResources(stepRequests, resources) },
    volumeMounts: [etcdDataMount],
  });
}

function step(props: Omit<Parameters<typeof container>[0], 'requests'>): k8s.Container {
  return container({ ...props, requests: stepRequests });
}

const stepRequests = { cpu: '50m', memory: '128Mi' };
