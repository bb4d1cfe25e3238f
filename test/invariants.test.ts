import type { V1Container, V1Probe } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import { clusterNameLabel, fieldManager } from '../constructs/api/group.ts';
import { resourceOf } from '../constructs/api/resources.ts';
import { type RenderedObject, renderControlPlane } from '../constructs/control-plane/chart.ts';
import { componentLabel, managedByLabel } from '../constructs/cluster/labels.ts';
import { renderProvider } from '../constructs/provider/chart.ts';
import { readSample } from '../constructs/sample.ts';
import { renderWorkload } from '../constructs/workload/chart.ts';
import { restrictedViolations } from './support/pod-security.ts';
import { identityOf, labelsOf, renderSamples, servicesOf, workloadsOf } from './support/rendered-objects.ts';

const samples = await renderSamples();
const provider = renderProvider();
const charts: [name: string, objects: readonly RenderedObject[]][] = [
  ...samples.map(({ name, objects }): [string, readonly RenderedObject[]] => [`sample ${name}`, objects]),
  ['the installation', provider],
  ...samples.map(({ name, cluster, facts }): [string, readonly RenderedObject[]] => [
    `the hosted cluster of sample ${name}`,
    renderWorkload(cluster, facts),
  ]),
];

describe.each(charts)('every object of %s', (_, objects) => {
  it('has a unique kind and name', () => {
    const identities = objects.map(identityOf);
    expect(identities).toEqual([...new Set(identities)]);
  });

  it('has a namespace if, and only if, its kind is namespaced', () => {
    const wrong = objects.filter(
      (object) => resourceOf(object).namespaced !== (object.metadata.namespace !== undefined),
    );
    expect(wrong.map(identityOf)).toEqual([]);
  });

  it('has a name and labels that Kubernetes accepts, also where it derives others from them', () => {
    expect(objects.filter((object) => object.metadata.name.length > nameLimit(object.kind)).map(identityOf)).toEqual(
      [],
    );
    expect(labelsOf(objects).filter(([, value]) => value.length > 63)).toEqual([]);
  });

  it('holds no key material', () => {
    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(withoutCA(objects)).not.toMatch(keyMaterial);
  });
});

/** Objects as text, without the only certificate that workers read: the CA they trust. */
function withoutCA(objects: readonly RenderedObject[]): string {
  const caCertificates = samples.flatMap(({ facts }) => facts.clusterCA ?? []);
  return caCertificates
    .flatMap((pem) => [Buffer.from(pem).toString('base64'), JSON.stringify(pem).slice(1, -1)])
    .reduce((text, certificateAuthority) => text.replaceAll(certificateAuthority, ''), JSON.stringify(objects));
}

/** Pods that are part of a node rather than run on it, with exactly their exceptions from "restricted". */
const nodePlumbing: Readonly<Record<string, readonly string[]>> = {
  'kube-proxy': [
    'hostNetwork is true',
    'volume xtables-lock is of type hostPath',
    'volume lib-modules is of type hostPath',
    'container kube-proxy is privileged',
    'container kube-proxy may escalate its privileges',
    'container kube-proxy may run as root',
    'container kube-proxy has no seccomp profile',
    'container kube-proxy does not drop all capabilities',
  ],
  'konnectivity-agent': [
    'hostNetwork is true',
    'container konnectivity-agent has a host port',
    'container konnectivity-agent has a probe or hook with a host',
  ],
  'hosted-control-plane-proxy': ['hostNetwork is true', 'container proxy has a probe or hook with a host'],
};

/** A StatefulSet's name and `-<32-bit number>` become a label value of its pods; Services are DNS labels. */
function nameLimit(kind: string): number {
  return { Service: 63, Namespace: 63, StatefulSet: 63 - 11 }[kind] ?? 253;
}

/** The start of a PEM block, as text and in the three ways base64 can split it. */
const keyMaterial = /-----BEGIN|LS0tLS1CRUdJTi|0tLS0tQkVHSU4|tLS0tLUJFR0lO/;

it('key material is recognised at any position of a base64 text', () => {
  for (const before of ['', 'a', 'ab']) {
    expect(Buffer.from(`${before}-----BEGIN CERTIFICATE-----`).toString('base64')).toMatch(keyMaterial);
  }
});

const chartsWithPods = charts.filter(([, objects]) => workloadsOf(objects).length > 0);

