import { z } from 'zod';
import { supportedMinors, supportedRange } from '../cluster/minors.ts';
import { withRules } from './validation-rule.ts';

const pattern = '^v?[0-9]{1,3}[.][0-9]{1,4}([.][0-9]{1,4}(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?)?$';
const isVersion = (text: string) => `${text}.matches('${pattern}')`;
const parts = (text: string) => `${text}.replace('v', '', 1).split('.')`;

/**
 * CEL: the minor version as one number that includes the major version. Valid only for text that matches the pattern.
 */
const minorOf = (text: string) => `int(${parts(text)}[0]) * 10000 + int(${parts(text)}[1])`;

/** CEL: compares two versions. The result is true, and not an error, when one of them is not a version. */
const compare = (older: string, newer: string, comparison: string) =>
  `!${isVersion(older)} || !${isVersion(newer)} || ${comparison}`;

/** CEL: true when `newer` is at most one minor ahead of `older`. */
export const skipsNoMinor = (older: string, newer: string) =>
  compare(older, newer, `${minorOf(newer)} <= ${minorOf(older)} + 1`);

/** CEL: true when the minor of `newer` is that of `older` or a later one. */
export const notLowerMinor = (older: string, newer: string) =>
  compare(older, newer, `${minorOf(newer)} >= ${minorOf(older)}`);

/** CEL: true when a version is of this minor of Kubernetes 1 or a later one, or no version. */
export const isAtLeastMinor = (text: string, minor: number) =>
  `(!${isVersion(text)} || ${minorOf(text)} >= ${10_000 + minor})`;

const isSupported = `${minorOf('self')} in [${supportedMinors.map((minor) => 10_000 + minor).join(', ')}]`;

/** The annotation of a Cluster with which Cluster API lets the version of its topology go down. */
export const lowersTopologyVersion = 'unsafe.topology.cluster.x-k8s.io/disable-update-version-check';

/** What Cluster API itself asks of a user whose topology is to go down. */
export const onlyWithAnnotation = `Cluster API lets spec.topology.version go down only with the annotation ${lowersTopologyVersion} on the Cluster`;

/** How a version goes back while its control plane upgrades. Cluster API passes on no version of a topology meanwhile. */
export const underTopology = `in a Cluster with a topology, set its spec.topology.version back first, then spec.version of its control plane; ${onlyWithAnnotation}, and passes it on only after an upgrade`;

/** A Kubernetes version. The operator keeps its spelling, because Cluster API compares versions as text. */
export const KubernetesVersion = withRules(
  z
    .string()
    .min(1)
    .max(256)
    .describe(
      'Kubernetes version, such as v1.34.2; 1.34.2 means v1.34.2. It can go up by one minor at a time, and back to a minor while no API server of a later one exists, while API servers of a later one emulate it, or with a backup from before: see hcp rollback. Patch releases can change in both directions.',
    ),
  [
    {
      rule: isVersion('self'),
      message: 'must be a Kubernetes version such as v1.34.2',
      messageExpression: "'\"' + self + '\" is not a Kubernetes version: write it like v1.34.2'",
      holds: isKubernetesVersion,
    },
    {
      // It would mean the oldest patch release, which is not what a person means. A stored object keeps what it has.
      rule: "(oldSelf.hasValue() && oldSelf.value() == self) || !self.matches('^v?[0-9]+[.][0-9]+$')",
      message: 'names no patch release: write one such as v1.34.2',
      optionalOldSelf: true,
    },
    {
      // A release that ends the support of a minor must still write the status of its control planes.
      rule: `(oldSelf.hasValue() && oldSelf.value() == self) || !${isVersion('self')} || ${isSupported}`,
      message: `this release does not support that minor version of Kubernetes: use ${supportedRange}`,
      messageExpression: `'this release does not support Kubernetes ' + self + ': use ${supportedRange}'`,
      optionalOldSelf: true,
      holds: (version) => !isKubernetesVersion(version) || hasSupportedMinor(version),
    },
  ],
);

function isKubernetesVersion(version: string): boolean {
  return new RegExp(pattern).test(version);
}

function hasSupportedMinor(version: string): boolean {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  return major === 1 && minor !== undefined && supportedMinors.includes(minor);
}
