import { describe, expect, it } from 'vitest';
import type { StructuralSchema } from '../../../../constructs/api/structural.ts';
import type { CapoVersion } from '../../../../constructs/stacks/openstack/class-patch.ts';
import { OpenStackVariables } from '../../../../constructs/stacks/openstack/variables.ts';
import type { ClusterClassSpec } from '../../../../imports/cluster.x-k8s.io.ts';
import { schemaProblems } from '../../../support/stacks/foreign-schema.ts';
import { allTogether, classes } from './variable-cases.ts';

describe('the patches', () => {
  const rowsOf = (capo: CapoVersion) => {
    const { spec } = classes[capo].find(({ kind }) => kind === 'ClusterClass') as unknown as { spec: ClusterClassSpec };
    return (spec.patches ?? []).flatMap(({ name, enabledIf = 'always', definitions = [] }) =>
      definitions.flatMap(({ selector, jsonPatches }) =>
        jsonPatches.map(({ op, path }) =>
          [name, op, path, Object.entries(selector.matchResources).flat().map(textOf).join(' '), enabledIf].join(' | '),
        ),
      ),
    );
  };
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

  it('change these paths of these templates under these conditions', () => {
    expect(rowsOf('v1beta1')).toMatchInlineSnapshot(`
      [
        "controlPlaneReplicas | add | /spec/template/spec/replicas | controlPlane true | always",
        "gatewayName | add | /spec/template/spec/gateway | controlPlane true | {{ if .gatewayName }}true{{ end }}",
        "withoutGateway | add | /spec/template/spec/exposure | controlPlane true | {{ eq .gatewayName "" }}",
        "certSANs | add | /spec/template/spec/apiServer/certSANs | controlPlane true | {{ if .certSANs }}true{{ end }}",
        "networkExternalID | add | /spec/template/spec/externalNetwork | infrastructureCluster true | {{ if .networkExternalID }}true{{ end }}",
        "networkMTU | add | /spec/template/spec/networkMTU | infrastructureCluster true | {{ if .networkMTU }}true{{ end }}",
        "nodeCIDRSubnet | add | /spec/template/spec/managedSubnets | infrastructureCluster true | always",
        "disableAPIServerFloatingIP | add | /spec/template/spec/disableAPIServerFloatingIP | infrastructureCluster true | always",
        "apiServerLoadBalancerOctaviaAmphora | replace | /spec/template/spec/apiServerLoadBalancer/enabled | infrastructureCluster true | {{ eq .apiServerLoadBalancer "octavia-amphora" }}",
        "apiServerLoadBalancerOctaviaAmphora | add | /spec/template/spec/apiServerLoadBalancer/provider | infrastructureCluster true | {{ eq .apiServerLoadBalancer "octavia-amphora" }}",
        "apiServerLoadBalancerOctaviaOVN | replace | /spec/template/spec/apiServerLoadBalancer/enabled | infrastructureCluster true | {{ eq .apiServerLoadBalancer "octavia-ovn" }}",
        "apiServerLoadBalancerOctaviaOVN | add | /spec/template/spec/apiServerLoadBalancer/provider | infrastructureCluster true | {{ eq .apiServerLoadBalancer "octavia-ovn" }}",
        "apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs | add | /spec/template/spec/apiServerLoadBalancer/allowedCIDRs | infrastructureCluster true | {{ and (eq .apiServerLoadBalancer "octavia-amphora") (gt (len .apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs) 0) }}",
        "workerFlavor | replace | /spec/template/spec/flavor | machineDeploymentClass {"names":["default-worker"]} | always",
        "workerRootDisk | add | /spec/template/spec/rootVolume | machineDeploymentClass {"names":["default-worker"]} | {{ if .workerRootDisk }}true{{ end }}",
        "workerServerGroupID | add | /spec/template/spec/serverGroup | machineDeploymentClass {"names":["default-worker"]} | {{ if .workerServerGroupID }}true{{ end }}",
        "workerAdditionalBlockDevices | add | /spec/template/spec/additionalBlockDevices | machineDeploymentClass {"names":["default-worker"]} | {{ if .workerAdditionalBlockDevices }}true{{ end }}",
        "workerImage | add | /spec/template/spec/image | machineDeploymentClass {"names":["default-worker"]} | always",
        "identityRef | add | /spec/template/spec/identityRef | infrastructureCluster true | always",
        "sshKeyName | add | /spec/template/spec/sshKeyName | machineDeploymentClass {"names":["default-worker"]} | {{ if .sshKeyName }}true{{ end }}",
        "securityGroups | add | /spec/template/spec/securityGroups | machineDeploymentClass {"names":["default-worker"]} | {{ if or .securityGroups .workerSecurityGroups .securityGroupIDs .workerSecurityGroupIDs }}true{{ end }}",
      ]
    `);
  });

  it('differ for v1beta2 of CAPO in these paths', () => {
    const before = rowsOf('v1beta1');
    expect(rowsOf('v1beta2').filter((row) => !before.includes(row))).toMatchInlineSnapshot(`
      [
        "networkMTU | add | /spec/template/spec/managedNetwork | infrastructureCluster true | {{ if .networkMTU }}true{{ end }}",
        "disableAPIServerFloatingIP | add | /spec/template/spec/apiServer/enableFloatingIP | infrastructureCluster true | always",
        "apiServerLoadBalancerOctaviaAmphora | replace | /spec/template/spec/apiServer/managedLoadBalancer/enabled | infrastructureCluster true | {{ eq .apiServerLoadBalancer "octavia-amphora" }}",
        "apiServerLoadBalancerOctaviaAmphora | add | /spec/template/spec/apiServer/managedLoadBalancer/provider | infrastructureCluster true | {{ eq .apiServerLoadBalancer "octavia-amphora" }}",
        "apiServerLoadBalancerOctaviaOVN | replace | /spec/template/spec/apiServer/managedLoadBalancer/enabled | infrastructureCluster true | {{ eq .apiServerLoadBalancer "octavia-ovn" }}",
        "apiServerLoadBalancerOctaviaOVN | add | /spec/template/spec/apiServer/managedLoadBalancer/provider | infrastructureCluster true | {{ eq .apiServerLoadBalancer "octavia-ovn" }}",
        "apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs | add | /spec/template/spec/apiServer/managedLoadBalancer/allowedCIDRs | infrastructureCluster true | {{ and (eq .apiServerLoadBalancer "octavia-amphora") (gt (len .apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs) 0) }}",
      ]
    `);
  });
});