describe.each(chartsWithPods)('every pod of %s', (_, objects) => {
  const workloads = workloadsOf(objects);
  const containers = workloads.flatMap((workload) => workload.containers);

  it('is restricted as Pod Security requires', () => {
    for (const { object, pod } of workloads) {
      expect(restrictedViolations(pod)).toEqual(nodePlumbing[object.metadata.name] ?? []);
    }
  });

  it('writes only to its volumes', () => {
    const writable = containers.filter(({ securityContext }) => !securityContext?.readOnlyRootFilesystem);
    expect(writable.map(({ name }) => name).filter((name) => name !== 'kube-proxy')).toEqual([]);
  });

  it('has requests of CPU and memory', () => {
    const silent = containers.filter(({ resources }) => !resources?.requests?.['cpu'] || !resources.requests['memory']);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('is probed for readiness and liveness, at ports it has', () => {
    const wrong = containers.filter(
      (container) =>
        ![container.readinessProbe, container.livenessProbe].every((probe) => asksOwnPort(container, probe)),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('has a protocol for every port', () => {
    const ports = [
      ...containers.flatMap((container) => container.ports ?? []),
      ...servicesOf(objects).flatMap(({ spec }) => spec?.ports ?? []),
    ];
    expect(ports.filter(({ protocol }) => !protocol)).toEqual([]);
    expect(ports.filter(({ name = '' }) => !/^(?=.*[a-z])[a-z0-9-]{1,15}$/.test(name))).toEqual([]);
  });

  it('has each volume it mounts, and mounts each volume it has', () => {
    for (const { pod, claims, containers: ofPod } of workloads) {
      const mounts = ofPod.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name));
      const volumes = [...(pod.volumes ?? []).map(({ name }) => name), ...claims];
      expect([...new Set(mounts)].sort()).toEqual(volumes.sort());
    }
  });

  it('gets no file twice', () => {
    for (const { volumeMounts = [] } of containers) {
      const paths = volumeMounts.map(({ mountPath }) => mountPath);
      expect(paths).toEqual([...new Set(paths)]);
    }
  });

  it('is selected by its own workload and spread constraints, and by one workload only', () => {
    for (const { object, template, pod, selector } of workloads) {
      const labels = template.metadata?.labels ?? {};
      const selecting = workloads.filter((other) => isSelected(other.selector, labels)).map((other) => other.object);
      expect(selecting.map(identityOf)).toEqual([identityOf(object)]);
      for (const { labelSelector } of pod.topologySpreadConstraints ?? []) {
        expect(labelSelector?.matchLabels).toEqual(selector);
      }
    }
  });
});

function asksOwnPort({ ports = [] }: V1Container, probe: V1Probe | undefined): boolean {
  // On the node's network: only one pod could use a port that is declared there.
  if (probe?.httpGet?.host?.startsWith('127.')) return true;
  return ports.some(({ name, containerPort }) => [name, containerPort].includes(probe?.httpGet?.port));
}

function isSelected(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

describe.each(samples)('sample $name', ({ cluster, facts, objects, source }) => {
  const workloads = workloadsOf(objects);

  it('has on every object the labels that the watches select by', () => {
    for (const { metadata } of objects) {
      expect(metadata.namespace).toBe(cluster.namespace);
      // Users add labels of their own to pods.
      expect(metadata.labels).toMatchObject({
        [clusterNameLabel]: cluster.name,
        [componentLabel]: expect.stringMatching(
          /^(api-server|api-server-check|etcd|etcd-restore|etcd-verify|controller-manager|scheduler)$/,
        ),
        [managedByLabel]: fieldManager,
      });
    }
    for (const { template, object } of workloads)
      expect(template.metadata?.labels).toMatchObject(object.metadata.labels ?? {});
  });

  it('gives no pod a token of the management cluster', () => {
    expect(workloads.filter(({ pod }) => pod.automountServiceAccountToken !== false)).toEqual([]);
    expect(workloads.filter(({ pod }) => pod.serviceAccountName !== undefined)).toEqual([]);
  });

  it('sends every port of a Service to a port of the one component it selects', () => {
    for (const service of servicesOf(objects)) {
      const selector = service.spec?.selector ?? {};
      const selected = workloads.filter(({ template }) => isSelected(selector, template.metadata?.labels ?? {}));
      expect(selected).toHaveLength(1);
      const offered = selected.flatMap(({ containers }) => containers.flatMap(({ ports = [] }) => ports));
      for (const { targetPort } of service.spec?.ports ?? [])
        expect(offered.map(({ name }) => name)).toContain(targetPort);
    }
  });

  it('allows a drain to evict one pod at a time of a component with several, and blocks no other', () => {
    const budgets = objects.filter(({ kind }) => kind === 'PodDisruptionBudget');
    const several = workloads.filter(({ object }) => (object['spec'] as { replicas: number }).replicas > 1);
    expect(budgets.map(({ spec }) => spec)).toEqual(
      several.map(({ object, selector }) => ({
        maxUnavailable: 1,
        // A quorum may need the data of a member that is not ready.
        unhealthyPodEvictionPolicy: object.kind === 'StatefulSet' ? 'IfHealthyBudget' : 'AlwaysAllow',
        selector: { matchLabels: selector },
      })),
    );
  });

  it("renders the same bytes again, whatever the order of the user's fields", () => {
    const renderedAgain = (objectsOfUser: readonly unknown[]) => {
      const sample = readSample(objectsOfUser);
      return JSON.stringify(renderControlPlane(sample.cluster, sample.facts));
    };
    expect(renderedAgain(source)).toBe(JSON.stringify(objects));
    expect(renderedAgain(source.map(backwards))).toBe(JSON.stringify(objects));
  });

  it('does not depend on the clock or on randomness', () => {
    vi.spyOn(Math, 'random').mockImplementation(() => expect.fail('Math.random was called'));
    vi.spyOn(globalThis.crypto, 'getRandomValues').mockImplementation(() => expect.fail('getRandomValues was called'));
    vi.spyOn(Date, 'now').mockImplementation(() => expect.fail('Date.now was called'));
    const rendered = renderControlPlane(cluster, facts);
    vi.restoreAllMocks();
    expect(rendered).toEqual(objects);
  });
});

/** The same value with all mappings in the opposite order. */
function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, backwards(member)]),
  );
}
