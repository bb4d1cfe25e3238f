import type { V1ObjectMeta, V1PodSpec, V1PodTemplateSpec } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { nodeTopology, reservedVariables } from '../../../constructs/api/overlay-spec.ts';
import { reservedAnnotation, reservedLabel } from '../../../constructs/api/pod-metadata-spec.ts';
import { type RenderedObject, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { renderedObjects } from '../../support/spec-fields/effects.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';

const team = (value: string) => ({ 'example.org/team': value });
const taint = (value: string) => ({ key: 'dedicated', value, effect: 'NoSchedule' });
const additions = (value: string) => ({
  labels: team(value),
  annotations: team(value),
  nodeSelector: team(value),
  env: [{ name: 'TEAM', value }],
  imagePullSecrets: [{ name: `pull-${value}` }],
  tolerations: [taint(value)],
  priorityClassName: value,
  topologySpreadConstraints: [{ topologyKey: 'rack', maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' }],
});

interface RenderedPod {
  readonly name: string;
  readonly metadata: V1ObjectMeta;
  readonly pod: V1PodSpec;
}

/** Every pod and pod template among rendered objects. */
function podsAmong(objects: readonly RenderedObject[]): RenderedPod[] {
  return objects.flatMap((object): RenderedPod[] => {
    const spec = object['spec'] as V1PodSpec & { readonly template?: V1PodTemplateSpec };
    const { name } = object.metadata;
    if (object.kind === 'Pod') return [{ name, metadata: object.metadata, pod: spec }];
    const { metadata, spec: pod } = spec?.template ?? {};
    return pod ? [{ name, metadata: metadata ?? {}, pod }] : [];
  });
}

/** Every pod of the control plane, and every pod of the hosted cluster. */
function podsOf(spec: object) {
  const cluster = clusterOf({ spec: { inClusterAccess: 'Proxy', ...spec } });
  const { management, hosted } = renderedObjects(cluster);
  const check = renderControlPlane(cluster, { ...knownFacts, apiServerCheck: cluster.spec }, 'api-server-check');
  return { management: podsAmong([...management, ...check]), hosted: podsAmong(hosted) };
}

function podOf(spec: object, name: string): RenderedPod {
  const { management, hosted } = podsOf(spec);
  const found = [...management, ...hosted].find((one) => one.name === name);
  if (!found) throw new Error(`nothing is rendered for ${name}`);
  return found;
}

const controlPlane = ['c1-api-server', 'c1-api-server-check', 'c1-controller-manager', 'c1-scheduler', 'c1-etcd'];
const components: readonly (readonly [name: string, own: (settings: object) => object])[] = [
  ['c1-api-server', (apiServer) => ({ deployment: { apiServer } })],
  ['c1-api-server-check', (apiServer) => ({ deployment: { apiServer } })],
  ['c1-controller-manager', (controllerManager) => ({ deployment: { controllerManager } })],
  ['c1-scheduler', (scheduler) => ({ deployment: { scheduler } })],
  ['c1-etcd', (etcd) => ({ etcd })],
  ['konnectivity-agent', (konnectivityClient) => ({ konnectivityClient })],
  ['coredns', (coredns) => ({ coredns })],
];

describe('what a user adds to pods', () => {
  it.each(components)('of %s are on them', (name, own) => {
    const { metadata, pod } = podOf(own(additions('a')), name);
    const without = podOf({}, name).metadata;
    expect(metadata.labels).toEqual({ ...without.labels, ...team('a') });
    expect(metadata.annotations).toEqual({ ...without.annotations, ...team('a') });
    expect(pod).toMatchObject({
      nodeSelector: team('a'),
      priorityClassName: 'a',
      imagePullSecrets: [{ name: 'pull-a' }],
    });
    expect(pod.tolerations).toContainEqual(taint('a'));
    expect(pod.topologySpreadConstraints).toContainEqual(expect.objectContaining({ topologyKey: 'rack', maxSkew: 3 }));
    expect(pod.containers[0]?.env).toContainEqual({ name: 'TEAM', value: 'a' });
  });

  it.each([
    ['kube-proxy', 'kubeProxy'],
    ['hosted-control-plane-proxy', 'proxy'],
  ])('of %s is on them, which run on every node', (name, field) => {
    const { tolerations: _, topologySpreadConstraints: _spread, ...given } = additions('a');
    const { metadata, pod } = podOf({ [field]: given }, name);
    expect(metadata).toMatchObject({ labels: team('a'), annotations: team('a') });
    expect(pod).toMatchObject({
      nodeSelector: { 'kubernetes.io/os': 'linux', ...team('a') },
      priorityClassName: 'a',
      tolerations: [{ operator: 'Exists' }],
    });
  });

  it('as a default is on every pod in the management cluster, and on none in the hosted cluster', () => {
    const { management, hosted } = podsOf({ deployment: { defaults: additions('a') } });
    const added = (pods: readonly RenderedPod[]) =>
      pods.filter(({ pod }) => pod.nodeSelector?.['example.org/team'] === 'a').map(({ name }) => name);
    expect(added(management)).toEqual(management.map(({ name }) => name));
    expect(added(management)).toEqual(expect.arrayContaining([...controlPlane, 'c1-etcd-restore-0', 'c1-etcd-verify']));
    expect(added(hosted)).toEqual([]);
  });

  it.each(components.slice(0, 5))('of %s comes on top of the defaults', (name, own) => {
    const defaults = { ...additions('all'), labels: { ...team('all'), also: 'a' } };
    const { deployment, ...rest }: { deployment?: object } = own(additions('own'));
    const spec = { ...rest, deployment: { defaults, ...deployment } };
    const { metadata, pod } = podOf(spec, name);
    expect(metadata.labels).toMatchObject({ ...team('own'), also: 'a' });
    expect(pod).toMatchObject({
      nodeSelector: team('own'),
      priorityClassName: 'own',
      imagePullSecrets: [{ name: 'pull-all' }, { name: 'pull-own' }],
      tolerations: [taint('all'), taint('own')],
    });
    expect(pod.containers[0]?.env?.filter(({ name: variable }) => variable === 'TEAM')).toEqual([
      { name: 'TEAM', value: 'own' },
    ]);
  });

  it.each(components.slice(0, 5))(
    'of %s replaces the affinity of the same kind that the defaults have',
    (name, own) => {
      const toZone = (weight: number) => ({
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight, podAffinityTerm: { topologyKey: 'zone', labelSelector: { matchLabels: team('a') } } },
        ],
      });
      const toNode = {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
        },
      };
      const { deployment, ...rest }: { deployment?: object } = own({ affinity: { podAntiAffinity: toZone(2) } });
      const defaults = { affinity: { podAntiAffinity: toZone(1), nodeAffinity: toNode } };
      const { affinity } = podOf({ ...rest, deployment: { defaults, ...deployment } }, name).pod;
      expect(affinity).toMatchObject({ podAntiAffinity: toZone(2), nodeAffinity: toNode });
    },
  );

  it('replaces the toleration of the same taint', () => {
    const lost = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
    const settings = { tolerations: [{ ...lost, tolerationSeconds: 5 }] };
    const { tolerations = [] } = podOf({ konnectivityClient: settings }, 'konnectivity-agent').pod;
    expect(tolerations.filter(({ key }) => key === lost.key)).toEqual(settings.tolerations);
    expect(tolerations.length).toBe(podOf({}, 'konnectivity-agent').pod.tolerations?.length);
  });

  it('is not given to the steps of a restore as variables, which run with the key of etcd', () => {
    const { pod } = podOf({ etcd: additions('a') }, 'c1-etcd-restore-0');
    expect(JSON.stringify([pod.containers, pod.initContainers])).not.toContain('TEAM');
    expect(pod.nodeSelector).toEqual(team('a'));
  });
});

