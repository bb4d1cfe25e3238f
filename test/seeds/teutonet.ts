import type { Typed } from './typed.ts';

const release = 'https://github.com/teutonet/cluster-api-provider-hosted-control-plane/releases';
const demo = ['system/demo.test', 'the demo ends with a worker whose pods answer'] as const;
const objects = [
  'system/demo.test',
  "the reference provider's HostedControlPlane becomes a control plane behind its Gateway",
] as const;
const install = {
  instead: 'kubectl apply --server-side -f dist/control-plane-components.yaml',
  because:
    'there is no release of this provider at that address, and its CRDs are too large for the annotation of `kubectl apply`',
  proof: demo,
};
const scripts = (script: string, because = 'there is no Taskfile'): { instead: string; because: string } => ({
  instead: script,
  because,
});

/** 000: the provider of teutonet. */
export const teutonet: readonly Typed[] = [
  { yaml: 1, what: 'the Gateway', asWritten: true, remark: 'with the class of your Gateway', proof: objects },
  { command: `kubectl apply -f ${release}/latest/download/control-plane-components.yaml`, ...install },
  { command: `kubectl apply -f ${release}/download/v1.5.0/control-plane-components.yaml`, ...install },
  {
    command: 'kubectl get pods -n capi-hosted-control-plane-system',
    asWritten: true,
    proof: [
      'constructs/provider/chart.test',
      'has one namespace, which comes first and contains everything that is namespaced',
    ],
  },
  { yaml: 2, what: 'the HostedControlPlane', asWritten: true, proof: objects },
  { yaml: 3, what: 'the Cluster', asWritten: true, proof: objects },
  {
    command: 'task build',
    ...scripts('npm run image'),
    proof: ['system/scripts.test', 'image packs an archive with the given name'],
  },
  { command: 'task test', ...scripts('npm test'), proof: ['system/scripts.test', 'synth renders dist as it is'] },
  { command: 'task lint', ...scripts('npm run check'), proof: ['system/scripts.test', 'synth renders dist as it is'] },
  {
    command: 'task manifests',
    ...scripts('npm run synth'),
    proof: ['system/scripts.test', 'synth renders dist as it is'],
  },
  { command: 'task ci', ...scripts('.ci/run'), proof: ['system/scripts.test', 'synth renders dist as it is'] },
  {
    command: 'kubectl apply -f ./build/control-plane-components.yaml',
    instead: install.instead,
    because: '`npm run synth` writes to `dist`',
    proof: demo,
  },
  {
    command: 'task dev',
    ...scripts('npm start'),
    proof: ['system/scripts.test', 'start runs the operator until a signal'],
  },
];
