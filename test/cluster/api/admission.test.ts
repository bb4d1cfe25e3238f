import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { definitions } from '../../../constructs/api/crd.ts';
import { HostedControlPlaneTemplateSpec } from '../../../constructs/api/hosted-control-plane-template.ts';
import { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import { renderTenants } from '../../../constructs/provider/tenants.ts';
import { admissionCases, changed, minimalSpec, specWith, updateCases } from '../../constructs/api/admission-cases.ts';
import {
  answered,
  componentTemplates,
  created,
  definitionsPath,
  hostedControlPlane,
  hostedControlPlaneTemplate,
  type InstalledApi,
  planes,
  startInstalledApi,
  templates,
  uniqueName,
} from './installed-api.ts';
import { type Answer, refusalOf, type Requests } from './requests.ts';
import { storedBefore } from './stored-objects.ts';

let installed: InstalledApi;
let api: Requests;

beforeAll(async () => {
  installed = await startInstalledApi();
  api = installed.requests;
});

afterAll(() => installed?.stop());

const create = (spec: unknown) => api.send(planes, { method: 'POST', content: hostedControlPlane(spec) });

const createTemplate = (spec: unknown) =>
  api.send(templates, { method: 'POST', content: hostedControlPlaneTemplate(spec) });

/** Replaces the spec of an object, as an editor would. */
async function replace(path: string, spec: unknown): Promise<Answer> {
  const { body } = await api.get(path);
  return api.send(path, { method: 'PUT', content: { ...body, spec } });
}

const refusal = ({ path, because = '' }: { path: string; because?: string }) => ({
  code: 422,
  causes: expect.arrayContaining([{ field: path, message: expect.stringContaining(because) }]),
});

const accepted = admissionCases.filter(({ refused }) => !refused);
const refused = admissionCases.flatMap(({ refused, ...rest }) => (refused ? [{ ...rest, refused }] : []));
const acceptedUpdates = updateCases.filter(({ refused }) => !refused);
const refusedUpdates = updateCases.flatMap(({ refused, ...rest }) => (refused ? [{ ...rest, refused }] : []));

describe("an API server with the provider's CustomResourceDefinitions", () => {
  it.each(definitions)('reports no problem of the schema of $spec.names.kind', async ({ metadata, spec }) => {
    const { body } = await api.get(`${definitionsPath}/${metadata.name}`);
    expect(body).toMatchObject({ status: { acceptedNames: spec.names } });
    expect(JSON.stringify(body['status'])).not.toContain('NonStructuralSchema');
  });

  it.each(accepted)('$name', async ({ spec }) => {
    expect(await create(specWith(spec))).toMatchObject({ code: 201 });
  });

  it.each(refused)('$name', async ({ spec, refused }) => {
    expect(refusalOf(await create(specWith(spec)))).toEqual(refusal(refused));
  });

  it.each(acceptedUpdates)('$name', async ({ from, status, spec }) => {
    const path = await created(api, specWith(from), status);
    expect(await replace(path, changed(from, spec))).toMatchObject({ code: 200 });
  });

  it.each(refusedUpdates)('$name', async ({ from, status, spec, refused }) => {
    const path = await created(api, specWith(from), status);
    expect(refusalOf(await replace(path, changed(from, spec)))).toEqual(refusal(refused));
  });

  it('applies the same defaults as the parser', async () => {
    const spec = specWith({ etcd: { backup: { schedule: '@daily', secret: { name: 's3' } } } });
    const { body } = await api.get(await created(api, spec));
    expect(body['spec']).toEqual(HostedControlPlaneSpec.parse(spec));
  });

  it('refuses a name that is too long for a label value', async () => {
    const content = hostedControlPlane(minimalSpec, 'a'.repeat(64));
    const answer = await api.send(planes, { method: 'POST', content });
    expect(answer).toMatchObject({ code: 422, body: { message: expect.stringContaining('at most 63 characters') } });
  });

  it('refuses unknown fields with strict validation', async () => {
    expect(await create(specWith({ replica: 3 }))).toMatchObject({
      code: 400,
      body: { message: expect.stringContaining('unknown field "spec.replica"') },
    });
  });
});

describe('a HostedControlPlaneTemplate', () => {
  it('starts with a parent for every patch of a ClusterClass', async () => {
    const { body } = await createTemplate({});
    expect(body['spec']).toEqual(HostedControlPlaneTemplateSpec.parse({ template: {} }));
  });

  it('may name a gateway that a patch replaces', async () => {
    const gateway = { name: 'PLACEHOLDER', namespace: 'PLACEHOLDER' };
    expect(await createTemplate({ gateway })).toMatchObject({ code: 201 });
  });

  it('may not have two exposure strategies', async () => {
    const answer = await createTemplate({ gateway: { name: 'a', namespace: 'b' }, exposure: { loadBalancer: {} } });
    expect(refusalOf(answer)).toEqual(
      refusal({ path: 'spec.template.spec', because: 'more than one exposure strategy is set' }),
    );
  });

  it('may be changed in any way, because no control plane uses it directly', async () => {
    const content = hostedControlPlaneTemplate({ etcd: { autoGrow: false, volumeSize: '8Gi', storageClassName: 'a' } });
    await api.send(templates, { method: 'POST', content });
    const smaller = { spec: { template: { spec: { etcd: { volumeSize: '4Gi', storageClassName: 'b' } } } } };
    const path = `${templates}/${content.metadata.name}`;
    expect(await api.send(path, { method: 'PATCH', content: smaller })).toMatchObject({ code: 200 });
  });

  it('has no version', async () => {
    expect(await createTemplate({ version: 'v1.34.2' })).toMatchObject({
      code: 400,
      body: { message: expect.stringContaining('spec.template.spec.version') },
    });
  });
});

const componentTemplate = (spec: object) => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlaneComponentTemplate',
  metadata: { name: uniqueName('shared') },
  spec,
});

