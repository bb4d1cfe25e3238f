import { expect } from 'vitest';
import {
  CertificateSigningRequest,
  ConfigMap,
  Deployment,
  HostedControlPlane,
  Namespace,
  Node,
  type Resource,
  SelfSubjectAccessReview,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import { isForbidden } from '../../../reconciler/kube/errors.ts';
import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';
import { clientCertificateRequest } from '../client-certificate-request.ts';
import type { PolicyRule } from '../memory-cluster/authorizer.ts';
import { until } from '../until.ts';
import { caseUser, granted } from './granted-rights.ts';
import {
  type AnyObject,
  configMap,
  deployment,
  failure,
  type KubeCase,
  type KubeCaseContext,
  us,
} from './kube-case.ts';

const configMaps = { apiGroups: [''], resources: ['configmaps'] };
const controlPlanes = { apiGroups: ['controlplane.cluster.x-k8s.io'], resources: ['hostedcontrolplanes'] };
const requests = { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] };
const requestParts = (part: string) => ({ ...requests, resources: [`certificatesigningrequests/${part}`] });

/** A user with these rights in the namespace of the case and no others. */
async function userWith(context: KubeCaseContext, ...rules: readonly PolicyRule[]): Promise<KubernetesApi> {
  await granted(context, { rules, where: 'namespace' });
  return context.as(userOf(context));
}

const userOf = ({ namespace }: KubeCaseContext): string => caseUser(namespace);

/** What the API server says to a request that it refuses. */
async function refusal(call: Promise<unknown>): Promise<string> {
  const error = await failure(call);
  expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });
  return error.message.slice(error.message.indexOf(': ') + 2);
}

/** The first event of a watch that begins with the existing objects. */
const firstEvent = (client: KubernetesApi, resource: Resource, options: object) =>
  client.watch(resource, { ...options, timeoutSeconds: 5 }).next();

