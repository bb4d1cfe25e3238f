import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { pinnedVersion } from './families.ts';
import { fileDigests } from './file-digest.ts';
import { goEnvironment } from './go-environment.ts';
import { haproxy } from './haproxy-image.ts';
import { busyboxEntries } from './busybox.ts';
import { kubeProxy } from './kube-proxy-image.ts';
import { searchPath, writeImageArchive, type Image, type ImageEntry } from './oci.ts';
import { step, type Report } from './progress.ts';
import { run } from './run.ts';

/** The workload image of tests: the host's static busybox under the name that Kubernetes' own tests use. */
export const busyboxImage = 'registry.k8s.io/e2e-test-images/busybox:1.36.1-1';

/** An image in the cache; the key is a hash of its content. */
export interface PackedImage {
  readonly reference: string;
  readonly key: string;
  readonly archive: string;
}

/** Packs every image that is not in the cache in exactly this form, and removes older forms of it. */
export async function packImages(cache: string, binaries: Binaries, report: Report): Promise<PackedImage[]> {
  const directory = join(cache, 'images');
  await mkdir(directory, { recursive: true });
  const images = [
    ...(await catalogue(binaries)).map(withGoEnvironment),
    await haproxy(join(cache, 'packages'), report),
  ];
  const sources = images
    .flatMap(({ entries }) => entries)
    .flatMap((entry) => (entry.kind === 'file' ? [entry.source] : []));
  const digests = await fileDigests([...new Set(sources)], join(cache, 'digests'));
  const present = new Set(await readdir(directory));
  const packed: PackedImage[] = [];
  for (const image of images) {
    const key = imageKey(image, digests);
    const file = `${fileStem(image.reference)}.${key}.tar`;
    const archive = join(directory, file);
    packed.push({ reference: image.reference, key, archive });
    if (present.has(file)) continue;
    await step(report, `packed ${image.reference}`, () => writeImageArchive(archive, image));
    const older = [...present].filter((name) => name.startsWith(`${fileStem(image.reference)}.`));
    for (const name of older) await rm(join(directory, name));
  }
  return packed;
}

/** The sandbox image of containerd: kubeadm's choice. */
export async function pauseImage(binaries: Binaries): Promise<string> {
  const version = await pinnedVersion('kubernetes', 'k8s.io/kubernetes');
  const wanted = await run([binary(binaries, 'kubeadm'), 'config', 'images', 'list', '--kubernetes-version', version]);
  const image = wanted.split('\n').find((line) => line.includes('/pause:'));
  if (!image) throw new Error(`kubeadm names no pause image, only\n${wanted}`);
  return image;
}

/** CoreDNS under the name and tag kubeadm would use for the version pinned here. */
export async function corednsImage(): Promise<string> {
  return `registry.k8s.io/coredns/coredns:${await pinnedVersion('coredns', 'github.com/coredns/coredns')}`;
}

/** The managers of Cluster API, by the names of their upstream images. */
export async function clusterApiImage(name: string): Promise<string> {
  return `registry.k8s.io/cluster-api/${name}:${await pinnedVersion('cluster-api', 'sigs.k8s.io/cluster-api')}`;
}

/** Traefik under the name and tag of its upstream image. */
export async function traefikImage(): Promise<string> {
  return `docker.io/library/traefik:${await pinnedVersion('traefik', 'github.com/traefik/traefik/v3')}`;
}

/** Every image under its registry name, with its binary at upstream's path. */
async function catalogue(binaries: Binaries): Promise<Image[]> {
  const file = (path: string, name: string): ImageEntry => ({ kind: 'file', path, source: binary(binaries, name) });
  const single = (reference: string, path: string, name: string, user?: string): Image => ({
    reference,
    config: { Entrypoint: [path], ...(user && { User: user }) },
    entries: [file(path, name)],
  });
  const kubernetes = await pinnedVersion('kubernetes', 'k8s.io/kubernetes');
  const etcd = (await pinnedVersion('etcd', 'go.etcd.io/etcd/server/v3')).slice(1);
  const konnectivity = await pinnedVersion('konnectivity', 'sigs.k8s.io/apiserver-network-proxy');
  const kubernetesImage = (name: string): Image =>
    single(`registry.k8s.io/${name}:${kubernetes}`, `/usr/local/bin/${name}`, name);
  return [
    kubernetesImage('kube-apiserver'),
    kubernetesImage('kube-controller-manager'),
    kubernetesImage('kube-scheduler'),
    await kubeProxy(`registry.k8s.io/kube-proxy:${kubernetes}`, binary(binaries, 'kube-proxy')),
    {
      reference: `registry.k8s.io/etcd:${etcd}-0`,
      config: { Entrypoint: ['/usr/local/bin/etcd'] },
      entries: ['etcd', 'etcdctl'].map((name) => file(`/usr/local/bin/${name}`, name)),
    },
    {
      // upstream's own image: the one of Kubernetes has no etcdutl
      reference: `gcr.io/etcd-development/etcd:v${etcd}`,
      config: { Entrypoint: ['/usr/local/bin/etcd'] },
      entries: ['etcd', 'etcdctl', 'etcdutl'].map((name) => file(`/usr/local/bin/${name}`, name)),
    },
    single(
      `registry.k8s.io/kas-network-proxy/proxy-server:${konnectivity}`,
      '/proxy-server',
      'konnectivity-server',
      '65532',
    ),
    single(
      `registry.k8s.io/kas-network-proxy/proxy-agent:${konnectivity}`,
      '/proxy-agent',
      'konnectivity-agent',
      '65532',
    ),
    single(await corednsImage(), '/coredns', 'coredns'),
    single(await pauseImage(binaries), '/pause', 'pause', '65535:65535'),
    single(await clusterApiImage('cluster-api-controller'), '/manager', 'capi-core', '65532'),
    single(await clusterApiImage('kubeadm-bootstrap-controller'), '/manager', 'capi-kubeadm-bootstrap', '65532'),
    single(await traefikImage(), '/usr/local/bin/traefik', 'traefik'),
    { reference: busyboxImage, config: { Cmd: ['sh'] }, entries: await busyboxEntries() },
  ];
}

function withGoEnvironment(image: Image): Image {
  const variables = Object.entries(goEnvironment).map(([name, value]) => `${name}=${value}`);
  return { ...image, config: { Env: [searchPath, ...variables], ...image.config } };
}

/** A hash of the image with each source replaced by its content. */
function imageKey(image: Image, digests: ReadonlyMap<string, string>): string {
  const entries = image.entries.map((entry) =>
    entry.kind === 'file' ? { ...entry, source: digests.get(entry.source) } : entry,
  );
  return createHash('sha256')
    .update(JSON.stringify({ ...image, entries }))
    .digest('hex')
    .slice(0, 12);
}

function fileStem(reference: string): string {
  return reference.replace(/^registry\.k8s\.io\//, '').replaceAll(/[^a-zA-Z0-9-]/g, '_');
}

function binary(binaries: Binaries, name: string): string {
  const path = binaries[name];
  if (!path) throw new Error(`no binary ${name}: it is in no family`);
  return path;
}
