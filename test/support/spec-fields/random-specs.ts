import { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import { structural } from '../../../constructs/api/structural.ts';
import { oneOf, type Random, randomFrom, sampleOf, type SampleOptions } from './samples.ts';

const schema = structural(HostedControlPlaneSpec);
const ways = ['gateway', 'ingress', 'loadBalancer', 'nodePort'] as const;

/** What users write by mistake or on purpose, of every type. */
const mistakes: readonly unknown[] = [
  -1,
  0,
  1.5,
  2 ** 31,
  true,
  '',
  ' ',
  'x'.repeat(300),
  'Upper_Case',
  '--v',
  '../../etc',
  'é\u0000\n',
  '"; rm -rf /',
  '{{ .Values }}',
  '1e3',
  [],
  {},
];

/** Valid values of parts whose fields depend on each other, by the end of their path. Random fields rarely fit. */
const fitting: readonly (readonly [RegExp, readonly unknown[]])[] = [
  [/\.env$/, [[], [{ name: 'GOMEMLIMIT', value: '1GiB' }, { name: 'GODEBUG' }]]],
  [/\.imagePullSecrets$/, [[], [{ name: 'one' }, { name: 'two' }]]],
  [
    /\.tolerations\.\d+$/,
    [{ operator: 'Exists' }, { key: 'a', value: 'b' }, { key: 'a', effect: 'NoExecute', tolerationSeconds: 30 }],
  ],
  [
    /\.matchExpressions\.\d+$/,
    [
      { key: 'example.org/a', operator: 'Exists' },
      { key: 'example.org/a', operator: 'NotIn', values: ['1', 'b'] },
    ],
  ],
  [
    /\.topologySpreadConstraints$/,
    [
      [],
      [
        { topologyKey: 'a', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', minDomains: 2 },
        { topologyKey: 'b', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway', nodeTaintsPolicy: 'Ignore' },
      ],
    ],
  ],
];

/** A spec with random fields for this seed. About half of them are valid: `strange` gives some fields other values. */
export function randomSpec(seed: number): object {
  const random = randomFrom(seed);
  const share = oneOf(random, [0.1, 0.3, 0.6]);
  const isStrange = random() < 0.5;
  const strange: SampleOptions['strange'] = (_, path) => {
    // They are always refused, and half of all specs would have some.
    if (path.endsWith('.claims') && random() < 0.95) return { value: [] };
    const whole = fitting.find(([end]) => end.test(path));
    if (whole && random() < 0.98) return { value: oneOf(random, whole[1]) };
    return isStrange && random() < 0.02 ? { value: oneOf(random, mistakes) } : undefined;
  };
  const spec = sampleOf(schema, '', { random, share, strange });
  return typeof spec === 'object' && spec !== null && random() < 0.9 ? consistent(spec, random) : Object(spec);
}

/** Removes what excludes each other, which random fields would nearly always contain. */
function consistent(spec: object, random: Random): object {
  const fields: Readonly<Record<string, unknown>> = { ...spec };
  const { gateway: _, ...rest } = fields;
  const way = oneOf(random, ways);
  const exposure = sampleOf(
    {
      type: 'object',
      properties: { [way]: schema.properties?.['exposure']?.properties?.[way] ?? {} },
      required: [way],
    },
    'exposure',
    { random, share: 0.5 },
  );
  const etcd: Readonly<Record<string, unknown>> = { ...Object(fields['etcd']) };
  const { volumeSize, restore: _restore, ...etcdRest } = etcd;
  const size = etcd['autoGrow'] === false ? { volumeSize: volumeSize ?? '8Gi' } : {};
  const certificates = random() < 0.7 ? {} : { certificates: fields['certificates'] };
  const { certificates: _certificates, ...others } = rest;
  return { ...others, exposure, etcd: { ...etcdRest, ...size }, ...certificates };
}
