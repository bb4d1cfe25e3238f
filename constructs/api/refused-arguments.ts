import { ports } from '../cluster/ports.ts';
import type { ValidationRule } from './validation-rule.ts';

type Arguments = Readonly<Record<string, string>>;

/** Which values of an argument are refused; every one if none of the fields is set. */
interface RefusedValues {
  /** All but these. */
  readonly butFor?: readonly string[];
  /** Only these. */
  readonly only?: readonly string[];
  /** Those that match this regular expression. */
  readonly matching?: string;
  /** Lists without one of these entries. */
  readonly without?: readonly string[];
  /** Numbers below this one. */
  readonly below?: number;
  /** Numbers above this one. */
  readonly above?: number;
}

interface RefusedArgument extends RefusedValues {
  readonly flags: readonly string[];
  /** Another argument, only beside which it is refused. */
  readonly beside?: string | undefined;
  /** What would happen, and what to do. */
  readonly because: string;
}

/** The programs whose arguments users choose, and that a control plane cannot do without. */
export type CheckedProgram = 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'etcd';

const everyAddress = ['0.0.0.0', '::'];

const ends: RefusedArgument = {
  flags: ['help', 'version'],
  because: 'makes the program print a text and end: remove it',
};

const hidesFromProbes: RefusedArgument = {
  flags: ['bind-address'],
  butFor: everyAddress,
  because: 'must be 0.0.0.0 or ::, because probes and Services reach the program at the address of its pod',
};

/** Arguments of both controllers, which only connect to API servers. */
const controllers = (port: number, probed: readonly string[]): RefusedArgument[] => [
  ends,
  hidesFromProbes,
  {
    flags: ['secure-port'],
    butFor: [String(port)],
    because: `must be ${port}, where its probes and network policies expect it: remove it`,
  },
  {
    flags: ['authorization-always-allow-paths'],
    without: probed,
    because: `must contain ${probed.join(' and ')}, because the probes of the pod have no token: add what is missing`,
  },
  {
    flags: ['master'],
    because: 'connects to an API server that is not of this control plane: remove it',
  },
];

/**
 * Arguments with which a component would lose or hide data, could not be probed, or would lose the rights of the operator, without an
 * error of its own. What a program itself refuses is not here: it says so, and the operator goes back to the arguments before.
 */
export const refusedArguments: Readonly<Record<CheckedProgram, readonly RefusedArgument[]>> = {
  etcd: [
    {
      flags: ['unsafe-no-fsync'],
      butFor: ['false'],
      because: 'loses writes that etcd has acknowledged when a node stops: remove it, and use a faster StorageClass',
    },
    {
      flags: ['strict-reconfig-check'],
      butFor: ['true'],
      because: 'lets a change of members end the quorum: remove it',
    },
    {
      flags: ['auto-tls', 'peer-auto-tls'],
      butFor: ['false'],
      because: 'replaces the certificates by which only this control plane reaches its etcd: remove it',
    },
    {
      flags: [
        'client-cert-allowed-hostname',
        'client-cert-file',
        'client-crl-file',
        'client-key-file',
        'experimental-peer-skip-client-san-verification',
        'peer-cert-allowed-cn',
        'peer-cert-allowed-hostname',
        'peer-client-cert-file',
        'peer-client-key-file',
        'peer-crl-file',
        'peer-skip-client-san-verification',
      ],
      because: 'belongs to the certificates of etcd, which the operator sets: remove it',
    },
    {
      flags: ['discovery-endpoints', 'discovery-token', 'proxy'],
      because: 'contradicts the members that the operator manages: remove it, and set etcd.replicas',
    },
    {
      flags: ['max-snapshots', 'max-wals'],
      only: ['0'],
      because: 'must not be 0, because files that are never deleted fill the volume: remove it',
    },
    {
      flags: ['max-request-bytes'],
      below: 1_572_864,
      because: 'must be at least 1572864, because Kubernetes writes objects of up to that size: raise it',
    },
    {
      flags: ['snapshot-count'],
      above: 100_000,
      because: 'must be at most 100000, because the log of more writes fills memory and the volume: lower it',
    },
    {
      flags: ['max-learners', 'experimental-max-learners'],
      only: ['0'],
      because: 'must not be 0, because each member joins as a learner: remove it',
    },
  ],
  'kube-apiserver': [
    ends,
    hidesFromProbes,
    {
      flags: ['etcd-prefix'],
      butFor: ['/registry'],
      because: 'hides everything that is stored below /registry, also from backups: remove it',
    },
    {
      flags: ['etcd-servers-overrides'],
      because: 'stores resources where no backup and no restore finds them: remove it',
    },
    {
      flags: ['etcd-compaction-interval'],
      only: ['0', '0s', '0m', '0h'],
      because: 'must not be 0, because the history of all objects fills etcd: remove it',
    },
    {
      flags: ['authorization-config'],
      because:
        'would replace the modes Node and RBAC, which kubelets and the operator need: use authorization-mode and authorization-webhook-config-file',
    },
    {
      flags: ['anonymous-auth'],
      only: ['false', 'False', 'FALSE', 'f', 'F', '0'],
      beside: 'authentication-config',
      because:
        'must not be false together with authentication-config, because probes would get no answer: set anonymous in that file, with the paths /healthz, /livez, /readyz and, for kubeadm join, /api/v1/namespaces/kube-public/configmaps/cluster-info',
    },
    {
      flags: ['enable-admission-plugins'],
      matching: '(^|,) *AlwaysDeny *(,|$)',
      because: 'must not have AlwaysDeny, which refuses every write, also the writes of the operator: remove it',
    },
    {
      flags: ['runtime-config'],
      matching:
        '(^|,) *(v1|api/(all|ga|legacy)|(admissionregistration|authentication|authorization|certificates|coordination|discovery|events|node|rbac[.]authorization|scheduling|storage)[.]k8s[.]io/v1|(apps|policy)/v1) *= *(0|f|F)',
      because: 'disables an API that nodes, add-ons or the operator need: remove that entry',
    },
  ],
  'kube-controller-manager': [
    ...controllers(ports.controllerManager, ['/healthz']),
    {
      flags: ['controllers'],
      matching:
        '(^|,) *-(serviceaccount|serviceaccount-controller|serviceaccount-token|serviceaccount-token-controller|root-ca-cert-publisher|root-ca-certificate-publisher-controller) *(,|$)',
      because: 'disables a controller without which no pod starts in a new namespace: remove that entry',
    },
    {
      flags: [
        'concurrent-deployment-syncs',
        'concurrent-namespace-syncs',
        'concurrent-replicaset-syncs',
        'concurrent-serviceaccount-token-syncs',
      ],
      only: ['0'],
      because: 'must not be 0, because the controller would do nothing: remove it',
    },
  ],
  'kube-scheduler': [
    ...controllers(ports.scheduler, ['/livez', '/readyz']),
    {
      flags: ['config'],
      because: 'names a file, which its pod does not have, and its other arguments would be ignored: remove it',
    },
    { flags: ['write-config-to'], because: 'makes the program write a file and end: remove it' },
  ],
};

