import { coerce, type SemVer } from 'semver';
import type { Container } from '../api/pod-spec.ts';
import { definedOnly } from './defined-only.ts';
import { firstMinorWith, type MinorChange, type MinorDefaults, minors, supportedRange } from './minors.ts';
import type { Release } from './release-revisions.ts';

/** The parts of an image reference. */
export interface Image {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
}

/** The Kubernetes version of a spec; `1.36.3`, `v1.36.3` and `v1.36` all parse. Undefined when it is not a version. */
export function parseVersion(version: string): SemVer | undefined {
  return coerce(version, { includePrerelease: true }) ?? undefined;
}

/** The minor of a supported version, such as 36. @throws for text that is not a version. */
export function minorOf(version: string): number {
  const parsed = parseVersion(version);
  if (!parsed) throw new Error(`"${version}" is not a Kubernetes version such as v1.36.3`);
  return parsed.minor;
}

/** Whether a version of Kubernetes has a change of a minor. @throws for text that is no version */
export function hasChange(version: string, change: MinorChange): boolean {
  return minorOf(version) >= firstMinorWith(change);
}

/** The reason why this version is not supported, as a sentence for a condition; undefined when it is. */
export function unsupportedVersion(version: string): string | undefined {
  const parsed = parseVersion(version);
  if (!parsed) return `"${version}" is not a Kubernetes version such as v1.36.3`;
  if (parsed.major === 1 && minors[parsed.minor]) return undefined;
  return `Kubernetes ${version} is not supported by this release: use ${supportedRange}`;
}

/** What k0s appends to a version of Kubernetes. No registry has images of Kubernetes with it. */
export const k0sSuffix = '\\+k0s\\.[0-9]+$';

/** The spec's version as Kubernetes itself writes it: with a leading `v` and a patch level, and without k0s's suffix. */
export function kubernetesVersion(version: string): string {
  const full = /^v?\d+\.\d+$/.test(version) ? `${version}.0` : version;
  return `v${full.replace(/^v/, '').replace(new RegExp(k0sSuffix), '')}`;
}

/**
 * Tag of the kube-* images. A tag cannot contain `+`, so build metadata is joined with the character that kubeadm uses.
 */
export function kubernetesTag(version: string): string {
  return kubernetesVersion(version).replaceAll('+', '_');
}

/**
 * Tag of the etcd image: the version and the revision of its packaging, which is `0` unless the version contains one.
 */
export function etcdTag(version: string): string {
  return version.includes('-') ? version : `${version}-0`;
}

/** The defaults for a version. @throws for a version that {@link unsupportedVersion} rejects: call that first. */
export function defaultsFor(version: string): MinorDefaults {
  const defaults = minors[parseVersion(version)?.minor ?? -1];
  if (!defaults) throw new Error(unsupportedVersion(version));
  return defaults;
}

/** What the versions of default images are read from. */
interface Versioned {
  readonly spec: { readonly version: string };
  readonly release?: Release | undefined;
}

/**
 * The versions of a cluster's default images: the recorded ones, as long as its minor is the one that they were recorded for.
 * @throws as {@link defaultsFor}
 */
export function defaultsOf({ spec: { version }, release }: Versioned): MinorDefaults {
  return release?.minor === minorOf(version) ? release.images : defaultsFor(version);
}

/** What the version of etcd is read from. */
interface EtcdVersionSource extends Versioned {
  readonly spec: Versioned['spec'] & {
    readonly etcd?:
      | { readonly version?: string | undefined; readonly image?: Container['image'] | undefined }
      | undefined;
  };
}

/**
 * The version of etcd: that of the user's image if its tag is one, because that is what runs; then that of the
 * HostedControlPlane, otherwise the default of its Kubernetes minor.
 */
export function etcdVersion(cluster: EtcdVersionSource): string {
  const { etcd } = cluster.spec;
  return etcdVersionIn(etcd?.image?.tag) ?? etcd?.version?.replace(/^v/, '') ?? defaultsOf(cluster).etcd;
}

/** The version that a tag of an etcd image begins with, such as 3.6.9 for v3.6.9-hardened; undefined for another tag. */
export function etcdVersionIn(tag: string | undefined): string | undefined {
  return /^v?(3\.\d+\.\d+)/.exec(tag ?? '')?.[1];
}

/** The tag of an image reference; undefined without one. */
export function tagOf(image: string | undefined): string | undefined {
  const [path = ''] = (image ?? '').split('@', 1);
  const [, tag] = path.slice(path.lastIndexOf('/') + 1).split(':', 2);
  return tag === '' ? undefined : tag;
}

/**
 * A component's image. Each part that the user sets replaces that part of the default.
 * @param spec its `imageRegistry` replaces the registry of every image that has none of its own
 */
export function imageReference({ imageRegistry }: ImageSource, defaults: Image, override: Container['image']): string {
  const ofAll = definedOnly({ registry: imageRegistry });
  const { registry, repository, tag } = { ...defaults, ...ofAll, ...definedOnly(override ?? {}) };
  return `${registry}/${repository}:${tag}`;
}

/** The part of a spec that decides where all images come from. */
export interface ImageSource {
  readonly imageRegistry?: string | undefined;
}

/** A whole image reference, with the registry of all images instead of its own. */
export function inImageRegistry({ imageRegistry }: ImageSource, image: string): string {
  if (imageRegistry === undefined) return image;
  const [first = '', ...path] = image.split('/');
  // Like container runtimes: without a dot or a port it is not a host, and Docker Hub is meant.
  const hasHost = path.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  if (hasHost) return [imageRegistry, ...path].join('/');
  return [imageRegistry, ...(path.length > 0 ? [] : ['library']), image].join('/');
}

/** The default image of a Kubernetes component. */
export function kubernetesImage(name: string, version: string): Image {
  return { registry: 'registry.k8s.io', repository: name, tag: kubernetesTag(version) };
}