describe('topology spread constraints', () => {
  const constraint = (topologyKey: string, whenUnsatisfiable: string) => ({
    topologyKey,
    whenUnsatisfiable,
    maxSkew: 2,
  });
  const spread = (spec: object, name: string) =>
    podOf(spec, name).pod.topologySpreadConstraints?.map((one) => [
      one.topologyKey,
      one.whenUnsatisfiable,
      one.maxSkew,
    ]);
  const topologySpreadConstraints = [constraint(nodeTopology, 'ScheduleAnyway'), constraint('rack', 'DoNotSchedule')];

  it('replace those of the operator by topology, and count the same pods', () => {
    const spec = { deployment: { apiServer: { topologySpreadConstraints } } };
    expect(spread(spec, 'c1-api-server')).toEqual([
      [nodeTopology, 'ScheduleAnyway', 2],
      ['topology.kubernetes.io/zone', 'ScheduleAnyway', 1],
      ['rack', 'DoNotSchedule', 2],
    ]);
    const { pod } = podOf(spec, 'c1-api-server');
    const counted = pod.topologySpreadConstraints?.map(({ labelSelector, matchLabelKeys }) => ({
      labelSelector,
      matchLabelKeys,
    }));
    expect(new Set(counted?.map((one) => JSON.stringify(one))).size).toBe(1);
  });

  it('as a default leave members of etcd on different nodes', () => {
    const spec = { deployment: { defaults: { topologySpreadConstraints } } };
    expect(spread(spec, 'c1-scheduler')?.[0]).toEqual([nodeTopology, 'ScheduleAnyway', 2]);
    expect(spread(spec, 'c1-etcd')?.[0]).toEqual([nodeTopology, 'DoNotSchedule', 1]);
    expect(spread(spec, 'c1-etcd')?.[2]).toEqual(['rack', 'DoNotSchedule', 2]);
  });
});

