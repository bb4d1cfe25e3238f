import { ComponentTemplateSpec } from './component-template.ts';
import {
  clusterctlLabel,
  clusterctlMoveLabel,
  contractLabel,
  group,
  providerLabel,
  providerLabelValue,
  version,
} from './group.ts';
import { objectRules } from './hosted-control-plane-rules.ts';
import { HostedControlPlaneTemplateSpec } from './hosted-control-plane-template.ts';
import { HostedControlPlaneSpec } from './hosted-control-plane.ts';
import { HostedControlPlaneStatus, wideColumns } from './status.ts';
import { structural, type StructuralSchema } from './structural.ts';
import { celRule } from './validation-rule.ts';

/** The part of a CustomResourceDefinition that this provider uses: one version, served and stored. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced';
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly singular: string;
      readonly plural: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly versions: readonly [CustomResourceDefinitionVersion];
  };
}

interface CustomResourceDefinitionVersion {
  readonly name: string;
  readonly served: true;
  readonly storage: true;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources?: {
    readonly status: Readonly<Record<string, never>>;
    readonly scale: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath: string;
    };
  };
  readonly additionalPrinterColumns: readonly PrinterColumn[];
}

interface PrinterColumn {
  readonly name: string;
  readonly type: 'boolean' | 'date' | 'integer' | 'string';
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0 only `-o wide` shows it. */
  readonly priority?: number;
}

const age: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const conditionStatus = (type: string) => `.status.conditions[?(@.type=="${type}")].status`;

const columns: readonly PrinterColumn[] = [
  {
    name: 'Status',
    type: 'string',
    jsonPath: '.status.summary',
    description: 'State in words.',
  },
  { name: 'Version', type: 'string', jsonPath: '.spec.version', description: 'Desired Kubernetes version.' },
  { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', description: 'Desired number of API servers.' },
  {
    name: 'Ready',
    type: 'integer',
    jsonPath: '.status.readyReplicas',
    description: 'API servers that are ready.',
  },
  age,
  ...(
    [
      {
        name: 'Initialized',
        type: 'boolean',
        jsonPath: '.status.initialization.controlPlaneInitialized',
        description: 'Whether workers can join.',
      },
      {
        name: 'API Server Available',
        type: 'string',
        jsonPath: conditionStatus('Available'),
        description: 'Whether the API server answers.',
      },
      {
        name: 'Updated',
        type: 'integer',
        jsonPath: '.status.upToDateReplicas',
        description: 'API servers that match the spec.',
      },
      {
        name: 'ETCD Size',
        type: 'string',
        jsonPath: '.status.etcdVolumeSize',
        description: 'Size of each etcd volume.',
      },
      {
        name: 'Max ETCD Space Usage',
        type: 'string',
        jsonPath: '.status.etcdVolumeUsage',
        description: 'Used bytes of the fullest etcd volume.',
      },
      {
        name: 'Paused',
        type: 'string',
        jsonPath: conditionStatus('Paused'),
        description: 'Whether it is paused.',
      },
      {
        name: 'Endpoint',
        type: 'string',
        jsonPath: '.spec.controlPlaneEndpoint.host',
        description: 'Host of the API server.',
      },
      {
        name: 'Port',
        type: 'integer',
        jsonPath: '.spec.controlPlaneEndpoint.port',
        description: 'Port of the API server.',
      },
    ] as const
  ).map((column) => ({ ...column, priority: 1 })),
  ...Object.entries(HostedControlPlaneStatus.shape).flatMap(([field, schema]) => {
    const name = wideColumns.get(schema)?.name;
    const { type, description = '' } = structural(schema);
    if (name === undefined) return [];
    const column = { name, jsonPath: `.status.${field}`, description, priority: 1 };
    return [{ ...column, type: type === 'integer' ? ('integer' as const) : ('string' as const) }];
  }),
];

/** Fields of the schema of every kind. The API server adds the documentation of `metadata`. */
const objectFields: Readonly<Record<string, StructuralSchema>> = {
  apiVersion: { type: 'string', description: 'Version of the schema of this object.' },
  kind: { type: 'string', description: 'Kind of this object.' },
  metadata: { type: 'object' },
};

export const hostedControlPlaneCRD: CustomResourceDefinition = definition('HostedControlPlane', 'hcp', {
  schema: {
    openAPIV3Schema: {
      type: 'object',
      description: 'HostedControlPlane is a Kubernetes control plane that runs as pods of the management cluster.',
      required: ['spec'],
      properties: {
        ...objectFields,
        spec: { ...structural(HostedControlPlaneSpec), description: 'Desired state of the control plane.' },
        status: {
          ...structural(HostedControlPlaneStatus),
          // kstatus, by which Flux and others wait, takes an object without any status for one that is done.
          default: { observedGeneration: -1 },
          description: 'Observed state of the control plane. The operator writes it.',
        },
      },
      'x-kubernetes-validations': objectRules.map(celRule),
    },
  },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  additionalPrinterColumns: columns,
});

export const hostedControlPlaneTemplateCRD: CustomResourceDefinition = definition(
  'HostedControlPlaneTemplate',
  'hcpt',
  {
    schema: {
      openAPIV3Schema: {
        type: 'object',
        description:
          'HostedControlPlaneTemplate is the template from which a ClusterClass creates HostedControlPlanes.',
        required: ['spec'],
        properties: {
          ...objectFields,
          spec: { ...structural(HostedControlPlaneTemplateSpec), description: 'Desired state of the template.' },
        },
      },
    },
    additionalPrinterColumns: [age],
  },
);

/** clusterctl would leave its objects behind: no Cluster owns them, because several may share one. */
export const componentTemplateCRD: CustomResourceDefinition = definition(
  'HostedControlPlaneComponentTemplate',
  'hcpct',
  {
    schema: {
      openAPIV3Schema: {
        type: 'object',
        description:
          'HostedControlPlaneComponentTemplate has settings of pods that several HostedControlPlanes share, which name it in spec.componentTemplateRef.',
        required: ['spec'],
        properties: {
          ...objectFields,
          spec: {
            ...structural(ComponentTemplateSpec),
            description: 'Settings of the pods of control planes. It cannot change.',
          },
        },
      },
    },
    additionalPrinterColumns: [age],
  },
  { [clusterctlMoveLabel]: '' },
);

/** The kinds of this provider. */
export const definitions: readonly CustomResourceDefinition[] = [
  hostedControlPlaneCRD,
  hostedControlPlaneTemplateCRD,
  componentTemplateCRD,
];

function definition(
  kind: string,
  shortName: string,
  parts: Pick<CustomResourceDefinitionVersion, 'schema' | 'subresources' | 'additionalPrinterColumns'>,
  labels: Readonly<Record<string, string>> = {},
): CustomResourceDefinition {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      // Core computes this name from group and kind and never lists definitions.
      name: `${plural}.${group}`,
      labels: { [providerLabel]: providerLabelValue, [contractLabel]: version, [clusterctlLabel]: '', ...labels },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, singular, plural, shortNames: [shortName], categories: ['cluster-api'] },
      versions: [{ name: version, served: true, storage: true, ...parts }],
    },
  };
}
