import { z } from 'zod';
import { Duration, durationSeconds, ifDurations } from './duration.ts';
import { secretPurposes } from '../cluster/names.ts';
import { componentUsers, isReserved, kubeadmPrefix, reservedPrefix } from './reserved-names.ts';
import { withRules } from './validation-rule.ts';

const shortest = '10m';
const longest = '8760h';

const Lifetime = withRules(Duration, [
  {
    rule: ifDurations(
      ['self'],
      `duration(self) >= duration('${shortest}') && duration(self) <= duration('${longest}')`,
    ),
    message: `must be at least ${shortest} and at most ${longest}`,
    holds: (lifetime) =>
      durationSeconds(lifetime) >= durationSeconds(shortest) && durationSeconds(lifetime) <= durationSeconds(longest),
  },
]).default('24h');

/** Longest name of a user or a group, in characters. */
export const longestName = 253;
/** Most groups of one user. */
export const mostGroups = 16;

const components = Object.values(componentUsers);

/** A user or a group that is none of Kubernetes' own, and no component. */
const subject = (what: string) =>
  withRules(z.string().min(1).max(longestName), [
    {
      rule: `!self.startsWith('${reservedPrefix}') && !(self in [${components.map((name) => `'${name}'`).join(', ')}])`,
      message: `must be the name of a ${what} of yours: names that begin with ${reservedPrefix} belong to Kubernetes, and ${components.join(' and ')} are components`,
      holds: (name) => !isReserved(name),
    },
    {
      rule: `!self.startsWith('${kubeadmPrefix}')`,
      message: `must be the name of a ${what} of yours: names that begin with ${kubeadmPrefix} belong to kubeadm, administrators among them`,
      holds: (name) => !name.startsWith(kubeadmPrefix),
    },
  ]);

/** A Cluster whose name ends in `-kubeconfig`, or has it inside, has Secrets of these names. */
const reservedForSecrets = `(^|-)kubeconfig(-|$)|^(${secretPurposes.join('|')})(-next|-copy|-request)?$`;

const secretName = withRules(
  z
    .string()
    .min(1)
    .max(32)
    .regex(
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
      'must have lower-case letters, digits and dashes, and a letter or digit at both ends',
    ),
  [
    {
      rule: `!self.matches('${reservedForSecrets}')`,
      message: 'is a name that Secrets of control planes have, such as ca, etcd and kubeconfig: choose another one',
      holds: (name) => !new RegExp(reservedForSecrets).test(name),
    },
  ],
);

const Declared = z
  .object({
    name: secretName.describe('Name of the entry; the Secret is <cluster>-kubeconfig-<name>.'),
    user: subject('user').describe('User name in the hosted cluster, to which RBAC there grants rights.'),
    groups: z
      .array(subject('group').describe('Name of a group.'))
      .max(mostGroups)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'set' })
      .describe('Groups of that user.'),
    lifetime: Lifetime.describe(
      'How long a certificate is valid, at most 8760h. The operator replaces it after half of that; anyone who has read it can use it until it expires.',
    ),
  })
  .describe('One kubeconfig.');

/** Kubeconfigs that the operator keeps in Secrets, for programs and people who must not read the keys of the CA. */
export const Kubeconfigs = z
  .array(Declared)
  .max(16)
  // As the API server does with the keys of a list: two entries would write one Secret in turn, without end.
  .superRefine((entries, context) => {
    const names = entries.map(({ name }) => name);
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index)
        context.addIssue({
          code: 'custom',
          path: [index],
          message: `another entry has the name ${name}, too: rename one of them`,
        });
    }
  })
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
  .describe(
    'Kubeconfigs that the operator keeps fresh in Secrets of the namespace, each with a client certificate for a user. A program reads its Secret again before the certificate expires. Removing an entry deletes its Secret.',
  );
export type Kubeconfigs = z.output<typeof Kubeconfigs>;
