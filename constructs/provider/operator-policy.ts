import { App, Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { clusterNameLabel, providerLabel } from '../api/group.ts';
import {
  CertificateRequest,
  Deployment,
  groupOf,
  HostedControlPlane,
  Lease,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  Secret,
  StatefulSet,
} from '../api/resources.ts';
import { type Access, rulesOf, type Verb } from '../cluster/access-rules.ts';
import { namesOf } from '../cluster/names.ts';
import type { RenderedObject } from '../control-plane/chart.ts';
import { policyOf } from '../cluster/provider-names.ts';
import { controlPlaneAccess, renderedResources } from './access.ts';

export interface OperatorPolicyProps {
  /** Namespace of the operator. */
  readonly namespace: string;
  /** The only namespace of control planes. @default all */
  readonly watchNamespace?: string | undefined;
  /** Name of its ServiceAccount. In which namespace it is does not matter, because clusterctl may install it in another one. */
  readonly serviceAccount: string;
}

/**
 * Limits what the ServiceAccount of the operator may write, beyond its roles: objects of control planes only, pods only with the
 * settings of all workloads, nothing in namespaces of the system. It changes nothing for an operator that does its work; it is for
 * an attacker who has taken the operator's place.
 */
export class OperatorPolicy extends Construct {
  constructor(scope: Construct, id: string, { namespace, watchNamespace, serviceAccount }: OperatorPolicyProps) {
    super(scope, id);
    const isOperator = {
      name: 'is-the-operator',
      expression: `request.userInfo.username.startsWith('system:serviceaccount:') && request.userInfo.username.endsWith(':${serviceAccount}')`,
    };
    this.deny(policyOf('operator-places', watchNamespace), {
      matchConstraints: { resourceRules: written(controlPlaneAccess()) },
      matchConditions: [
        isOperator,
        { name: 'is-no-lease', expression: `request.resource.resource != '${Lease.plural}'` },
      ],
      validations: [{ expression: notOfTheSystem(namespace, watchNamespace), message: systemMessage }],
    });
    this.deny(policyOf('operator-objects', watchNamespace), {
      matchConstraints: {
        resourceRules: written(controlPlaneAccess().filter(({ resource }) => owned().includes(resource))),
      },
      matchConditions: [isOperator],
      variables: [
        { name: 'isRemoval', expression: `request.operation == 'DELETE'` },
        { name: 'runs', expression: isOneOf([Pod, Deployment, StatefulSet]) },
        { name: 'isSecret', expression: isOneOf([Secret]) },
      ],
      validations: [
        { expression: `variables.isRemoval || ${isOfControlPlane('object')}`, message: ownMessage },
        {
          expression: `request.operation == 'CREATE' || ${isOfControlPlane('oldObject')} || (variables.isSecret && !variables.isRemoval && ${isAdopted})`,
          message: ownMessage,
        },
        {
          expression: `variables.isRemoval || !variables.runs || (${isRestricted('object')}) || (request.operation == 'UPDATE' && !(${isRestricted('oldObject')}))`,
          message: podMessage,
        },
        {
          expression: `variables.isRemoval || !variables.isSecret || !(object.?type.orValue('') in [${tokenTypes.map(quoted).join(', ')}])`,
          message: `the operator writes no Secret of type ${tokenTypes.join(' or ')}, from which Kubernetes makes a token`,
        },
      ],
    });
  }

  private deny(name: string, spec: Omit<k8s.ValidatingAdmissionPolicySpec, 'failurePolicy'>): void {
    new k8s.KubeValidatingAdmissionPolicy(this, name, { metadata: { name }, spec: { failurePolicy: 'Fail', ...spec } });
    new k8s.KubeValidatingAdmissionPolicyBinding(this, `${name}-binding`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    });
  }
}

const systemMessage =
  'the operator writes nothing but Leases in its own namespace, in the namespace of another provider, and in namespaces whose names begin with kube-';
const ownMessage = `the operator writes only objects that a HostedControlPlane controls or that have the label ${clusterNameLabel}, and changes and deletes no others`;
const podMessage =
  'pods of the operator are restricted and have no token: runAsNonRoot, a seccomp profile, all capabilities dropped, no privilege escalation, nothing of the host, no ServiceAccount';

/** Kinds of which the operator writes only objects of control planes. */
function owned(): readonly Resource[] {
  return [...renderedResources(), Secret, Pod, PersistentVolumeClaim, CertificateRequest];
}

