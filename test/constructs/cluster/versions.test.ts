import { describe, expect, it } from 'vitest';
import {
  defaultsFor,
  defaultsOf,
  etcdTag,
  etcdVersion,
  tagOf,
  imageReference,
  inImageRegistry,
  kubernetesImage,
  kubernetesTag,
  kubernetesVersion,
  minorOf,
  parseVersion,
  hasChange,
  unsupportedVersion,
} from '../../../constructs/cluster/versions.ts';
import type { Release } from '../../../constructs/cluster/release-revisions.ts';
import { supportedMinors } from '../../../constructs/cluster/minors.ts';

describe('Kubernetes versions', () => {
  it.each([
    ['v1.36.3', 'v1.36.3'],
    ['1.36.3', 'v1.36.3'],
    ['1.36', 'v1.36.0'],
    ['v1.35.0-rc.1', 'v1.35.0-rc.1'],
    ['v1.35.0-rc.1+vendor.4', 'v1.35.0-rc.1_vendor.4'],
    ['v1.34.3+k0s.0', 'v1.34.3'],
  ])('%s has images tagged %s', (version, tag) => {
    expect(kubernetesTag(version)).toBe(tag);
  });

  it.each([
    ['v1.36', 'v1.36.0'],
    ['1.36', 'v1.36.0'],
    ['1.36.10', 'v1.36.10'],
    ['v1.36.0-rc.1', 'v1.36.0-rc.1'],
    ['1.36.3-dev.1', 'v1.36.3-dev.1'],
    ['10.36', 'v10.36.0'],
    ['v1.34.3+k0s.0', 'v1.34.3'],
    ['v1.34.3+vendor.4', 'v1.34.3+vendor.4'],
  ])('%s is written %s by Kubernetes', (version, spelled) => {
    expect(kubernetesVersion(version)).toBe(spelled);
  });

  it('keep their pre-release, and invalid ones are undefined', () => {
    expect(parseVersion('v1.36.0-rc.1')?.version).toBe('1.36.0-rc.1');
    expect(parseVersion('latest')).toBeUndefined();
  });

  it('have the minor of any spelling, and an invalid one is named in the error', () => {
    expect(['v1.36.3', '1.35', 'v1.34.0-rc.1+k0s.0'].map(minorOf)).toEqual([36, 35, 34]);
    expect(() => minorOf('latest')).toThrow('"latest" is not a Kubernetes version such as v1.36.3');
  });

  it('report the loaded encryption configuration from 1.34 on', () => {
    expect(['v1.33.9', 'v1.34.0', 'v1.36.3'].map((version) => hasChange(version, 'reportsLoadedEncryption'))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('have component images by tag', () => {
    const image = kubernetesImage('kube-scheduler', '1.36');
    expect(imageReference({}, image, undefined)).toBe('registry.k8s.io/kube-scheduler:v1.36.0');
  });

  it('are supported for the six newest minors, in every spelling', () => {
    expect(supportedMinors).toEqual([32, 33, 34, 35, 36, 37]);
    for (const version of ['v1.36.3', '1.32', 'v1.34.0-rc.1']) expect(unsupportedVersion(version)).toBeUndefined();
  });

  it.each(['v1.31.9', 'v1.38.0', 'v2.36.0'])('%s is refused, and the message names a supported one', (version) => {
    expect(unsupportedVersion(version)).toBe(
      `Kubernetes ${version} is not supported by this release: use 1.32 to 1.37`,
    );
    expect(() => defaultsFor(version.replace('v2', 'v1').replace('36', '99'))).toThrow('is not supported');
  });

  it('that are invalid are refused', () => {
    expect(() => defaultsFor('latest')).toThrow('"latest" is not a Kubernetes version');
    expect(unsupportedVersion('latest')).toBe('"latest" is not a Kubernetes version such as v1.36.3');
  });
});

it('the default images are the recorded ones, of the minor that they were recorded for', () => {
  const images = { ...defaultsFor('v1.36.3'), etcd: '3.5.99' };
  const release = { minor: 36, images } as Release;
  expect(defaultsOf({ spec: { version: 'v1.36.3' }, release })).toBe(images);
  expect(defaultsOf({ spec: { version: 'v1.35.6' }, release })).toBe(defaultsFor('v1.35.6'));
});

describe('the etcd version', () => {
  it("is the user's, otherwise that of the Kubernetes minor", () => {
    expect(etcdVersion({ spec: { version: 'v1.36.3' } })).toBe(defaultsFor('v1.36.3').etcd);
    expect(etcdVersion({ spec: { version: 'v1.36.3', etcd: {} } })).toBe(defaultsFor('v1.36.3').etcd);
    expect(etcdVersion({ spec: { version: 'v1.36.3', etcd: { version: 'v3.6.9' } } })).toBe('3.6.9');
    expect(etcdVersion({ spec: { version: 'v1.36.3', etcd: { version: '3.6.9-dev' } } })).toBe('3.6.9-dev');
  });

  it('never decreases from one Kubernetes minor to the next', () => {
    const byMinor = supportedMinors.map((minor) => defaultsFor(`v1.${minor}.0`).etcd);
    expect([...byMinor].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))).toEqual(byMinor);
  });

  it.each([
    ['3.7.1', {}, '3.7.1'],
    ['3.6.16', { version: '3.6.8' }, '3.6.16'],
    ['v3.5.26-hardened', {}, '3.5.26'],
    ['stable', {}, '3.6.8'],
    ['stable', { version: '3.7.1' }, '3.7.1'],
    ['4.0.0', {}, '3.6.8'],
    ['mirror-3.7.1', {}, '3.6.8'],
    ['3.10.2', {}, '3.10.2'],
  ])('with the tag %s and %j is %s', (tag, etcd, expected) => {
    expect(etcdVersion({ spec: { version: 'v1.36.3', etcd: { ...etcd, image: { tag } } } })).toBe(expected);
  });

  it.each([
    ['registry.example.org:5000/etcd:v3.6.9-1', 'v3.6.9-1'],
    ['registry.example.org:5000/etcd:3.6.9@sha256:0f', '3.6.9'],
    ['registry.example.org:5000/etcd', undefined],
    ['etcd:3.6.9', '3.6.9'],
    ['etcd:', undefined],
    [undefined, undefined],
  ])('of the image %s is in the tag %s', (image, tag) => {
    expect(tagOf(image)).toBe(tag);
  });

  it.each([
    ['3.6.9', '3.6.9-0'],
    ['3.6.9-1', '3.6.9-1'],
  ])('%s has an image tagged %s', (version, tag) => {
    expect(etcdTag(version)).toBe(tag);
  });
});

it('an image takes the specified parts from an override', () => {
  const defaults = { registry: 'registry.k8s.io', repository: 'kube-apiserver', tag: 'v1.36.3' };
  expect(imageReference({}, defaults, undefined)).toBe('registry.k8s.io/kube-apiserver:v1.36.3');
  expect(imageReference({}, defaults, { registry: 'mirror.example.org' })).toBe(
    'mirror.example.org/kube-apiserver:v1.36.3',
  );
  expect(imageReference({}, defaults, { repository: 'a/b', tag: 'v9', registry: undefined })).toBe(
    'registry.k8s.io/a/b:v9',
  );
});

describe('imageRegistry', () => {
  const defaults = { registry: 'registry.k8s.io', repository: 'coredns/coredns', tag: 'v1' };
  const all = { imageRegistry: 'mirror.example.org:5000/k8s' };

  it('is the registry of an image that has none of its own', () => {
    expect(imageReference(all, defaults, undefined)).toBe('mirror.example.org:5000/k8s/coredns/coredns:v1');
    expect(imageReference(all, defaults, { tag: 'v2' })).toBe('mirror.example.org:5000/k8s/coredns/coredns:v2');
    expect(imageReference(all, defaults, { registry: 'other.example.org' })).toBe(
      'other.example.org/coredns/coredns:v1',
    );
  });

  it.each([
    ['ghcr.io/team/operator:v1', 'team/operator:v1'],
    ['ghcr.io/team/operator@sha256:0a', 'team/operator@sha256:0a'],
    ['localhost/operator:v1', 'operator:v1'],
    ['10.0.0.1:5000/operator', 'operator'],
    ['team/operator:v1', 'team/operator:v1'],
    ['operator:v1', 'library/operator:v1'],
  ])('replaces the registry of %s', (image, path) => {
    expect(inImageRegistry(all, image)).toBe(`${all.imageRegistry}/${path}`);
    expect(inImageRegistry({}, image)).toBe(image);
  });
});
