import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { Endpoint } from '../../cluster/facts.ts';
import { policyApiVersion } from '../../cluster/in-cluster-access.ts';
import { apiServerVariables, type Variable } from './variables.ts';

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
        jsonPatch: { expression: lists.map((list) => patches(list, endpoint, isNew)).join(' + ') },
      },
    ],
  };
}

/** CEL expression with plain maps, because the types of a pod's parts exist in mutations only. */
function celList(endpoint: Endpoint): string {
  return `[${apiServerVariables(endpoint).map(celMap).join(', ')}]`;
}

function celMap({ name, value }: Variable): string {
  return `{"name": ${JSON.stringify(name)}, "value": ${JSON.stringify(value)}}`;
}

/**
 * CEL: the patches of the containers in a list that do not set a host themselves. A container without variables gets all of
 * them at once. In another one each that it lacks is inserted at the front, the last one first, so that variables of the user
 * can refer to them as `$(KUBERNETES_SERVICE_HOST)`.
 *
 * A patch contains nothing of the pod: since 1.37 an API server cannot write parts of the pod as the value of a patch. The
 * expression uses only functions that a 1.34 server accepts, because an API server compiles new policies for the previous
 * minor.
 */
function patches(list: string, endpoint: Endpoint, isNew?: string): string {
  const containers = `(has(object.spec.${list}) ? object.spec.${list} : [])`;
  const path = `"/spec/${list}/" + string(i) + "/env`;
  const hasSome = '(has(c.env) && c.env.size() > 0)';
  const lacks = (name: string) => `!c.env.exists(e, e.name == ${JSON.stringify(name)})`;
  const each = (conditions: readonly string[], patch: string) =>
    `${containers}.transformList(i, c, ${[...(isNew ? [isNew] : []), ...conditions].join(' && ')}, ${patch})`;
  const variables = apiServerVariables(endpoint);
  const names = (name: string) => [...new Set(['KUBERNETES_SERVICE_HOST', name])];
  return [
    each([`!${hasSome}`], `JSONPatch{op: "add", path: ${path}", value: variables.env}`),
    ...variables
      .toReversed()
      .map((variable) =>
        each(
          [hasSome, ...names(variable.name).map(lacks)],
          `JSONPatch{op: "add", path: ${path}/0", value: ${celMap(variable)}}`,
        ),
      ),
  ].join(' + ');
}