describe('the schemas of the variables', () => {
  const [{ spec } = { spec: {} }] = classes.v1beta1;
  const { variables } = spec as { variables: { name: string; schema: { openAPIV3Schema: StructuralSchema } }[] };
  const schemaOf = (name: string) => variables.find((variable) => variable.name === name)?.schema.openAPIV3Schema ?? {};

  it('have these types, defaults, bounds and formats', () => {
    const rows = variables.map(({ name, schema }) => {
      const { description: _, pattern: _pattern, properties: _properties, items, ...rest } = schema.openAPIV3Schema;
      return `${name} ${JSON.stringify({ ...rest, ...(items && { items: items.type }) })}`;
    });
    expect(rows).toMatchInlineSnapshot(`
      [
        "controlPlaneReplicas {"default":3,"format":"int32","minimum":1,"type":"integer"}",
        "gatewayName {"default":"","maxLength":253,"type":"string"}",
        "gatewayNamespace {"default":"default","maxLength":63,"minLength":1,"type":"string"}",
        "certSANs {"default":[],"type":"array","items":"string"}",
        "networkExternalID {"format":"uuid4","type":"string"}",
        "networkMTU {"format":"int32","minimum":68,"type":"integer"}",
        "nodeCIDR {"default":"10.8.0.0/20","format":"cidr","type":"string"}",
        "dnsNameservers {"default":["9.9.9.9","149.112.112.112"],"type":"array","items":"string"}",
        "disableAPIServerFloatingIP {"default":true,"type":"boolean"}",
        "apiServerLoadBalancer {"default":"none","enum":["none","octavia-amphora","octavia-ovn"],"type":"string"}",
        "apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs {"default":[],"type":"array","items":"string"}",
        "workerFlavor {"default":"SCS-4V-8","minLength":1,"type":"string"}",
        "workerRootDisk {"default":50,"format":"int32","minimum":0,"type":"integer"}",
        "workerServerGroupID {"default":"","type":"string"}",
        "workerAdditionalBlockDevices {"default":[],"type":"array","items":"object"}",
        "workerSecurityGroups {"default":[],"type":"array","items":"string"}",
        "workerSecurityGroupIDs {"default":[],"type":"array","items":"string"}",
        "imageName {"default":"ubuntu-capi-image","minLength":1,"type":"string"}",
        "imageIsOrc {"default":false,"type":"boolean"}",
        "imageAddVersion {"default":true,"type":"boolean"}",
        "identityRef {"default":{},"type":"object"}",
        "sshKeyName {"default":"","type":"string"}",
        "securityGroups {"default":[],"type":"array","items":"string"}",
        "securityGroupIDs {"default":[],"type":"array","items":"string"}",
      ]
    `);
  });

  const refused: [keyof OpenStackVariables, unknown][] = [
    ['controlPlaneReplicas', 0],
    ['networkExternalID', ''],
    ['networkExternalID', 'YOUR-EXTERNAL-NETWORK-ID'],
    ['networkMTU', 10],
    ['nodeCIDR', '10.8.0.0'],
    ['apiServerLoadBalancer', 'octavia'],
    ['workerRootDisk', -1],
    ['workerFlavor', ''],
    ['workerAdditionalBlockDevices', [{ sizeGiB: 3 }]],
    ['identityRef', { name: '' }],
  ];
  it.each(refused)('refuse %s: %j', (name, value) => {
    expect(schemaProblems(schemaOf(name), value)).not.toEqual([]);
    expect(OpenStackVariables.safeParse({ [name]: value }).success).toBe(false);
  });

  it('accept every value of the cases', () => {
    const problems = Object.entries(allTogether).flatMap(([name, value]) =>
      schemaProblems(schemaOf(name), value).map((problem) => `${name}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });
});
