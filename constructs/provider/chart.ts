import { ApiObject, App, Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import type { Construct } from 'constructs';
import { definitions } from '../api/crd.ts';
import { deletionProtectionAnnotation } from '../api/group.ts';
import { Cluster, groupOf, HostedControlPlane, Namespace } from '../api/resources.ts';
import type { RenderedObject } from '../control-plane/chart.ts';
import { managerImage } from './image.ts';
import { Manager, type ManagerSettings, healthPort } from './operator.ts';
import {
  providerLabels,
  providerNames,
  providerNamespace,
  managerSelector,
  metricsPort,
  policyOf,
} from '../cluster/provider-names.ts';
import { OperatorPolicy } from './operator-policy.ts';
import { Rbac } from './rbac.ts';

export interface ProviderChartProps {
  /** Namespace of the operator. @default capi-hosted-control-plane-system */
  readonly namespace?: string;
  /**
   * The only namespace whose control planes the operator reconciles. It must exist, and the operator has a Role there
   * instead of a ClusterRole. @default all
   */
  readonly watchNamespace?: string;
  /** Image of the operator. @default the image of this release */
  readonly image?: string;
  /** Number, placement and settings of the operator's pods. @default those of the release */
  readonly manager?: ManagerSettings;
  /** Whether a NetworkPolicy admits connections to the operator only at its ports of health and metrics. @default false */
  readonly networkPolicy?: boolean;
}

/** The installation of the provider: definitions of its kinds, permissions and their limits, and the operator. */
export class ProviderChart extends Chart {
  constructor(scope: Construct, id: string, props: ProviderChartProps = {}) {
    // No namespace here, because cdk8s would add it to cluster-scoped objects too.
    super(scope, id, { disableResourceNameHashes: true, labels: { ...providerLabels } });
    const { namespace = providerNamespace, image = managerImage, watchNamespace, manager, networkPolicy } = props;
    new k8s.KubeNamespace(this, 'namespace', {
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
    for (const definition of definitions) {
      new ApiObject(this, definition.spec.names.singular, definition);
    }
    new Rbac(this, 'rbac', { namespace, watchNamespace });
    new OperatorPolicy(this, 'policy', { namespace, watchNamespace, serviceAccount: providerNames.serviceAccount });
    refuseDeletions(this, watchNamespace);
    new Manager(this, 'manager', { namespace, image, watchNamespace, settings: manager });
    if (networkPolicy) new ManagerNetworkPolicy(this, 'network-policy', namespace);
  }
}

/** Renders the installation, which `kubectl apply --server-side -f` and clusterctl install. */
export function renderProvider(props: ProviderChartProps = {}): RenderedObject[] {
  return new ProviderChart(new App(), 'provider', props).toJson() as RenderedObject[];
}

/** A deletion removes all data at once. Objects with the annotation are kept from it, also from that of their Cluster or Namespace. */
function refuseDeletions(chart: Chart, watchNamespace: string | undefined): void {
  const name = policyOf('deletion', watchNamespace);
  new k8s.KubeValidatingAdmissionPolicy(chart, name, {
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        ...(watchNamespace !== undefined && {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': watchNamespace } },
        }),
        resourceRules: [HostedControlPlane, Cluster, Namespace].map((resource) => ({
          apiGroups: [groupOf(resource)],
          apiVersions: ['*'],
          operations: ['DELETE'],
          resources: [resource.plural],
        })),
      },
      validations: [
        {
          expression: `oldObject.metadata.?annotations[?'${deletionProtectionAnnotation}'].orValue('false') == 'false'`,
          messageExpression: `request.kind.kind + ' ' + oldObject.metadata.name + ' is protected from deletion, which removes all data of its control planes: to delete it, first run kubectl annotate ' + request.resource.resource + ' ' + oldObject.metadata.name + (request.kind.kind == '${Namespace.kind}' ? '' : ' -n ' + request.namespace) + ' ${deletionProtectionAnnotation}-'`,
          reason: 'Forbidden',
        },
      ],
    },
  });
  new k8s.KubeValidatingAdmissionPolicyBinding(chart, `${name}-binding`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
}

/**
 * Lets connections to the operator reach only its health and its metrics. It connects to whatever control planes need: API servers,
 * etcd and backup stores have any address and port.
 */
class ManagerNetworkPolicy extends k8s.KubeNetworkPolicy {
  constructor(scope: Construct, id: string, namespace: string) {
    const ports = [healthPort, metricsPort].map((port) => ({
      protocol: 'TCP',
      port: k8s.IntOrString.fromNumber(port),
    }));
    super(scope, id, {
      metadata: { name: providerNames.manager, namespace },
      spec: {
        podSelector: { matchLabels: { ...managerSelector } },
        policyTypes: ['Ingress'],
        ingress: [{ ports }],
      },
    });
  }
}
