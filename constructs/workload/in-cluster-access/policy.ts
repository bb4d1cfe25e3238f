import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { Endpoint } from '../../cluster/facts.ts';
import { policyApiVersion } from '../../cluster/in-cluster-access.ts';
import { apiServerVariables } from './variables.ts';

export interface PolicyProps {
  readonly endpoint: Endpoint;
  /** Kubernetes version of the hosted cluster, which determines the API version of the policies. */
  readonly version: string;
}

/**
 * Admission policies that set the endpoint in the environment variables of every new container, where clients read it.
 * They run inside the API server: they need no deployment, and add no hop to requests.
 */
export class Policy extends Construct {
  constructor(scope: Construct, id: string, { endpoint, version }: PolicyProps) {
    super(scope, id);
    const add = (name: string, rule: PolicyRule) => {
      const apiVersion = `admissionregistration.k8s.io/${policyApiVersion(version)}`;
      new ApiObject(this, name, {
        apiVersion,
        kind: 'MutatingAdmissionPolicy',
        metadata: { name },
        spec: policySpec(endpoint, rule),
      });
      new ApiObject(this, `${name}-binding`, {
        apiVersion,
        kind: 'MutatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: name },
      });
    };

    add('hosted-control-plane-api-server', {
      operation: 'CREATE',
      resource: 'pods',
      // A mirror pod reflects a pod that a kubelet already runs. The kubelet would reject a changed one.
      conditions: [
        {
          name: 'is-no-mirror-pod',
          expression:
            '!has(object.metadata.annotations) || !("kubernetes.io/config.mirror" in object.metadata.annotations)',
        },
      ],
      lists: ['containers', 'initContainers'],
    });
    // Ephemeral containers are added later, by an update; existing ones cannot change.
    add('hosted-control-plane-api-server-ephemeral', {
      operation: 'UPDATE',
      resource: 'pods/ephemeralcontainers',
      lists: ['ephemeralContainers'],
      isNew:
        '(!has(oldObject.spec.ephemeralContainers) || !oldObject.spec.ephemeralContainers.exists(o, o.name == c.name))',
    });
  }
}

interface PolicyRule {
  readonly operation: 'CREATE' | 'UPDATE';
  readonly resource: string;
  readonly conditions?: readonly { readonly name: string; readonly expression: string }[];
  /** Lists of containers in a pod's spec. */
  readonly lists: readonly string[];
  /** CEL: whether container `c` may be changed. @default always */
  readonly isNew?: string;
}

function policySpec(endpoint: Endpoint, { operation, resource, conditions, lists, isNew }: PolicyRule): object {
  return {
    // A failing expression fails every time. With Fail, such pods could never be created, although most need no API
    // access.
    failurePolicy: 'Ignore',
    // Containers that a webhook adds later get the variables too.
    reinvocationPolicy: 'IfNeeded',
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: [operation], resources: [resource] }],
    },
    ...(conditions ? { matchConditions: conditions } : {}),
    variables: [{ name: 'env', expression: celList(endpoint) }],
    mutations: [
      {
        patchType: 'JSONPatch',
        jsonPatch: { expression: lists.map((list) => patches(list, isNew)).join(' + ') },
      },
    ],
  };
}

/** CEL expression with plain maps, because the types of a pod's parts exist in mutations only. */
function celList(endpoint: Endpoint): string {
  const entries = apiServerVariables(endpoint).map(
    ({ name, value }) => `{"name": ${JSON.stringify(name)}, "value": ${JSON.stringify(value)}}`,
  );
  return `[${entries.join(', ')}]`;
}

/**
 * CEL: one patch per container that does not set a host itself. The operator's variables come first, so that variables
 * of the user can refer to them as `$(KUBERNETES_SERVICE_HOST)`. The patch replaces the whole list because it may be
 * missing. It uses only functions that a 1.34 server accepts, because an API server compiles new policies for the
 * previous minor.
 */
function patches(list: string, isNew?: string): string {
  const has = (name: string) => `c.env.exists(e, e.name == ${name})`;
  const applies = [...(isNew ? [isNew] : []), `(!has(c.env) || !${has('"KUBERNETES_SERVICE_HOST"')})`].join(' && ');
  const missing = `variables.env.filter(v, !has(c.env) || !${has('v.name')})`;
  return [
    `(has(object.spec.${list}) ? object.spec.${list} : []).transformList(i, c, ${applies}, `,
    `JSONPatch{op: "add", path: "/spec/${list}/" + string(i) + "/env", value: ${missing} + (has(c.env) ? c.env : [])})`,
  ].join('');
}
