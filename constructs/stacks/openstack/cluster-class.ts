import { ApiObject, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { KubeadmConfigTemplate } from '../../../imports/bootstrap.cluster.x-k8s.io.ts';
import {
  ClusterClass,
  type ClusterClassSpecPatches,
  type ClusterClassSpecPatchesDefinitionsSelectorMatchResources,
} from '../../../imports/cluster.x-k8s.io.ts';
import { HostedControlPlaneTemplate } from '../../api/resources.ts';
import { structural } from '../../api/structural.ts';
import type { CapoVersion, ClassPatch, PatchOperation, PatchTarget } from './class-patch.ts';
import { infrastructureTemplates } from './infrastructure.ts';
import { classPatches, variableRows } from './variables.ts';

/** The one class of workers. */
export const workerClass = 'default-worker';

export interface OpenStackClusterClassProps {
  /** Name of the ClusterClass, with which the names of its templates begin. */
  readonly name: string;
  /** Version of CAPO's API. */
  readonly capo: CapoVersion;
}

/** A ClusterClass with hosted control planes and workers in OpenStack, and the templates to which it refers. */
export class OpenStackClusterClass extends Chart {
  constructor(scope: Construct, id: string, { name, capo }: OpenStackClusterClassProps) {
    super(scope, id, { disableResourceNameHashes: true });
    const refs = templateRefs(name, capo);
    new ClusterClass(this, 'cluster-class', {
      metadata: { name },
      spec: {
        controlPlane: { templateRef: refs.controlPlane },
        infrastructure: { templateRef: refs.infrastructureCluster },
        workers: {
          machineDeployments: [
            {
              class: workerClass,
              bootstrap: { templateRef: refs.bootstrap },
              infrastructure: { templateRef: refs.worker },
            },
          ],
        },
        variables: Object.entries(variableRows).map(([variable, { schema }]) => ({
          name: variable,
          required: false,
          schema: { openApiv3Schema: structural(schema) },
        })),
        patches: classPatches.map((patch) => patchOf(patch, refs[patch.target], capo)),
      },
    });
    // No exposure strategy: the patches add one, and only one.
    new ApiObject(this, 'hosted-control-plane-template', {
      ...identityOf(refs.controlPlane),
      spec: { template: { spec: { apiServer: {} } } },
    });
    infrastructureTemplates[capo].cluster(this, 'openstack-cluster-template', refs.infrastructureCluster);
    infrastructureTemplates[capo].machine(this, 'openstack-machine-template-default-worker', refs.worker);
    new KubeadmConfigTemplate(this, 'kubeadm-config-template-default-worker', {
      metadata: { name: refs.bootstrap.name },
      // cloud-init fills in the braces, from the metadata of the machine.
      spec: {
        template: {
          spec: {
            joinConfiguration: {
              nodeRegistration: {
                name: '{{ local_hostname }}',
                kubeletExtraArgs: [
                  { name: 'cloud-provider', value: 'external' },
                  { name: 'provider-id', value: 'openstack:///{{ instance_id }}' },
                ],
              },
            },
          },
        },
      },
    });
  }
}

interface TemplateRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

function templateRefs(name: string, capo: CapoVersion): Readonly<Record<PatchTarget | 'bootstrap', TemplateRef>> {
  const infrastructure = `infrastructure.cluster.x-k8s.io/${capo}`;
  const { apiVersion, kind } = HostedControlPlaneTemplate;
  return {
    controlPlane: { apiVersion, kind, name: `${name}-control-plane` },
    infrastructureCluster: {
      apiVersion: infrastructure,
      kind: 'OpenStackClusterTemplate',
      name: `${name}-cluster`,
    },
    worker: { apiVersion: infrastructure, kind: 'OpenStackMachineTemplate', name: `${name}-${workerClass}` },
    bootstrap: { ...KubeadmConfigTemplate.GVK, name: `${name}-${workerClass}` },
  };
}

function identityOf({ apiVersion, kind, name }: TemplateRef) {
  return { apiVersion, kind, metadata: { name } };
}

function patchOf(
  { name, target, enabledIf, operations }: ClassPatch,
  { apiVersion, kind }: TemplateRef,
  capo: CapoVersion,
): ClusterClassSpecPatches {
  const selector = { apiVersion, kind, matchResources: matchResources[target] };
  const definition = { selector, jsonPatches: operations[capo].map(jsonPatch) };
  return { name, ...(enabledIf !== undefined && { enabledIf }), definitions: [definition] };
}

const matchResources: Readonly<Record<PatchTarget, ClusterClassSpecPatchesDefinitionsSelectorMatchResources>> = {
  controlPlane: { controlPlane: true },
  infrastructureCluster: { infrastructureCluster: true },
  worker: { machineDeploymentClass: { names: [workerClass] } },
};

function jsonPatch({ op, path, ...from }: PatchOperation) {
  const full = { op, path: `/spec/template/spec${path}` };
  return 'value' in from ? { ...full, value: from.value } : { ...full, valueFrom: from };
}