describe('what the operator needs of pods', () => {
  const ingress = { apiHost: 'api.example.org', konnectivityHost: 'k.example.org', tunnelHost: 't.example.org' };
  const all = [{}, { exposure: { ingress } }].flatMap((spec) => Object.values(podsOf(spec)).flat());

  it('is refused as a label, an annotation or a variable of the user', () => {
    const keysOf = (part: 'labels' | 'annotations') =>
      new Set(all.flatMap(({ metadata }) => Object.keys(metadata[part] ?? {})));
    expect(keysOf('labels').size).toBeGreaterThan(3);
    expect([...keysOf('labels')].filter((key) => !new RegExp(reservedLabel).test(key))).toEqual([]);
    expect([...keysOf('annotations')].filter((key) => !new RegExp(reservedAnnotation).test(key))).toEqual([]);
    const variables = all.flatMap(({ pod }) =>
      [...(pod.initContainers ?? []), ...pod.containers].flatMap(({ env = [] }) => env.map(({ name }) => name)),
    );
    expect([...new Set(variables)].sort()).toEqual([...reservedVariables].sort());
  });
});

describe('imageRegistry', () => {
  const ingress = { apiHost: 'api.example.org', konnectivityHost: 'k.example.org', tunnelHost: 't.example.org' };
  const imagesOf = (spec: object) =>
    Object.values(podsOf({ exposure: { ingress }, ...spec }))
      .flat()
      .flatMap(({ name, pod }) =>
        [...(pod.initContainers ?? []), ...pod.containers].map((one) => [`${name} ${one.name}`, one.image ?? '']),
      );

  it('is that of every image in both clusters, those of helpers included', () => {
    const targets = [{ server: 'https://a.example.org' }, { server: 'https://b.example.org' }];
    const audit = { policy: { rules: [{ level: 'Metadata' }] }, webhook: { targets } };
    const images = imagesOf({ imageRegistry: 'mirror.example.org/k8s', deployment: { apiServer: { audit } } });
    expect(images.map(([container]) => container)).toEqual(
      expect.arrayContaining([
        'c1-api-server audit-webhook',
        'c1-api-server tunnel',
        'c1-api-server-check kube-apiserver',
        'c1-etcd-restore-0 receive',
        'c1-etcd-restore-0 restore',
        'c1-etcd-verify etcd',
        'coredns coredns',
        'hosted-control-plane-proxy proxy',
        'konnectivity-agent konnectivity-agent',
        'kube-proxy kube-proxy',
      ]),
    );
    expect(images.filter(([, image]) => !image?.startsWith('mirror.example.org/k8s/'))).toEqual([]);
  });

  it('leaves the registry that a component has', () => {
    const coredns = { image: { registry: 'other.example.org' } };
    const images = new Map(imagesOf({ imageRegistry: 'mirror.example.org', coredns }) as [string, string][]);
    expect(images.get('coredns coredns')).toMatch(/^other[.]example[.]org\/coredns\/coredns:/);
    expect(images.get('kube-proxy kube-proxy')).toMatch(/^mirror[.]example[.]org\/kube-proxy:/);
  });
});
