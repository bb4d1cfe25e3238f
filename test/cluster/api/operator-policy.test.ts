import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterNameLabel, providerLabel } from '../../../constructs/api/group.ts';
import {
  ConfigMap,
  Deployment,
  Namespace,
  Pod,
  type Resource,
  resourceOf,
  Secret,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import { providerNamespace } from '../../../constructs/cluster/provider-names.ts';
import { ownerReference, type RenderedObject, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { messageOf } from '../../../reconciler/kube/error-message.ts';
import type { Connection } from '../../../reconciler/kube/config.ts';
import { type ApiServer, startApiServer } from '../../support/api-server.ts';
import { knownFacts } from '../../support/rendered-cluster.ts';
import { hostedCluster } from '../../support/scope.ts';
import { ShippedRights } from '../../support/shipped-rights.ts';
import { until } from '../../support/until.ts';

const namespace = 'team';
const owner = { name: 'c1', uid: '00000000-0000-4000-8000-000000000001' };
const written = { fieldManager: 'test', dryRun: true } as const;

let server: ApiServer;
let rights: ShippedRights;
let connection: Connection;
/** Acts as the operator. */
let operator: KubeClient;

beforeAll(async () => {
  server = await startApiServer();
  for (const name of [namespace, providerNamespace, 'other-provider']) {
    const labels: Record<string, string> = name === 'other-provider' ? { [providerLabel]: 'cluster-api' } : {};
    await create(Namespace, { metadata: { name, labels } });
    await create(ServiceAccount, { metadata: { name: 'default', namespace: name } });
  }
  await create(ServiceAccount, { metadata: { name: 'default', namespace: 'kube-system' } });
  const { client, kubeconfig } = server;
  rights = await ShippedRights.grant({ client, kubeconfig, namespace: providerNamespace });
  connection = await rights.connect();
  operator = new KubeClient(connection);
  // The API server knows a policy a moment after it has stored it.
  await until(
    'the policies to have an effect',
    async () => (await refusal(secret('any', 'kube-system'))) !== undefined,
  );
  await until('all of them', async () => (await refusal({ ...secret('any'), ...unowned('any') })) !== undefined);
}, 60_000);
afterAll(async () => {
  await connection?.close();
  await rights?.end();
  await server?.stop();
});

type Content = Record<string, unknown> & { metadata: { name: string; namespace?: string } & Record<string, unknown> };

function create({ apiVersion, kind }: Resource, content: Content) {
  return server.client.create({ apiVersion, kind, ...content }, { fieldManager: 'test' });
}

/** What the API server says of the creation of an object by the operator; undefined if it accepts it. */
async function refusal(object: RenderedObject): Promise<string | undefined> {
  try {
    await operator.create(object, written);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const unowned = (name: string, of = namespace) => ({ metadata: { name, namespace: of } });
const owned = (name: string, of = namespace) => ({
  metadata: { name, namespace: of, ownerReferences: [ownerReference(owner)] },
});
const secret = (name: string, of = namespace): RenderedObject => ({
  apiVersion: Secret.apiVersion,
  kind: Secret.kind,
  ...owned(name, of),
});

const rendered = renderControlPlane({ ...hostedCluster(), namespace }, { ...knownFacts, owner }).filter(
  ({ kind }) => !/Route|Cilium/.test(kind),
);
const deployment = rendered.find(({ kind }) => kind === Deployment.kind);

interface Template {
  readonly spec: {
    readonly template: {
      readonly spec: Readonly<Record<string, unknown>> & { containers: object[]; volumes: object[] };
    };
  };
}

/** The Deployment of the API servers with other fields of its pods. */
function running(changes: (spec: Template['spec']['template']['spec']) => object): RenderedObject {
  const { spec } = deployment as unknown as Template;
  const pod = { ...spec.template.spec, ...changes(spec.template.spec) };
  return { ...(deployment as RenderedObject), spec: { ...spec, template: { ...spec.template, spec: pod } } };
}

describe('the policies on the operator', () => {
  it('let it write everything that it renders', async () => {
    expect(rendered.length).toBeGreaterThan(15);
    const refused = await Promise.all(rendered.map(async (object) => [object.kind, await refusal(object)] as const));
    expect(refused.filter(([, words]) => words !== undefined)).toEqual([]);
  });

  it.each<[string, () => RenderedObject, string]>([
    [
      'a Secret without owner and label',
      () => ({ ...secret('x'), ...unowned('x') }),
      'that a HostedControlPlane controls',
    ],
    ['anything in kube-system', () => secret('x', 'kube-system'), 'in namespaces whose names begin with kube-'],
    ['anything in its own namespace', () => secret('x', providerNamespace), 'in its own namespace'],
    ['anything in the namespace of another provider', () => secret('x', 'other-provider'), 'of another provider'],
    [
      'the Secret from which Kubernetes makes a token of any ServiceAccount',
      () => ({
        ...secret('x'),
        type: 'kubernetes.io/service-account-token',
        metadata: { ...owned('x').metadata, annotations: { 'kubernetes.io/service-account.name': 'default' } },
      }),
      'from which Kubernetes makes a token',
    ],
    ['pods in the network of nodes', () => running(() => ({ hostNetwork: true })), 'are restricted and have no token'],
    [
      'pods with files of nodes',
      () => running(({ volumes }) => ({ volumes: [...volumes, { name: 'x', hostPath: { path: '/' } }] })),
      'are restricted and have no token',
    ],
    ['pods with a token', () => running(() => ({ automountServiceAccountToken: true })), 'have no token'],
    [
      'pods with a token in a volume',
      () =>
        running(({ volumes }) => ({
          volumes: [...volumes, { name: 'x', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
        })),
      'have no token',
    ],
    ['pods of a ServiceAccount', () => running(() => ({ serviceAccountName: 'admin' })), 'no ServiceAccount'],
    [
      'a container that may become root',
      () =>
        running(({ containers }) => ({
          containers: containers.map((one) => ({ ...one, securityContext: { allowPrivilegeEscalation: true } })),
        })),
      'no privilege escalation',
    ],
    [
      'a port of the node',
      () =>
        running(({ containers }) => ({
          containers: containers.map((one) => ({ ...one, ports: [{ containerPort: 1, hostPort: 1 }] })),
        })),
      'nothing of the host',
    ],
  ])('refuse it %s', async (_, object, words) => {
    expect(await refusal(object())).toContain(words);
  });

  it('refuse it changes and deletions of what is not of a control plane, also by its label', async () => {
    await create(Secret, { metadata: { name: 'users', namespace }, stringData: { key: 'value' } });
    await create(ConfigMap, { metadata: { name: 'users', namespace } });
    const labels = { [clusterNameLabel]: 'c1' };
    const name = { namespace, name: 'users' };
    for (const resource of [Secret, ConfigMap]) {
      const patch = { metadata: { labels } };
      await expect(operator.mergePatch(resource, name, patch, { fieldManager: 'test' })).rejects.toThrow('controls');
      await expect(operator.delete(resource, name)).rejects.toThrow('changes and deletes no others');
    }
  });

  it("let it adopt a user's CA by its label, and refuse another content at the same time", async () => {
    await create(Secret, { metadata: { name: 'c2-ca', namespace }, data: { 'tls.crt': 'YQ==' } });
    const name = { namespace, name: 'c2-ca' };
    const patch = { metadata: { labels: { [clusterNameLabel]: 'c2' } } };
    const fields = { fieldManager: 'test' };
    const other = { ...patch, data: { 'tls.crt': 'Yg==' } };
    await expect(operator.mergePatch(Secret, name, other, fields)).rejects.toThrow('controls');
    await operator.mergePatch(Secret, name, patch, fields);
    await operator.mergePatch(Secret, name, other, fields);
    await operator.delete(Secret, name);
  });

  it('let it go on with a Deployment that another client has given the network of the node', async () => {
    const shared = running(() => ({ hostNetwork: true }));
    await server.client.create(shared, { fieldManager: 'test' });
    const patch = { metadata: { annotations: { any: 'thing' } } };
    const name = { namespace, name: shared.metadata.name };
    const changed = await operator.mergePatch(resourceOf(shared), name, patch, { fieldManager: 'test' });
    expect(changed.metadata.annotations).toMatchObject({ any: 'thing' });
  });

  it('let it have its Lease', async () => {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...unowned('leader', providerNamespace) };
    expect(await refusal(lease)).toBeUndefined();
  });

  it('limit no one else', async () => {
    const pod = {
      ...unowned('any', 'kube-system'),
      spec: { hostNetwork: true, containers: [{ name: 'a', image: 'a' }] },
    };
    expect((await create(Pod, pod)).metadata.name).toBe('any');
  });
});
