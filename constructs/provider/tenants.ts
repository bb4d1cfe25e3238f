import { App, Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import type { Construct } from 'constructs';
import { Backup } from '../api/backup-spec.ts';
import { hostedControlPlaneCRD } from '../api/crd.ts';
import { kubeconfigSubresource } from '../api/kubeconfig-request.ts';
import {
  Cluster,
  ConfigMap,
  Event,
  groupOf,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  HostedControlPlaneTemplate,
  Machine,
  MachineDeployment,
  MachinePool,
  PersistentVolumeClaim,
  Pod,
  Secret,
  tlsRoutes,
} from '../api/resources.ts';
import { children, type StructuralSchema } from '../api/structural.ts';
import { type Access, rulesOf } from '../cluster/access-rules.ts';
import {
  admitsInCel,
  classAnnotation,
  defaultPlatformLists,
  passthroughKeys,
  type PlatformLists,
} from '../cluster/platform-lists.ts';
import { providerNames, providerNamespace } from '../cluster/provider-names.ts';
import type { RenderedObject } from '../control-plane/chart.ts';

const managed = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] as const;
const watched = ['get', 'list', 'watch'] as const;

/** Rights of a tenant in its namespace. The status is not among them, because it records which hosts are held. */
export const tenantAccess: readonly Access[] = [
  { resource: HostedControlPlane, verbs: managed, why: 'control planes' },
  {
    resource: HostedControlPlane,
    subresource: kubeconfigSubresource,
    verbs: ['create', 'impersonate'],
    why: 'kubeconfigs of its control planes for its people, by hcp kubeconfig',
  },
  { resource: HostedControlPlaneTemplate, verbs: managed, why: 'templates of control planes' },
  // Kubernetes has no quota for them, because the name of one would be too long: their number would have no limit.
  { resource: HostedControlPlaneComponentTemplate, verbs: watched, why: 'settings that the platform shares' },
  { resource: Cluster, verbs: managed, why: 'the Cluster that owns a control plane' },
  { resource: MachineDeployment, verbs: managed, why: 'workers' },
  ...[Machine, MachinePool].map((resource) => ({ resource, verbs: watched, why: 'the progress of workers' })),
  ...tlsRoutes.map((resource) => ({ resource, verbs: watched, why: 'what a Gateway says about its routes' })),
  { resource: Event, verbs: watched, why: 'the progress of a control plane' },
];

/** What a platform changes in the sample policy. */
const registry = 'registry.example.org';
const ingressDomain = 'clusters.example.org';
const mountPrefix = 'mount-';
const addedPrefix = 'tenants.example.org/';
/** What {@link PlatformLists} has for annotations, and classes by name. */
const lists: PlatformLists = {
  ...defaultPlatformLists,
  ingressAnnotations: [...passthroughKeys, ...defaultPlatformLists.ingressAnnotations],
  ingressClasses: ['haproxy', 'nginx'],
  loadBalancerClasses: ['service.k8s.aws/nlb'],
};
const tenantNamespace = 'a-tenants-namespace';

/**
 * How much of a tenant the operator, API servers and load balancers have to keep: for ten highly available control planes, each with
 * some 50 Secrets and 20 ConfigMaps, and pods of a rollout beside those that run.
 */
const counts: Readonly<Record<string, number>> = {
  [`count/${HostedControlPlane.plural}.${groupOf(HostedControlPlane)}`]: 10,
  [`count/${HostedControlPlaneTemplate.plural}.${groupOf(HostedControlPlaneTemplate)}`]: 50,
  [`count/${Cluster.plural}.${groupOf(Cluster)}`]: 10,
  [`count/${MachineDeployment.plural}.${groupOf(MachineDeployment)}`]: 100,
  [`count/${ConfigMap.plural}`]: 300,
  [`count/${Secret.plural}`]: 1_000,
  [`count/${PersistentVolumeClaim.plural}`]: 80,
  [Pod.plural]: 200,
  'services.loadbalancers': 10,
  'services.nodeports': 40,
};

/**
 * A role for tenants, a sample of a policy that limits what their control planes may run, mount and be called, and a sample of a quota
 * for each of their namespaces.
 */
class Tenants extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true }); // clusterctl must not delete it with the provider, so no label of the provider.
    const name = providerNames.tenantRole;
    new k8s.KubeClusterRole(this, 'role', { metadata: { name }, rules: rulesOf(tenantAccess) });
    new k8s.KubeValidatingAdmissionPolicy(this, 'policy', {
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [groupOf(HostedControlPlane)],
              apiVersions: ['*'],
              operations: ['CREATE', 'UPDATE'],
              // both have additions to pods at the same paths
              resources: [HostedControlPlane.plural, HostedControlPlaneComponentTemplate.plural],
            },
          ],
        },
        // An object that is older than the policy can still be labelled, reconciled and deleted.
        matchConditions: [
          { name: 'changed', expression: 'oldObject == null || oldObject.spec != object.spec' },
          { name: 'not-the-operator', expression: `request.userInfo.username != '${operatorUser}'` },
        ],
        variables: [
          { name: 'images', expression: `[${pathsWith('registry', 'repository').map(optionalPath).join(', ')}]` },
          { name: 'additions', expression: `[${additionPaths().map(optionalPath).join(', ')}]` },
          { name: 'mounts', expression: 'object.spec.?deployment.?apiServer.?mounts.orValue({})' },
          { name: 'ingress', expression: 'object.spec.?exposure.?ingress' },
          { name: 'routed', expression: 'object.spec.?exposure.?ingress.?annotations.orValue({})' },
          { name: 'routedBy', expression: "object.spec.?exposure.?ingress.?className.orValue('')" },
          { name: 'balanced', expression: 'object.spec.?exposure.?loadBalancer.?annotations.orValue({})' },
          { name: 'balancedBy', expression: "object.spec.?exposure.?loadBalancer.?loadBalancerClass.orValue('')" },
          { name: 'store', expression: 'object.spec.?etcd.?backup.?secret' },
        ],
        validations: validations(),
      },
    });
    new k8s.KubeValidatingAdmissionPolicyBinding(this, 'binding', {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    });
    new k8s.KubeResourceQuota(this, 'quota', {
      metadata: { name, namespace: tenantNamespace },
      spec: {
        hard: Object.fromEntries(Object.entries(counts).map(([what, most]) => [what, k8s.Quantity.fromNumber(most)])),
      },
    });
  }
}

