import { describe, expect, it } from 'vitest';
import { HostedControlPlaneTemplateSpec } from '../../../../constructs/api/hosted-control-plane-template.ts';
import { exposuresOf } from '../../../../constructs/api/exposure-spec.ts';
import { type CapoVersion, capoVersions } from '../../../../constructs/stacks/openstack/class-patch.ts';
import { OpenStackVariables, variableRows } from '../../../../constructs/stacks/openstack/variables.ts';
import type { ClusterClassSpec } from '../../../../imports/cluster.x-k8s.io.ts';
import { enabledPatches, patchedTemplate } from '../../../support/stacks/class-engine.ts';
import { problemsOf } from '../../../support/stacks/foreign-schema.ts';
import { allTogether, cases, classes, controlPlane, machine, network } from './variable-cases.ts';

const variablesOf = (given: OpenStackVariables) => ({
  ...OpenStackVariables.parse(given),
  builtin: { machineDeployment: { version: 'v1.34.10', class: 'default-worker' } },
});

/** The spec that the patches leave in a template. */
function specOf(capo: CapoVersion, kind: string, given: OpenStackVariables): Readonly<Record<string, unknown>> {
  const { spec } = patchedTemplate(classes[capo], kind, variablesOf(given));
  return (spec as { template: { spec: Record<string, unknown> } }).template.spec;
}

describe.each(capoVersions)('the ClusterClass for %s of CAPO', (capo) => {
  const { spec } = classes[capo].find(({ kind }) => kind === 'ClusterClass') as unknown as { spec: ClusterClassSpec };

  it.each(Object.entries(cases))('carries %s to its template', (_, { given, kind, v1beta1, v1beta2 }) => {
    expect(specOf(capo, kind, given)).toMatchObject(capo === 'v1beta2' && v1beta2 ? v1beta2 : v1beta1);
  });

  it('has the effects of the defaults, and no others', () => {
    const named = { filter: { name: 'SCS-4V-8' } };
    expect(specOf(capo, machine, {})).toEqual({
      flavor: capo === 'v1beta1' ? 'SCS-4V-8' : named,
      image: { filter: { name: 'ubuntu-capi-image-v1.34.10' } },
      rootVolume: { sizeGiB: 50 },
    });
    const { managedSecurityGroups, ...spec } = specOf(capo, network, {});
    expect(spec).toEqual({
      identityRef: { name: 'openstack', cloudName: 'openstack' },
      managedSubnets: [{ cidr: '10.8.0.0/20', dnsNameservers: ['9.9.9.9', '149.112.112.112'] }],
      ...(capo === 'v1beta1'
        ? { apiServerLoadBalancer: { enabled: false }, disableAPIServerFloatingIP: true }
        : { apiServer: { managedLoadBalancer: { enabled: false }, enableFloatingIP: false } }),
    });
    expect(JSON.stringify(managedSecurityGroups).match(/8472|4240|4244/g)).toHaveLength(6);
    expect(specOf(capo, controlPlane, {})).toEqual({
      apiServer: {},
      replicas: 3,
      exposure: { loadBalancer: {} },
    });
  });

  const inputs: [string, OpenStackVariables][] = [
    ['the defaults', {}],
    ...Object.entries(cases).map(([name, { given }]): [string, OpenStackVariables] => [name, given]),
    ['all variables together', allTogether],
  ];
  it.each(inputs)('makes objects that the schemas accept of %s', (_, given) => {
    const templates = [network, machine].map((kind) => patchedTemplate(classes[capo], kind, variablesOf(given)));
    const objects = templates.map(({ spec, ...object }) => {
      const { template } = spec as { template: object };
      return { ...object, spec: { template } };
    });
    expect(objects.flatMap(problemsOf)).toEqual([]);
    const { replicas: _replicas, ...hosted } = specOf(capo, controlPlane, given);
    expect(HostedControlPlaneTemplateSpec.safeParse({ template: { spec: hosted } }).error).toBeUndefined();
    expect(exposuresOf(hosted)).toHaveLength(1);
  });

  it('has a Gateway if one is named, otherwise a load balancer', () => {
    expect(specOf(capo, controlPlane, {})).not.toHaveProperty('gateway');
    expect(specOf(capo, controlPlane, { gatewayName: 'shared' })).not.toHaveProperty('exposure');
  });

  it('has every variable, which is optional', () => {
    expect(spec.variables?.map(({ name }) => name)).toEqual(Object.keys(variableRows));
    expect(spec.variables?.filter(({ required }) => required)).toEqual([]);
  });

  it.each(Object.keys(variableRows))('reads %s in a patch of its own or of the variable that it belongs to', (name) => {
    const { patches } = variableRows[name] ?? { patches: [] };
    const owner = 'partOf' in patches ? patches.partOf : name;
    const { patches: owned } = variableRows[owner] ?? { patches: [] };
    expect(JSON.stringify(owned)).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it('leaves out every patch of a variable that is unset', () => {
    const [cluster] = classes[capo];
    if (!cluster) throw new Error('no class');
    expect(enabledPatches(cluster, variablesOf({})).map(({ name }) => name)).toEqual([
      'controlPlaneReplicas',
      'withoutGateway',
      'nodeCIDRSubnet',
      'disableAPIServerFloatingIP',
      'workerFlavor',
      'workerRootDisk',
      'workerImage',
      'identityRef',
    ]);
  });
});

describe('the check of objects against a definition', () => {
  const object = (spec: object) => ({
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: machine,
    metadata: { name: 'any', labels: { any: 'label' } },
    spec: { template: { spec } },
  });
  const image = { filter: { name: 'any' } };

  it.each([
    ['an unknown field', { flavor: 'small', image: { filter: { name: 'any', size: 1 } } }],
    ['a field of another version', { flavor: 'small', image, managedNetwork: {} }],
    ['a wrong type', { flavor: 3, image }],
    ['a number below its minimum', { flavor: 'small', image, rootVolume: { sizeGiB: 0 } }],
    ['a missing field', { flavor: 'small' }],
  ])('refuses %s', (_, spec) => expect(problemsOf(object(spec))).not.toEqual([]));

  it('accepts what the definition has', () => expect(problemsOf(object({ flavor: 'small', image }))).toEqual([]));
});