const createShared = (spec: object) =>
  api.send(componentTemplates, { method: 'POST', content: componentTemplate(spec) });

describe('a HostedControlPlaneComponentTemplate', () => {
  it('has the settings of pods that a HostedControlPlane has', async () => {
    const { deployment, etcd } = {
      deployment: { scheduler: { args: { v: '4' } } },
      etcd: { nodeSelector: { a: 'b' } },
    };
    expect(await createShared({ deployment, etcd })).toMatchObject({ code: 201, body: { spec: { deployment, etcd } } });
  });

  it.each<[string, object, number, string]>([
    ['a number of pods', { deployment: { scheduler: { replicas: 2 } } }, 400, 'unknown field'],
    ['a variable that etcd ignores', { etcd: { env: [{ name: 'ETCD_NAME' }] } }, 422, 'use args'],
    ['nothing', {}, 422, 'should have at least 1 properties'],
  ])('has no %s', async (_, spec, code, message) => {
    expect(await createShared(spec)).toMatchObject({ code, body: { message: expect.stringContaining(message) } });
  });

  it('keeps its spec, and lets its labels change', async () => {
    const content = componentTemplate({ etcd: { nodeSelector: { a: 'b' } } });
    expect(await api.send(componentTemplates, { method: 'POST', content })).toMatchObject({ code: 201 });
    const path = `${componentTemplates}/${content.metadata.name}`;
    const labelled = await api.send(path, { method: 'PATCH', content: { metadata: { labels: { a: 'b' } } } });
    expect(labelled).toMatchObject({ code: 200 });
    const changed = await api.send(path, {
      method: 'PATCH',
      content: { spec: { etcd: { nodeSelector: { a: 'c' } } } },
    });
    expect(changed).toMatchObject({
      code: 422,
      body: { message: expect.stringContaining('create another one, and name it in spec.componentTemplateRef') },
    });
  });
});

describe('what a platform gives to tenants', () => {
  it.each(renderTenants().map((object) => [object.kind, object] as const))('is valid: its %s', async (kind, object) => {
    const { namespace, ...metadata } = object.metadata;
    const group = object.apiVersion.includes('/') ? `/apis/${object.apiVersion}` : `/api/${object.apiVersion}`;
    const place = namespace === undefined ? group : `${group}/namespaces/default`;
    const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');
    const content = { ...object, metadata };
    const { code, body } = await api.send(`${place}/${plural}?dryRun=All`, { method: 'POST', content });
    expect({ code, message: body.message }).toEqual({ code: 201, message: undefined });
  });
});

