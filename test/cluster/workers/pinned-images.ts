import { Rendered } from '../../support/rendered-cluster.ts';
import { RenderedPart } from '../../support/rendered-hosted-cluster.ts';
import { findFurtherBinaries } from '../../tools/testbed/binaries.ts';
import { familiesOf, type MinorFolders, pinnedVersion } from '../../tools/testbed/families.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { run } from '../../tools/testbed/run.ts';

/** The images that a kubeadm pins for a version of Kubernetes. */
export async function pinnedBy(kubeadm: string, version: string): Promise<string[]> {
  return (await run([kubeadm, 'config', 'images', 'list', '--kubernetes-version', version])).trim().split('\n');
}

/** The images that this provider renders for a version of Kubernetes and that kubeadm pins too. */
export function renderedFor(version: string): (string | undefined)[] {
  const spec = { spec: { version } };
  return [
    ...new RenderedPart('kube-proxy', spec).workload.containers,
    ...new RenderedPart('coredns', spec).workload.containers,
    ...new Rendered(spec).workload('c1-etcd').containers,
  ].map(({ image }) => image);
}

/** Both of another minor than the testbed's own, whose kubeadm is built if the cache does not have it. */
export async function imagesOf(minor: MinorFolders) {
  const { kubeadm = '' } = await findFurtherBinaries(familiesOf(minor), instanceFrom(process.env).cache, () => {});
  const version = await pinnedVersion(minor.kubernetes, 'k8s.io/kubernetes');
  return { pinned: await pinnedBy(kubeadm, version), rendered: renderedFor(version) };
}
