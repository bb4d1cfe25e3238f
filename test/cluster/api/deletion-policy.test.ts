import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deletionProtectionAnnotation } from '../../../constructs/api/group.ts';
import { policyOf } from '../../../constructs/cluster/provider-names.ts';
import { renderProvider } from '../../../constructs/provider/chart.ts';
import { minimalSpec } from '../../constructs/api/admission-cases.ts';
import {
  answered,
  hostedControlPlane,
  type InstalledApi,
  planes,
  startInstalledApi,
  uniqueName,
} from './installed-api.ts';
import type { Answer } from './requests.ts';

const policies = '/apis/admissionregistration.k8s.io/v1';
const namespaces = '/api/v1/namespaces';

let installed: InstalledApi;

beforeAll(async () => {
  installed = await startInstalledApi();
  const rendered = renderProvider().filter(({ metadata }) => metadata.name === policyOf('deletion'));
  for (const object of rendered) {
    const plural = object.kind.endsWith('Binding')
      ? 'validatingadmissionpolicybindings'
      : 'validatingadmissionpolicies';
    await answered(201, () => installed.requests.send(`${policies}/${plural}`, { method: 'POST', content: object }));
  }
  const probe = await plane('true');
  await answered(403, () => remove(`${probe}?dryRun=All`));
});
afterAll(() => installed?.stop());

const remove = (path: string): Promise<Answer> => installed.requests.send(path, { method: 'DELETE' });

const annotated = (value: string | null) => ({ annotations: { [deletionProtectionAnnotation]: value } });

/** Creates an object with the annotation and returns its path. */
async function created(collection: string, object: { readonly metadata: { readonly name: string } }, value?: string) {
  const metadata = {
    ...object.metadata,
    ...(value !== undefined && annotated(value)),
    labels: { protection: value ?? 'none' },
  };
  await answered(201, () => installed.requests.send(collection, { method: 'POST', content: { ...object, metadata } }));
  return `${collection}/${metadata.name}`;
}

const plane = (value?: string) => created(planes, hostedControlPlane(minimalSpec), value);

const refusal = (what: string, way: string) => ({
  code: 403,
  body: {
    message: expect.stringMatching(
      new RegExp(`${what} is protected from deletion, .*: to delete it, first run kubectl annotate ${way}$`),
    ),
  },
});

describe('an object that is protected from deletion', () => {
  it.each(['true', '', 'yes'])(
    'is not deleted while its annotation is "%s", and is once that is gone',
    async (value) => {
      const path = await plane(value);
      const name = path.split('/').at(-1);
      const way = `hostedcontrolplanes ${name} -n default ${deletionProtectionAnnotation}-`;
      expect(await remove(path)).toMatchObject(refusal(`HostedControlPlane ${name}`, way));
      expect(await installed.requests.get(path)).toMatchObject({ code: 200 });

      await installed.requests.send(path, { method: 'PATCH', content: { metadata: annotated(null) } });
      expect(await remove(path)).toMatchObject({ code: 200 });
    },
  );

  it.each([undefined, 'false'])('is not one with the annotation %s', async (value) => {
    expect(await remove(await plane(value))).toMatchObject({ code: 200 });
  });

  it('stays when all of its namespace are deleted, as the deletion of the namespace does', async () => {
    const path = await plane('all');
    expect(await remove(`${planes}?labelSelector=protection%3Dall`)).toMatchObject({ code: 403 });
    expect(await installed.requests.get(path)).toMatchObject({ code: 200 });
  });

  it('can still be changed', async () => {
    const path = await plane('true');
    const content = { spec: { replicas: 3 } };
    expect(await installed.requests.send(path, { method: 'PATCH', content })).toMatchObject({ code: 200 });
  });

  it('may be a namespace', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: uniqueName('kept') } };
    const path = await created(namespaces, namespace, 'true');
    const { name } = namespace.metadata;
    expect(await remove(path)).toMatchObject(
      refusal(`Namespace ${name}`, `namespaces ${name} ${deletionProtectionAnnotation}-`),
    );
    await installed.requests.send(path, { method: 'PATCH', content: { metadata: annotated(null) } });
    expect(await remove(path)).toMatchObject({ code: 200 });
  });
});
