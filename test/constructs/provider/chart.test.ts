import { describe, expect, it } from 'vitest';
import { contractLabel, providerLabel, providerLabelValue } from '../../../constructs/api/group.ts';
import { renderProvider } from '../../../constructs/provider/chart.ts';
import { managerImage } from '../../../constructs/provider/image.ts';
import { managerEnvironment } from '../../../constructs/provider/operator.ts';
import { renderMetadata } from '../../../constructs/provider/repository.ts';
import { environmentVariables, readConfig } from '../../../reconciler/operator/config.ts';
import { renderDistribution } from '../../../constructs/distribution.ts';
import { workloadsOf } from '../../support/rendered-objects.ts';
import packageManifest from '../../../package.json' with { type: 'json' };

const objects = renderProvider();
const named = (kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === `capi-hosted-control-plane-${name}`);

const [manager, ...more] = workloadsOf(objects);
const container = manager?.containers[0];

describe('the installation', () => {
  it('labels every object and pod for clusterctl', () => {
    for (const { metadata } of objects) expect(metadata.labels?.[providerLabel]).toBe(providerLabelValue);
    expect(manager?.template.metadata?.labels?.[providerLabel]).toBe(providerLabelValue);
  });

  it('has one namespace, which comes first and contains everything that is namespaced', () => {
    expect(objects[0]?.kind).toBe('Namespace');
    const namespaces = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
    expect([...namespaces]).toEqual(['capi-hosted-control-plane-system']);
    expect(objects.filter(({ kind }) => kind === 'Namespace')).toHaveLength(1);
  });

  it('prefixes the names of all objects that do not define a kind', () => {
    const others = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
    expect(others.filter(({ metadata }) => !metadata.name.startsWith('capi-hosted-control-plane-'))).toEqual([]);
  });

  it('can be rendered for another namespace and another image', () => {
    const elsewhere = renderProvider({ namespace: 'elsewhere', image: 'registry.example.org/manager:v9' });
    expect(JSON.stringify(elsewhere)).not.toContain('capi-hosted-control-plane-system');
    expect(workloadsOf(elsewhere)[0]?.containers[0]?.image).toBe('registry.example.org/manager:v9');
  });

  it('contains nothing that clusterctl would treat as a variable', () => {
    const components = renderDistribution([]).find(({ path }) => path === 'control-plane-components.yaml');
    expect(components?.content).not.toMatch(/\$[{$]/);
  });

  it.each([undefined, 'team-a'])(
    'refuses deletions of what is protected, in all namespaces or in %s',
    (watchNamespace) => {
      const name = `capi-hosted-control-plane-deletion${watchNamespace === undefined ? '' : '-team-a'}`;
      const own = renderProvider(watchNamespace === undefined ? {} : { watchNamespace }).filter(
        ({ metadata }) => metadata.name === name,
      );
      expect(own).toMatchObject([
        {
          kind: 'ValidatingAdmissionPolicy',
          spec: {
            matchConstraints: {
              ...(watchNamespace && {
                namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': watchNamespace } },
              }),
              resourceRules: [
                { resources: ['hostedcontrolplanes'], operations: ['DELETE'] },
                { resources: ['clusters'], operations: ['DELETE'] },
                { resources: ['namespaces'], operations: ['DELETE'] },
              ],
            },
            validations: [{ expression: expect.stringContaining('/deletion-protection'), reason: 'Forbidden' }],
          },
        },
        { kind: 'ValidatingAdmissionPolicyBinding', spec: { policyName: name, validationActions: ['Deny'] } },
      ]);
      expect(JSON.stringify(own).includes('namespaceSelector')).toBe(watchNamespace !== undefined);
    },
  );

  it('has no webhook and no policy that could change what Cluster API applies', () => {
    expect(objects.filter(({ kind }) => /Webhook|MutatingAdmissionPolicy/.test(kind))).toEqual([]);
  });
});

describe('the operator', () => {
  it('is one Deployment with the container name that clusterctl expects', () => {
    expect(more).toEqual([]);
    expect(container?.name).toBe('manager');
    expect(container?.image).toBe(managerImage);
    expect(managerImage).toBe(`localhost/hosted-control-plane/manager:v${packageManifest.version}`);
  });

  it('sets variables that the operator reads to their default values', () => {
    const known = environmentVariables.map(({ name }) => name);
    // of Node and of the C library, which keep its memory small
    const others = ['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'NODE_OPTIONS'];
    expect(container?.env?.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual(others);
    expect(readConfig([], managerEnvironment)).toEqual(readConfig([], {}));
  });

  it('gets its own namespace', () => {
    expect(container?.env).toContainEqual({
      name: 'CONTROLLER_NAMESPACE',
      valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } },
    });
  });

  it('survives a node and a runaway, and is not evicted for other pods', () => {
    expect(manager?.object['spec']).toMatchObject({ replicas: 2 });
    expect(manager?.pod.priorityClassName).toBe('system-cluster-critical');
    expect(manager?.pod.topologySpreadConstraints).toMatchObject([{ topologyKey: 'kubernetes.io/hostname' }]);
    expect(container?.resources).toMatchObject({ limits: { memory: '1Gi' } });
  });

  it('is not process 1 of its namespace, which the kernel lets no thread of it end', () => {
    expect(manager?.pod.shareProcessNamespace).toBe(true);
  });

  it('reconciles all namespaces unless it is rendered for one', () => {
    expect(readConfig(container?.args ?? [], managerEnvironment).namespace).toBe(undefined);
    const [limited] = workloadsOf(renderProvider({ watchNamespace: 'team' }));
    expect(readConfig(limited?.containers[0]?.args ?? [], managerEnvironment).namespace).toBe('team');
  });

  it('declares the ports where it serves its health and, to those who may read them, its metrics', () => {
    const { healthPort, metricsPort, secureMetricsPort } = readConfig(container?.args ?? [], {});
    expect(metricsPort).toBe(0);
    expect(container?.ports?.map(({ containerPort }) => containerPort)).toEqual([healthPort, secureMetricsPort]);
    expect(container?.readinessProbe?.httpGet?.path).toBe('/readyz');
    expect(container?.livenessProbe?.httpGet?.path).toBe('/healthz');
  });

  it('uses the service account of the rights', () => {
    const account = {
      kind: 'ServiceAccount',
      name: manager?.pod.serviceAccountName,
      namespace: 'capi-hosted-control-plane-system',
    };
    expect(named('ServiceAccount', 'manager')?.metadata.name).toBe(account.name);
    expect(named('ClusterRoleBinding', 'manager')?.['subjects']).toEqual([account]);
    expect(named('RoleBinding', 'leader-election')?.['subjects']).toEqual([account]);
  });
});

describe('rights for others', () => {
  it('bind existing roles', () => {
    const bindings = objects.filter(({ kind }) => kind.endsWith('RoleBinding'));
    expect(bindings).toHaveLength(3);
    for (const { roleRef } of bindings) {
      const { kind, name } = roleRef as { kind: string; name: string };
      expect(objects.filter((object) => object.kind === kind && object.metadata.name === name)).toHaveLength(1);
    }
  });

  it("allow Cluster API's core to use all kinds", () => {
    const role = named('ClusterRole', 'cluster-api');
    expect(role?.metadata.labels?.['cluster.x-k8s.io/aggregate-to-manager']).toBe('true');
    expect(role?.['rules']).toEqual([
      {
        apiGroups: ['controlplane.cluster.x-k8s.io'],
        resources: ['hostedcontrolplanes', 'hostedcontrolplanetemplates', 'hostedcontrolplanecomponenttemplates'],
        verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
      },
    ]);
  });

  it('allow the kubeadm bootstrap provider to read control planes, in a form that clusterctl does not change', () => {
    const subjects = named('ClusterRoleBinding', 'kubeadm-bootstrap')?.['subjects'] as { namespace?: string }[];
    // clusterctl overwrites the namespace of every subject that has one.
    expect(subjects).toEqual([
      {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'User',
        name: 'system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager',
      },
    ]);
    expect(named('ClusterRole', 'kubeadm-bootstrap')?.['rules']).toEqual([
      { apiGroups: ['controlplane.cluster.x-k8s.io'], resources: ['hostedcontrolplanes'], verbs: ['get'] },
    ]);
  });
});

describe('the metadata', () => {
  it('names every series up to this release and the contract of its definitions', () => {
    const [major = 0, minor = 0] = packageManifest.version.split('.').map(Number);
    const contract = contractLabel.replace('cluster.x-k8s.io/', '');
    const { releaseSeries, ...rest } = renderMetadata();
    expect(rest).toEqual({ apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3', kind: 'Metadata' });
    expect(releaseSeries[0]).toEqual({ major: 0, minor: 1, contract: 'v1beta2' });
    expect(releaseSeries.at(-1)).toEqual({ major, minor, contract });
    const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(definitions.map(({ metadata }) => metadata.labels?.[`cluster.x-k8s.io/${contract}`])).toEqual([
      'v1alpha1',
      'v1alpha1',
      'v1alpha1',
    ]);
  });

  it('is not rendered for a release whose series it does not name', () => {
    expect(() => renderMetadata('0.99.0')).toThrow('begins series 0.99');
    expect(() => renderMetadata('next')).toThrow('is not a version');
  });
});