describe('the sample policy for tenants', () => {
  const ingress = (host: string) => ({ exposure: { ingress: { apiHost: host, konnectivityHost: `k-${host}` } } });
  const image = { registry: 'registry.tenant.example' };
  const mounting = (secretName: string) => ({
    deployment: { apiServer: { mounts: { one: { path: '/mnt', secret: { secretName } } } } },
  });

  beforeAll(async () => {
    const policies = '/apis/admissionregistration.k8s.io/v1';
    for (const object of renderTenants().filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'))) {
      const plural = object.kind.endsWith('Binding')
        ? 'validatingadmissionpolicybindings'
        : 'validatingadmissionpolicies';
      await answered(201, () => api.send(`${policies}/${plural}`, { method: 'POST', content: object }));
    }
    await answered(422, () => create(specWith({ deployment: { scheduler: { image } } })));
  });
  afterAll(async () => {
    const binding = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
    await api.send(`${binding}/capi-hosted-control-plane-tenant`, { method: 'DELETE' });
    await answered(201, () => create(specWith({ deployment: { scheduler: { image } } })));
  });

  it('lets ordinary control planes pass', async () => {
    expect(await create(minimalSpec)).toMatchObject({ code: 201 });
    expect(await create(specWith(mounting('mount-hooks')))).toMatchObject({ code: 201 });
    const labels = { 'tenants.example.org/team': 'a' };
    expect(await create(specWith({ etcd: { labels, priorityClassName: 'clusters' } }))).toMatchObject({ code: 201 });
    const { exposure: _, ...spec } = specWith({}) as { exposure?: unknown };
    expect(await create({ ...spec, ...ingress('api.default.clusters.example.org') })).toMatchObject({ code: 201 });
  });

  it.each<[string, object, string]>([
    ['an image of the API server', { deployment: { apiServer: { image } } }, 'images come from registry.example.org'],
    ['an image of etcd', { etcd: { image } }, 'images come from registry.example.org'],
    ['an image in the hosted cluster', { coredns: { image } }, 'images come from registry.example.org'],
    ['another registry of all images', { imageRegistry: image.registry }, 'set imageRegistry to registry.example.org'],
    ['another repository of a public registry', { etcd: { image: { repository: 'x/etcd' } } }, 'remove registry and'],
    ['a Secret of another purpose', mounting('other-ca'), 'mounts begins with mount-'],
    [
      'a Secret of another purpose, by the names of its keys',
      { etcd: { backup: { schedule: '@daily', secret: { name: 'other-ca', bucketKey: 'password' } } } },
      'have their default names',
    ],
    [
      'a PriorityClass of the system',
      { etcd: { priorityClassName: 'system-cluster-critical' } },
      'belong to the platform',
    ],
    [
      'an annotation for something else in the management cluster',
      { deployment: { defaults: { annotations: { 'example.org/inject': 'true' } } } },
      'begin with tenants.example.org/',
    ],
    ['a host of another namespace', ingress('api.other.clusters.example.org'), 'end with the namespace'],
  ])('refuses %s', async (_, changes, message) => {
    expect(
      await create({ ...specWith({}), ...('exposure' in changes ? { exposure: undefined } : {}), ...changes }),
    ).toMatchObject({
      code: 422,
      body: { message: expect.stringContaining(message) },
    });
  });

  it.each<[string, object, string]>([
    ['an image', { deployment: { apiServer: { image } } }, 'images come from registry.example.org'],
    ['a Secret of another purpose', mounting('other-ca'), 'mounts begins with mount-'],
    [
      'a PriorityClass of the system',
      { etcd: { priorityClassName: 'system-node-critical' } },
      'belong to the platform',
    ],
  ])('refuses %s in a component template, too', async (_, spec, message) => {
    expect(await createShared(spec)).toMatchObject({ code: 422, body: { message: expect.stringContaining(message) } });
  });
});

describe('an object that was stored before the rules existed', () => {
  it('can still be corrected', async () => {
    const [{ path } = { path: '' }] = await storedBefore(api, [{ name: 'unknown', spec: { version: 'unknown' } }]);
    expect(await api.send(path, { method: 'PATCH', content: { spec: minimalSpec } })).toMatchObject({ code: 200 });
  });
});
