import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { Endpoint } from '../../cluster/facts.ts';
import { policyApiVersion } from '../../cluster/in-cluster-access.ts';
import { apiServerVariables } from './variables.ts';

export interface PolicyProps {
  readonly endpoint: Endpoint;
  /** Kubernetes version of the hosted cluster: it decides the API version the policies are written in. */
  readonly version: string;
}

/**
 * Admission policies that tell every new container the endpoint, in the variables that clients take it from. They run
 * inside the API server: nothing to deploy, and nothing in the way of a request.
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
      // A mirror pod shows what a kubelet runs already; its kubelet would refuse one that differs.
      conditions: [
        {
          name: 'is-no-mirror-pod',
          expression:
            '!has(object.metadata.annotations) || !("kubernetes.io/config.mirror" in object.metadata.annotations)',
        },
      ],
      lists: ['containers', 'initContainers'],
    });
    // Debugging containers come later, by an update; the ones that are there already cannot change.
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
    // An expression that fails does so every time: with Fail no such pod could ever be made, although most need no API.
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

/** CEL. Plain maps: the types of a pod's parts exist in mutations only. */
function celList(endpoint: Endpoint): string {
  const entries = apiServerVariables(endpoint).map(
    ({ name, value }) => `{"name": ${JSON.stringify(name)}, "value": ${JSON.stringify(value)}}`,
  );
  return `[${entries.join(', ')}]`;
}

/**
 * CEL: one patch per container that does not name a host itself. Ours stand in front, so that a variable of the user may
 * refer to them as `$(KUBERNETES_SERVICE_HOST)`; the whole list is replaced because it may be missing. Only functions that
 * a 1.34 server accepts: it compiles new policies for the minor before its own.
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
