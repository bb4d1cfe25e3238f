import { z } from 'zod';
import { withRules } from './validation-rule.ts';

const pattern = '^v?[0-9]{1,3}[.][0-9]{1,4}([.][0-9]{1,4}(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?)?$';
const isVersion = (text: string) => `${text}.matches('${pattern}')`;
const parts = (text: string) => `${text}.replace('v', '', 1).split('.')`;

/**
 * CEL: the minor version as one number that includes the major version. Valid only for text that matches the pattern.
 */
const minorOf = (text: string) => `int(${parts(text)}[0]) * 10000 + int(${parts(text)}[1])`;

const patchOf = (text: string) => `(size(${parts(text)}) < 3 ? 0 : int(${parts(text)}[2].split('-')[0].split('+')[0]))`;

/** CEL: compares two versions. The result is true, and not an error, when one of them is not a version. */
const compare = (older: string, newer: string, comparison: string) =>
  `!${isVersion(older)} || !${isVersion(newer)} || ${comparison}`;

/** CEL: true when `newer` is at most one minor ahead of `older`. */
export const skipsNoMinor = (older: string, newer: string) =>
  compare(older, newer, `${minorOf(newer)} <= ${minorOf(older)} + 1`);

const notLower = compare(
  'oldSelf',
  'self',
  `${minorOf('self')} > ${minorOf('oldSelf')} || (${minorOf('self')} == ${minorOf('oldSelf')} && ${patchOf('self')} >= ${patchOf('oldSelf')})`,
);

/** A Kubernetes version. The operator keeps its spelling, because Cluster API compares versions as text. */
export const KubernetesVersion = withRules(
  z
    .string()
    .min(1)
    .max(256)
    .describe(
      'Kubernetes version, such as v1.34.2; 1.34.2 means v1.34.2. It can go up by one minor at a time, and cannot go down.',
    ),
  [
    {
      rule: isVersion('self'),
      message: 'must be a Kubernetes version such as v1.34.2',
      messageExpression: "'\"' + self + '\" is not a Kubernetes version: write it like v1.34.2'",
      holds: (version) => new RegExp(pattern).test(version),
    },
    {
      rule: notLower,
      message:
        'the version cannot go down, because etcd contains objects that an older API server may not support: restore the previous version',
      messageExpression:
        "'the version cannot go down from ' + oldSelf + ' to ' + self + ', because etcd contains objects that an older API server may not support: restore the previous version'",
    },
    {
      rule: skipsNoMinor('oldSelf', 'self'),
      message: 'the version can go up by only one minor at a time: upgrade to the next minor first',
      messageExpression:
        "'the version cannot go from ' + oldSelf + ' straight to ' + self + ': upgrade one minor at a time'",
    },
  ],
);
