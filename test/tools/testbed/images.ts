import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { clusterApiCore, kubeadmBootstrap, type Provider, providerVersion } from './components.ts';
import { etcdModule, metricsServer, type MinorFolders, ownMinor, pinnedVersion } from './families.ts';
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
  return pack(cache, [...(await catalogue(binaries)), await haproxy(join(cache, 'packages'), report)], report);
}

/** Packs these images as {@link packImages} does. */
export async function pack(cache: string, given: readonly Image[], report: Report): Promise<PackedImage[]> {
  const directory = join(cache, 'images');
  await mkdir(directory, { recursive: true });
  const images = given.map(withGoEnvironment);
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
export async function corednsImage({ coredns }: MinorFolders = ownMinor): Promise<string> {
  return `registry.k8s.io/coredns/coredns:${await pinnedVersion(coredns, 'github.com/coredns/coredns')}`;
}

/** The name and tag of the upstream image of a manager of Cluster API. */
export async function providerImageName(provider: Provider): Promise<string> {
  return `registry.k8s.io/cluster-api/${provider.name}:${await providerVersion(provider)}`;
}

/** The image of a manager of Cluster API. */
export async function providerImage(provider: Provider, program: string, binaries: Binaries): Promise<Image> {
  return single(binaries, await providerImageName(provider), '/manager', program, '65532');
}

/** Traefik under the name and tag of its upstream image. */
export async function traefikImage(): Promise<string> {
  return `docker.io/library/traefik:${await pinnedVersion('traefik', 'github.com/traefik/traefik/v3')}`;
}

/** metrics-server under the name and tag of its upstream image. */
export async function metricsServerImage(binaries: Binaries): Promise<Image> {
  const version = await pinnedVersion(metricsServer.name, metricsServer.module);
  const reference = `registry.k8s.io/metrics-server/metrics-server:${version}`;
  return single(binaries, reference, '/metrics-server', 'metrics-server', '65534');
}

/** Every image under its registry name, with its binary at upstream's path. */
async function catalogue(binaries: Binaries): Promise<Image[]> {
  return [
    ...(await hostedClusterImages(ownMinor, binaries)),
    single(binaries, await pauseImage(binaries), '/pause', 'pause', '65535:65535'),
    await providerImage(clusterApiCore, 'capi-core', binaries),
    await providerImage(kubeadmBootstrap, 'capi-kubeadm-bootstrap', binaries),
    single(binaries, await traefikImage(), '/usr/local/bin/traefik', 'traefik'),
    { reference: busyboxImage, config: { Cmd: ['sh'] }, entries: await busyboxEntries() },
  ];
}

/**
 * The images of a hosted cluster and its add-ons, in the versions that these folders of Go modules pin.
 * @param serversOnly for a control plane without nodes, with the etcd of the newest minor
 */
export async function hostedClusterImages(
  minor: MinorFolders,
  binaries: Binaries,
  { serversOnly = false } = {},
): Promise<Image[]> {
  const kubernetes = await pinnedVersion(minor.kubernetes, 'k8s.io/kubernetes');
  const etcd = (await pinnedVersion(minor.etcd, etcdModule)).slice(1);
  const { lastEtcd } = minor;
  const konnectivity = await pinnedVersion(minor.konnectivity, 'sigs.k8s.io/apiserver-network-proxy');
  const server = (name: string) =>
    single(binaries, `registry.k8s.io/${name}:${kubernetes}`, `/usr/local/bin/${name}`, name);
  const etcdImage = (version: string, program: string) =>
    single(binaries, `registry.k8s.io/etcd:${version}-0`, '/usr/local/bin/etcd', program);
  const proxy = (name: string, program: string) =>
    single(binaries, `registry.k8s.io/kas-network-proxy/${name}:${konnectivity}`, `/${name}`, program, '65532');
  const servers = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(server);
  if (serversOnly) return servers;
  return [
    ...servers,
    await kubeProxy(`registry.k8s.io/kube-proxy:${kubernetes}`, binary(binaries, 'kube-proxy')),
    etcdImage(etcd, 'etcd'),
    ...(minor.restores ? [etcdTools(etcd, binaries)] : []),
    ...(lastEtcd === undefined ? [] : [etcdImage((await pinnedVersion(lastEtcd, etcdModule)).slice(1), lastEtcd)]),
    proxy('proxy-server', 'konnectivity-server'),
    proxy('proxy-agent', 'konnectivity-agent'),
    single(binaries, await corednsImage(minor), '/coredns', 'coredns'),
  ];
}

/** Upstream's own image: the one of Kubernetes has no etcdutl. */
function etcdTools(version: string, binaries: Binaries): Image {
  return {
    reference: `gcr.io/etcd-development/etcd:v${version}`,
    config: { Entrypoint: ['/usr/local/bin/etcd'] },
    entries: ['etcd', 'etcdctl', 'etcdutl'].map((name) => file(binaries, `/usr/local/bin/${name}`, name)),
  };
}

/** The image of one program. */
function single(binaries: Binaries, reference: string, path: string, name: string, user?: string): Image {
  return {
    reference,
    config: { Entrypoint: [path], ...(user && { User: user }) },
    entries: [file(binaries, path, name)],
  };
}

function file(binaries: Binaries, path: string, name: string): ImageEntry {
  return { kind: 'file', path, source: binary(binaries, name) };
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