/** Keys of the Secret of a backup store, by the fields that rename them. */
const storeKeys = Object.entries(Backup.shape.secret.parse({ name: 'any' })).filter(([field]) => field.endsWith('Key'));

function validations(): k8s.Validation[] {
  const belowNamespace = (host: string) => `${host}.endsWith('.' + request.namespace + '.${ingressDomain}')`;
  const given = 'variables.ingress.value()';
  return [
    {
      expression: `variables.images.all(image, has(image.registry) ? image.registry == '${registry}' : !has(image.repository))`,
      message: `images come from ${registry}: set the registry to ${registry}, or remove registry and repository`,
    },
    {
      expression: `!has(object.spec.imageRegistry) || object.spec.imageRegistry == '${registry}'`,
      message: `images come from ${registry}: set imageRegistry to ${registry}, or remove it`,
    },
    {
      expression: `variables.mounts.all(name, !has(variables.mounts[name].secret) || variables.mounts[name].secret.secretName.startsWith('${mountPrefix}'))`,
      message: `the name of a Secret that a control plane mounts begins with ${mountPrefix}: copy what it needs to such a Secret`,
    },
    {
      expression: `!variables.store.hasValue() || (${storeKeys.map(([field, key]) => `variables.store.value().?${field}.orValue('${key}') == '${key}'`).join(' && ')})`,
      message:
        'the keys of the Secret of a backup store have their default names: remove the names of keys from etcd.backup.secret',
    },
    {
      expression: `variables.additions.all(one, !has(one.priorityClassName) || !one.priorityClassName.startsWith('system-'))`,
      message: 'PriorityClasses whose names begin with system- belong to the platform: choose another one',
    },
    {
      expression: `variables.additions.all(one, (!has(one.labels) || one.labels.all(key, key.startsWith('${addedPrefix}'))) && (!has(one.annotations) || one.annotations.all(key, key.startsWith('${addedPrefix}'))))`,
      message: `the keys of labels and annotations that are added to pods begin with ${addedPrefix}: rename them`,
    },
    {
      expression: `!variables.ingress.hasValue() || (${belowNamespace(`${given}.apiHost`)} && ${belowNamespace(`${given}.konnectivityHost`)} && (!has(${given}.tunnelHost) || ${belowNamespace(`${given}.tunnelHost`)}))`,
      message: `the host names of an Ingress end with the namespace and ${ingressDomain}: choose names such as api.<cluster>.<namespace>.${ingressDomain}`,
    },
    {
      expression: `variables.routed.all(key, key == '${classAnnotation}' ? ${admitsInCel(lists.ingressClasses, 'variables.routed[key]')} : ${admitsInCel(lists.ingressAnnotations, 'key')})`,
      message: 'an annotation of the Ingress is not among those that the platform allows: remove it, or ask for it',
    },
    {
      expression: `variables.balanced.all(key, ${admitsInCel(lists.loadBalancerAnnotations, 'key')})`,
      message:
        'an annotation of the load balancer is not among those that the platform allows: remove it, or ask for it',
    },
    {
      expression: `variables.routedBy == '' || ${admitsInCel(lists.ingressClasses, 'variables.routedBy')}`,
      message: `the class of an Ingress is one of ${lists.ingressClasses.join(', ')}: choose one of them`,
    },
    {
      expression: `variables.balancedBy == '' || ${admitsInCel(lists.loadBalancerClasses, 'variables.balancedBy')}`,
      message: `the class of a load balancer is one of ${lists.loadBalancerClasses.join(', ')}: choose one of them, or remove it`,
    },
  ];
}

const operatorUser = `system:serviceaccount:${providerNamespace}:${providerNames.serviceAccount}`;

/** Paths of all objects in the spec with these fields, from the schema, so that a new one is restricted too. */
function pathsWith(...fields: readonly string[]): string[][] {
  const [{ schema }] = hostedControlPlaneCRD.spec.versions;
  const spec = schema.openAPIV3Schema.properties?.['spec'];
  return spec ? pathsBelow(spec, fields, ['object', 'spec']) : [];
}

function pathsBelow(schema: StructuralSchema, fields: readonly string[], path: readonly string[]): string[][] {
  if (fields.every((field) => schema.properties?.[field])) return [[...path]];
  return children(schema).flatMap(([name, child]) => pathsBelow(child, fields, [...path, name]));
}

/** Additions to pods of the management cluster. In the hosted cluster a tenant may do anyway what they do. */
function additionPaths(): string[][] {
  return pathsWith('priorityClassName', 'labels').filter(([, , field]) => field === 'deployment' || field === 'etcd');
}

/** An element of a list that is there only if every part of the path is. */
function optionalPath([root = '', ...fields]: readonly string[]): string {
  return `?${root}${fields.map((field) => `.?${field}`).join('')}`;
}

/** Renders what a platform gives to its tenants. */
export function renderTenants(): RenderedObject[] {
  return new Tenants(new App(), 'tenants').toJson() as RenderedObject[];
}