/** What a user may do. */
export const rightsCases: readonly KubeCase[] = [
  {
    name: 'refuses everything to a user without rights, and names user, verb, resource, group and place',
    async run(context) {
      const { namespace, as } = context;
      const client = await as('jane');
      const one = { namespace, name: 'one' };
      const inOurs = `in the namespace "${namespace}"`;
      const said = {
        get: await refusal(client.get(ConfigMap, one)),
        list: await refusal(client.list(ConfigMap, { namespace })),
        'list everywhere': await refusal(client.list(ConfigMap)),
        'the version of a list': await refusal(client.currentVersion(ConfigMap, { namespace })),
        watch: await refusal(firstEvent(client, ConfigMap, { namespace })),
        create: await refusal(client.create(configMap(context, {}), us)),
        patch: await refusal(client.mergePatch(ConfigMap, one, {}, us)),
        apply: await refusal(client.apply(deployment(context), us)),
        delete: await refusal(client.delete(ConfigMap, one)),
        'a group': await refusal(client.get(Deployment, one)),
        'a subresource': await refusal(
          client.mergePatch(HostedControlPlane, one, { status: {} }, { ...us, subresource: 'status' }),
        ),
        'a token': await refusal(client.serviceAccountToken(one)),
        'an object of the cluster': await refusal(client.list(Node)),
        'a namespace': await refusal(client.get(Namespace, { name: namespace })),
        'namespaces by name': await refusal(client.list(Namespace, { fieldSelector: `metadata.name=${namespace}` })),
        'a path': await refusal(client.raw('/metrics')),
      };
      expect(said).toEqual({
        get: `configmaps "one" is forbidden: User "jane" cannot get resource "configmaps" in API group "" ${inOurs}`,
        list: `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" ${inOurs}`,
        'list everywhere':
          'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" at the cluster scope',
        'the version of a list': `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" ${inOurs}`,
        watch: `configmaps is forbidden: User "jane" cannot watch resource "configmaps" in API group "" ${inOurs}`,
        create: `configmaps is forbidden: User "jane" cannot create resource "configmaps" in API group "" ${inOurs}`,
        patch: `configmaps "one" is forbidden: User "jane" cannot patch resource "configmaps" in API group "" ${inOurs}`,
        apply: `deployments.apps "one" is forbidden: User "jane" cannot patch resource "deployments" in API group "apps" ${inOurs}`,
        delete: `configmaps "one" is forbidden: User "jane" cannot delete resource "configmaps" in API group "" ${inOurs}`,
        'a group': `deployments.apps "one" is forbidden: User "jane" cannot get resource "deployments" in API group "apps" ${inOurs}`,
        'a subresource': `hostedcontrolplanes.controlplane.cluster.x-k8s.io "one" is forbidden: User "jane" cannot patch resource "hostedcontrolplanes/status" in API group "controlplane.cluster.x-k8s.io" ${inOurs}`,
        'a token': `serviceaccounts "one" is forbidden: User "jane" cannot create resource "serviceaccounts/token" in API group "" ${inOurs}`,
        'an object of the cluster':
          'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
        'a namespace': `namespaces "${namespace}" is forbidden: User "jane" cannot get resource "namespaces" in API group "" ${inOurs}`,
        'namespaces by name': `namespaces "${namespace}" is forbidden: User "jane" cannot list resource "namespaces" in API group "" at the cluster scope`,
        'a path': 'forbidden: User "jane" cannot get path "/metrics"',
      });
      expect(await client.raw('/readyz')).toBe('ok');
    },
  },
  {
    name: 'permits what a role grants, in its namespace only, and each verb for itself',
    async run(context) {
      const { namespace } = context;
      const client = await userWith(context, { ...configMaps, verbs: ['get', 'create', 'watch'] });
      const { metadata } = await client.create(configMap(context, {}), us);
      expect((await client.get(ConfigMap, metadata)).metadata.uid).toBe(metadata.uid);
      expect((await firstEvent(client, ConfigMap, { namespace })).value).toMatchObject({ type: 'ADDED' });
      expect(isForbidden(await failure(client.delete(ConfigMap, metadata)))).toBe(true);
      expect(isForbidden(await failure(client.list(ConfigMap, { namespace })))).toBe(true);
      expect(isForbidden(await failure(client.get(ConfigMap, { ...metadata, namespace: 'default' })))).toBe(true);
      expect(isForbidden(await failure(firstEvent(client, ConfigMap, {})))).toBe(true);
    },
  },
  {
    name: 'lets an apply change an object by patch, and create one by create too, after all that is wrong otherwise',
    async run(context) {
      const { namespace, client: admin } = context;
      const client = await userWith(context, { ...configMaps, verbs: ['patch'] });
      const object = configMap(context, { a: '1' });
      expect(await refusal(client.apply(object, us))).toBe(
        `configmaps "one" is forbidden: User "${userOf(context)}" cannot create resource "configmaps" in API group "" in the namespace "${namespace}"`,
      );
      expect(await admin.find(ConfigMap, { namespace, name: 'one' })).toBeUndefined();
      const gone = configMap(context, { a: '1' }, { uid: 'of-a-deleted-one' });
      expect(await failure(client.apply(gone, us))).toMatchObject({ code: 409, reason: 'Conflict' });
      await admin.create(configMap(context, {}), us);
      await client.apply(object, us);
      await client.mergePatch(ConfigMap, { namespace, name: 'one' }, { data: { b: '1' } }, us);
      expect(await admin.get(ConfigMap, { namespace, name: 'one' })).toMatchObject({ data: { a: '1', b: '1' } });
    },
  },
  {
    name: 'limits rights to names: an apply creates by name, a create does not, and lists and watches have to select it',
    async run(context) {
      const { namespace } = context;
      const verbs = ['get', 'list', 'watch', 'create', 'patch'];
      const client = await userWith(context, { ...configMaps, resourceNames: ['one'], verbs });
      expect(isForbidden(await failure(client.create(configMap(context, {}), us)))).toBe(true);
      await client.apply(configMap(context, { a: '1' }), us);
      expect(isForbidden(await failure(client.apply(configMap(context, {}, { name: 'two' }), us)))).toBe(true);
      const one = { namespace, fieldSelector: 'metadata.name=one' };
      expect((await client.list(ConfigMap, one)).items).toHaveLength(1);
      expect((await firstEvent(client, ConfigMap, one)).value).toMatchObject({ type: 'ADDED' });
      const labelled = { namespace, labelSelector: 'of=one' };
      expect(isForbidden(await failure(client.list(ConfigMap, labelled)))).toBe(true);
      expect(isForbidden(await failure(firstEvent(client, ConfigMap, { namespace })))).toBe(true);
      const other = { namespace, fieldSelector: 'metadata.name=two' };
      expect(isForbidden(await failure(client.list(ConfigMap, other)))).toBe(true);
    },
  },
  {
    name: 'takes a subresource for a resource of its own, which also an asterisk names',
    async run(context) {
      const { namespace, client: admin } = context;
      const { apiVersion, kind } = HostedControlPlane;
      const spec = { version: 'v1.36.3', exposure: { loadBalancer: {} } };
      const one = { namespace, name: 'one' };
      await admin.create({ apiVersion, kind, metadata: one, spec } as Parameters<typeof admin.create>[0], us);
      const status = { ...us, subresource: 'status' };
      const write = (client: KubernetesApi) => client.mergePatch(HostedControlPlane, one, { status: {} }, status);
      const client = await userWith(context, { ...controlPlanes, verbs: ['patch'] });
      await client.mergePatch(HostedControlPlane, one, { metadata: { labels: { a: 'b' } } }, us);
      expect(isForbidden(await failure(write(client)))).toBe(true);
      await granted(context, {
        where: 'namespace',
        rules: [{ ...controlPlanes, resources: ['*/status'], verbs: ['*'] }],
      });
      await write(client);
      expect(isForbidden(await failure(client.delete(HostedControlPlane, one)))).toBe(true);
    },
  },
  {
    name: 'grants a ClusterRole where it is bound: in one namespace, which contains itself, or everywhere',
    async run(context) {
      const { namespace, as } = context;
      const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }];
      await granted(context, { rules, where: 'cluster role in namespace' });
      const client = await as(userOf(context));
      expect((await client.get(Namespace, { name: namespace })).metadata.name).toBe(namespace);
      await client.list(Deployment, { namespace });
      expect(isForbidden(await failure(client.list(Namespace)))).toBe(true);
      expect(isForbidden(await failure(client.list(Deployment)))).toBe(true);
      await granted(context, { rules, where: 'cluster' });
      await client.list(Deployment);
      expect((await client.list(Namespace)).items.length).toBeGreaterThan(0);
      expect(isForbidden(await failure(client.serviceAccountToken({ namespace, name: 'one' })))).toBe(true);
    },
  },
  {
    name: 'grants to groups, and to a ServiceAccount of exactly its namespace',
    async run(context) {
      const { namespace, as, client: admin } = context;
      const metadata = { namespace, name: 'robot' };
      await admin.create({ apiVersion: 'v1', kind: ServiceAccount.kind, metadata }, us);
      const rules = [{ ...configMaps, verbs: ['list'] }];
      const group = { kind: 'Group', name: `readers-of-${namespace}` };
      const robot = { kind: 'ServiceAccount', name: 'robot', namespace };
      await granted(context, { rules, where: 'namespace', subjects: [group, robot] });
      await (await as('jane', [group.name])).list(ConfigMap, { namespace });
      await (await as(`system:serviceaccount:${namespace}:robot`)).list(ConfigMap, { namespace });
      for (const other of ['jane', 'robot', 'system:serviceaccount:default:robot']) {
        expect(isForbidden(await failure((await as(other)).list(ConfigMap, { namespace })))).toBe(true);
      }
    },
  },
  {
    name: 'says to every user what this user may do',
    async run(context) {
      const { namespace } = context;
      const client = await userWith(context, { ...configMaps, verbs: ['patch'] });
      const { apiVersion, kind } = SelfSubjectAccessReview;
      const may = async (verb: string) => {
        const resourceAttributes = { namespace, verb, group: '', resource: 'configmaps' };
        const review: AnyObject = { apiVersion, kind, metadata: { name: '' }, spec: { resourceAttributes } };
        return ((await client.create(review, us))['status'] as { allowed: boolean }).allowed;
      };
      expect([await may('patch'), await may('delete')]).toEqual([true, false]);
    },
  },
  {
    name: 'says which role a binding names that does not exist',
    async run(context) {
      const { namespace, as } = context;
      await granted(context, { rules: [], where: 'namespace', withoutRole: true });
      const client = await as(userOf(context));
      const said = await until('the binding', async () => {
        const message = await refusal(client.list(ConfigMap, { namespace }));
        return message.includes('RBAC') && message;
      });
      expect(said).toBe(
        `configmaps is forbidden: User "${userOf(context)}" cannot list resource "configmaps" in API group "" in the namespace "${namespace}": rbac: RBAC: role.rbac.authorization.k8s.io "namespace" not found`,
      );
    },
  },
  {
    name: 'lets only those approve and sign requests for certificates who may do that for their signer',
    async run(context) {
      const { namespace, as, client: admin } = context;
      const name = `csr-${namespace}`;
      const { apiVersion, kind, spec } = await clientCertificateRequest();
      const { signerName = '', request, usages } = spec;
      const given = { apiVersion, kind, metadata: { name }, spec: { signerName, request, usages } };
      const { uid } = (await admin.create(given, us)).metadata;
      const writes = [requestParts('approval'), requestParts('status')].map((part) => ({ ...part, verbs: ['patch'] }));
      await granted(context, { where: 'cluster', rules: writes });
      const client = await as(userOf(context));
      const conditions = [{ type: 'Approved', status: 'True', reason: 'Fine', message: 'fine' }];
      const approve = () =>
        client.apply(
          { apiVersion, kind, metadata: { name }, status: { conditions } },
          { ...us, subresource: 'approval' },
        );
      const status = { certificate: Buffer.from(await anyCertificate()).toString('base64') };
      const sign = () =>
        client.mergePatch(
          CertificateSigningRequest,
          { name },
          { metadata: { uid }, status },
          { ...us, subresource: 'status' },
        );
      const refused = `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: user not permitted to`;
      expect(await refusal(approve())).toBe(`${refused} approve requests with signerName "${signerName}"`);
      expect(await refusal(sign())).toBe(`${refused} sign requests with signerName "${signerName}"`);
      const signers = { apiGroups: ['certificates.k8s.io'], resources: ['signers'] };
      const [domain] = signerName.split('/');
      await granted(context, {
        where: 'cluster',
        rules: [
          ...writes,
          { ...signers, resourceNames: [signerName], verbs: ['approve'] },
          { ...signers, resourceNames: [`${domain}/*`], verbs: ['sign'] },
        ],
      });
      await approve();
      await sign();
      await admin.delete(CertificateSigningRequest, { name });
    },
  },
];

async function anyCertificate(): Promise<string> {
  const validity = validFor(3_600_000, new Date());
  const plan = { commonName: 'jane', organizations: [], usages: ['client'], hosts: [] } as const;
  return (await issueCertificate(plan, await createCA({ commonName: 'any' }, validity), validity)).certificate;
}
