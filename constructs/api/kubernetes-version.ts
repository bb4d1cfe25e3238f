import { z } from 'zod';
import { withRules } from './validation-rule.ts';

const pattern = '^v?[0-9]{1,3}[.][0-9]{1,4}([.][0-9]{1,4}(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?)?$';
const isVersion = (text: string) => `${text}.matches('${pattern}')`;
const parts = (text: string) => `${text}.replace('v', '', 1).split('.')`;

/** CEL: the minor as one number that also tells majors apart. Valid only for text that matches the pattern. */
const minorOf = (text: string) => `int(${parts(text)}[0]) * 10000 + int(${parts(text)}[1])`;

const patchOf = (text: string) => `(size(${parts(text)}) < 3 ? 0 : int(${parts(text)}[2].split('-')[0].split('+')[0]))`;

/** CEL: a comparison of two versions that is true, and not an error, when one of them is no version at all. */
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

/** A Kubernetes version. The spelling is kept, because Cluster API compares versions as text. */
export const KubernetesVersion = withRules(
  z
    .string()
    .min(1)
    .max(256)
    .describe(
      'Kubernetes version, such as v1.34.2. It may rise by one minor at a time and never goes down; 1.34.2 means v1.34.2.',
    ),
  [
    {
      rule: isVersion('self'),
      message: 'must be a Kubernetes version such as v1.34.2',
      messageExpression: "'\"' + self + '\" is no Kubernetes version: write it like v1.34.2'",
      holds: (version) => new RegExp(pattern).test(version),
    },
    {
      rule: notLower,
      message: 'the version cannot go down: etcd holds objects an older API server may not understand',
      messageExpression:
        "'the version cannot go down from ' + oldSelf + ' to ' + self + ': etcd holds objects an older API server may not understand'",
    },
    {
      rule: skipsNoMinor('oldSelf', 'self'),
      message: 'the version can rise by one minor at a time only',
      messageExpression:
        "'the version cannot go from ' + oldSelf + ' straight to ' + self + ': upgrade one minor at a time'",
    },
  ],
);