/** The rules for the arguments of a program. */
export function argumentRules(program: CheckedProgram): ValidationRule<Arguments>[] {
  return refusedArguments[program].map((row) => ({
    rule: ruleOf(row),
    message: `argument ${row.flags.join(' or ')}: ${row.because}`,
    holds: (given) =>
      (row.beside !== undefined && given[row.beside] === undefined) ||
      row.flags.every((flag) => given[flag] === undefined || !isRefused(row, given[flag])),
  }));
}

const listOf = (texts: readonly string[]) => `[${texts.map((text) => `'${text}'`).join(', ')}]`;

function ruleOf(row: RefusedArgument): string {
  const { flags, beside } = row;
  const [first] = flags;
  if (beside !== undefined) return `!('${beside}' in self) || ${ruleOf({ ...row, beside: undefined })}`;
  // Not `all` for one flag: the estimated cost would be that of its condition for every argument there may be.
  if (flags.length === 1) return `!('${first}' in self) || ${accepted(row, `self['${first}']`)}`;
  return `self.all(flag, !(flag in ${listOf(flags)}) || ${accepted(row, 'self[flag]')})`;
}

/** CEL: whether a value is accepted. */
function accepted({ butFor, only, matching, without, below, above }: RefusedValues, value: string): string {
  const isNumber = `${value}.matches('^[0-9]{1,18}$')`;
  if (butFor) return `${value} in ${listOf(butFor)}`;
  if (only) return `!(${value} in ${listOf(only)})`;
  if (matching !== undefined) return `!${value}.matches('${matching}')`;
  if (without) return `${listOf(without)}.all(one, one in ${value}.split(','))`;
  if (below !== undefined) return `(!${isNumber} || int(${value}) >= ${below})`;
  if (above !== undefined) return `(!${isNumber} || int(${value}) <= ${above})`;
  return 'false';
}

function isRefused({ butFor, only, matching, without, below, above }: RefusedValues, value: string): boolean {
  const number = /^[0-9]{1,18}$/.test(value) ? Number(value) : undefined;
  if (butFor) return !butFor.includes(value);
  if (only) return only.includes(value);
  if (matching !== undefined) return new RegExp(matching).test(value);
  if (without) return without.some((entry) => !value.split(',').includes(entry));
  if (below !== undefined) return number !== undefined && number < below;
  if (above !== undefined) return number !== undefined && number > above;
  return true;
}
