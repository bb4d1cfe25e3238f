import { z } from 'zod';
import { dataKey, objectName } from './object-name.ts';
import { withRules } from './validation-rule.ts';

/** No part of it is `..` or begins with that, as the API server requires of the files in a volume. */
const relativePath = /^([^/:.]|\.[^/:.])[^/:]*(\/([^/:.]|\.[^/:.])[^/:]*)*$/;

/** An absolute path without empty parts, `.` and `..`; a slash may end it. */
const mountPath = /^(\/([^/:.]|\.[^/:.]|\.\.[^/:])[^/:]*)+\/?$/;

/** Where the operator mounts its own files beside those of the user. */
export const ownMountPaths: readonly string[] = [
  ...['audit', 'authentication', 'egress', 'encryption', 'pki'].map((name) => `/etc/kubernetes/${name}`),
  '/run/konnectivity',
  // The image may have /var/run as a link to /run.
  '/var/run/konnectivity',
];

/** Directories with programs, libraries and devices: what is mounted there could run instead of kube-apiserver. */
const systemPath = '^/(bin|boot|dev|go-runner|lib[^/]*|proc|root|sbin|sys|tmp|usr)(/|$)';
/** Directories in them that hold data only. */
const dataPath = '^/usr/(share|local/(etc|share))/.';

const parentsOf = (path: string): string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index)).filter((parent) => parent !== '');
/** Existing control planes have their own files here, beside the directories of the operator, which are mounted over it. */
const shared = '/etc/kubernetes';
const ownParents = [...new Set(ownMountPaths.flatMap(parentsOf))].filter((path) => path !== shared).sort();
/** The paths of the operator with everything below them, and the directories that they are in but the shared one. */
const ownPath = `^((${ownMountPaths.join('|')})(/.*)?|${ownParents.join('|')})/?$`;

const isOwn = (path: string) => new RegExp(ownPath).test(path);
const isForFiles = (path: string) => !new RegExp(systemPath).test(path) || new RegExp(dataPath).test(path);

const items = z
  .array(
    z
      .object({
        key: dataKey().describe('Key of the ConfigMap or Secret.'),
        path: z
          .string()
          .max(1024)
          .regex(relativePath, 'must be a relative path without .. and colons')
          .describe('Relative path of the file below the mount.'),
        mode: z.int32().min(0).max(511).optional().describe('Permission bits of the file, such as 256 for 0400.'),
      })
      .describe('One key and its file.'),
  )
  .max(256)
  .optional()
  .describe('Keys to mount; every key with its own name when unset.');

const defaultMode = z
  .int32()
  .min(0)
  .max(511)
  .optional()
  .describe('Permission bits of files without mode; 420, which is 0644, when unset.');

const optional = z
  .boolean()
  .optional()
  .describe('Start the pod even if the ConfigMap, the Secret or a key of it is missing.');

/** One ConfigMap or Secret mounted into the API server. */
export const Mount = withRules(
  z.object({
    path: z
      .string()
      .max(1024)
      .regex(mountPath, 'must be an absolute path without colon, //, . and ..')
      .describe(
        'Absolute path of the directory in the container, such as /etc/policies: not one with programs, libraries or files of the operator.',
      ),
    configMap: z
      .object({
        name: objectName().describe('Name of the ConfigMap, in the namespace of the HostedControlPlane.'),
        items,
        defaultMode,
        optional,
      })
      .optional()
      .describe('Mount this ConfigMap.'),
    secret: z
      .object({
        secretName: objectName().describe('Name of the Secret, in the namespace of the HostedControlPlane.'),
        items,
        defaultMode,
        optional,
      })
      .optional()
      .describe('Mount this Secret.'),
  }),
  [
    {
      rule: 'has(self.configMap) != has(self.secret)',
      message: 'a mount has exactly one source: set either configMap or secret',
      holds: (mount) => (mount.configMap === undefined) !== (mount.secret === undefined),
    },
    {
      rule: `!self.path.matches('${ownPath}')`,
      message: 'the operator mounts files of its own there: choose another path, such as /etc/policies',
      fieldPath: '.path',
      holds: ({ path }) => !isOwn(path),
    },
    {
      rule: `!self.path.matches('${systemPath}') || self.path.matches('${dataPath}')`,
      message: 'programs and libraries are there: choose another path, such as /etc/policies',
      fieldPath: '.path',
      holds: ({ path }) => isForFiles(path),
    },
  ],
);
export type Mount = z.output<typeof Mount>;

const mountName = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';

/** Mounts by name. Their names become volume names with a prefix, so they must be shorter than a label. */
export const Mounts = withRules(
  z.record(z.string().max(63), Mount.describe('One ConfigMap or Secret and its path.')).meta({
    maxProperties: 32,
  }),
  [
    {
      rule: `self.all(name, size(name) <= 57 && name.matches('${mountName}'))`,
      message:
        'the name of a mount must consist of at most 57 lower-case letters, digits and dashes, and start and end with a letter or digit: rename the mount',
      holds: (mounts) => Object.keys(mounts).every((name) => name.length <= 57 && new RegExp(mountName).test(name)),
    },
    {
      rule: "self.all(name, self.exists_one(other, self[other].path == self[name].path || self[other].path + '/' == self[name].path || self[other].path == self[name].path + '/'))",
      message: 'two mounts have the same path: give each mount its own path',
      holds: (mounts) =>
        new Set(Object.values(mounts).map(({ path }) => path.replace(/\/$/, ''))).size === Object.keys(mounts).length,
    },
  ],
);
