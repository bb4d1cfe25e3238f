interface VariableRow {
  readonly meaning: string;
  /** The value if a user leaves the variable unset. By default the user must set it. */
  readonly byDefault?: string;
}

/**
 * The variables of the cluster templates, which `clusterctl generate` replaces. `clusterctl generate cluster` sets the first five
 * itself, from its arguments and flags; `clusterctl generate yaml` does not.
 */
export const templateVariables = {
  CLUSTER_NAME: { meaning: 'name of the cluster' },
  NAMESPACE: { meaning: 'its namespace' },
  KUBERNETES_VERSION: { meaning: 'version of Kubernetes, such as v1.37.1' },
  CONTROL_PLANE_MACHINE_COUNT: { meaning: 'number of API servers' },
  WORKER_MACHINE_COUNT: { meaning: 'number of workers' },
  INFRASTRUCTURE: {
    meaning: 'what the kinds of the infrastructure provider begin with, such as OpenStack in OpenStackCluster',
  },
  INFRASTRUCTURE_GROUP: { meaning: 'their API group', byDefault: 'infrastructure.cluster.x-k8s.io' },
  INFRASTRUCTURE_VERSION: { meaning: 'their version in that group, for the ClusterClass only', byDefault: 'v1beta1' },
  POD_CIDR: { meaning: 'network of pods', byDefault: '10.244.0.0/16' },
  SERVICE_CIDR: { meaning: 'network of Services', byDefault: '10.96.0.0/16' },
  GATEWAY_NAME: { meaning: 'Gateway whose listeners pass TLS through' },
  GATEWAY_NAMESPACE: { meaning: 'its namespace', byDefault: 'default' },
} as const satisfies Readonly<Record<string, VariableRow>>;

type TemplateVariable = keyof typeof templateVariables;

/** The text that clusterctl replaces by the value of the variable. */
export function variable(name: TemplateVariable): string {
  const { byDefault }: VariableRow = templateVariables[name];
  return byDefault === undefined ? `\${${name}}` : `\${${name}:=${byDefault}}`;
}

/** The same where the schema has a number: the text stands without quotes, so that its value is one. */
export function numericVariable(name: TemplateVariable): number {
  return variable(name) as unknown as number;
}