const operations: Partial<Record<Verb, 'CREATE' | 'UPDATE' | 'DELETE'>> = {
  create: 'CREATE',
  update: 'UPDATE',
  patch: 'UPDATE',
  delete: 'DELETE',
};

/** Everything that these permissions let an operator write. */
function written(access: readonly Access[]): k8s.NamedRuleWithOperations[] {
  return rulesOf(access).flatMap(({ apiGroups, resources, verbs }) => {
    const done = [...new Set(verbs.flatMap((verb) => operations[verb] ?? []))];
    return done.length === 0 ? [] : [{ apiGroups, apiVersions: ['*'], operations: done, resources }];
  });
}

function quoted(text: string): string {
  return `'${text}'`;
}

function isOneOf(resources: readonly Resource[]): string {
  const pairs = resources.map((resource) => quoted(`${groupOf(resource)}/${resource.plural}`));
  return `request.resource.group + '/' + request.resource.resource in [${pairs.join(', ')}]`;
}

/** Kubernetes issues a token of any ServiceAccount for the first type, and accepts what the second one has as a token. */
const tokenTypes = ['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token'];

/** The namespace of the operator has the label of a provider, unless Helm has created it. It may be that of the control planes. */
function notOfTheSystem(namespace: string, watchNamespace: string | undefined): string {
  const isProviders = `namespaceObject != null && namespaceObject.metadata.?labels[?'${providerLabel}'].hasValue()`;
  const isOwn = namespace === watchNamespace ? [] : [`request.namespace == '${namespace}'`];
  return `!(${[...isOwn, "request.namespace.startsWith('kube-')", `(${isProviders})`].join(' || ')})`;
}

/** Of volumes that outlive their control plane, and of what a last backup needs, only the label says whose they are. */
function isOfControlPlane(object: 'object' | 'oldObject'): string {
  const owner = `one.?controller.orValue(false) && one.kind == '${HostedControlPlane.kind}' && one.apiVersion.startsWith('${groupOf(HostedControlPlane)}/')`;
  return `(${object}.metadata.?labels[?'${clusterNameLabel}'].hasValue() || ${object}.metadata.?ownerReferences.orValue([]).exists(one, ${owner}))`;
}

/** A Secret that a user has made in the place of one of the operator's gets the label, and keeps its content. */
const isAdopted = `object.?data == oldObject.?data && [${Object.values(namesOf('').secrets)
  .map(quoted)
  .join(', ')}].exists(one, object.metadata.name == object.metadata.labels['${clusterNameLabel}'] + one)`;

function isRestricted(object: 'object' | 'oldObject'): string {
  const pod = `(${isOneOf([Pod])} ? ${object}.spec : ${object}.spec.template.spec)`;
  const set = `${pod}.?securityContext`;
  const containers = `(${pod}.containers + ${pod}.?initContainers.orValue([]))`;
  const eachHas = (field: string, value: string) =>
    `(${set}.?${field} == optional.of(${value}) || ${containers}.all(one, one.?securityContext.?${field} == optional.of(${value})))`;
  return [
    ...['hostNetwork', 'hostPID', 'hostIPC'].map((field) => `!${pod}.?${field}.orValue(false)`),
    `${pod}.?automountServiceAccountToken == optional.of(false)`,
    `${pod}.?serviceAccountName.orValue('default') in ['', 'default']`,
    `${pod}.?volumes.orValue([]).all(one, !has(one.hostPath) && (!has(one.projected) || !has(one.projected.sources) || one.projected.sources.all(source, !has(source.serviceAccountToken))))`,
    eachHas('runAsNonRoot', 'true'),
    eachHas('seccompProfile.?type', "'RuntimeDefault'"),
    `${containers}.all(one, !one.?securityContext.?privileged.orValue(false) && one.?securityContext.?allowPrivilegeEscalation == optional.of(false) && 'ALL' in one.?securityContext.?capabilities.?drop.orValue([]) && one.?securityContext.?capabilities.?add.orValue([]).all(added, added == 'NET_BIND_SERVICE') && one.?ports.orValue([]).all(port, !has(port.hostPort)))`,
  ].join(' && ');
}

/** Renders the policies alone. */
export function renderOperatorPolicy(props: OperatorPolicyProps): RenderedObject[] {
  const chart = new Chart(new App(), 'operator-policy', { disableResourceNameHashes: true });
  new OperatorPolicy(chart, 'policy', props);
  return chart.toJson() as RenderedObject[];
}
