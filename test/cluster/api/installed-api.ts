import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { type CustomResourceDefinition, definitions } from '../../../constructs/api/crd.ts';
import { startApiServer } from '../../support/api-server.ts';
import { type Answer, Requests } from './requests.ts';

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const objectsPath = '/apis/controlplane.cluster.x-k8s.io/v1alpha1/namespaces/default';
export const planes = `${objectsPath}/hostedcontrolplanes`;
export const templates = `${objectsPath}/hostedcontrolplanetemplates`;
export const componentTemplates = `${objectsPath}/hostedcontrolplanecomponenttemplates`;

/** An API server with the provider's CRDs, but without its controllers. */
export interface InstalledApi {
  readonly requests: Requests;
  stop(): Promise<void>;
}

export async function startInstalledApi(): Promise<InstalledApi> {
  const server = await startApiServer();
  const requests = new Requests(server.kubeconfig);
  for (const definition of definitions) await install(requests, definition);
  await answered(200, () => requests.get(planes));
  await answered(200, () => requests.get(templates));
  await answered(200, () => requests.get(componentTemplates));
  const stop = async () => {
    await requests.close();
    await server.stop();
  };
  return { requests, stop };
}

export async function install(requests: Requests, definition: CustomResourceDefinition): Promise<void> {
  const path = `${definitionsPath}/${definition.metadata.name}`;
  const applied = await requests.send(path, { method: 'PATCH', content: definition, applyAs: 'test' });
  if (applied.code > 201) throw new Error(`install ${definition.metadata.name}: ${JSON.stringify(applied.body)}`);
}

/** Waits until a request is answered with this code: a changed CRD takes effect shortly after it is stored. */
export async function answered(code: number, attempt: () => Promise<Answer>): Promise<void> {
  await vi.waitFor(async () => expect((await attempt()).code).toBe(code), { timeout: 60_000, interval: 50 });
}

/** A name that no other test uses, because the server may be shared. */
export const uniqueName = (prefix: string) => `${prefix}-${randomUUID().slice(0, 8)}`;

export const hostedControlPlane = (spec: unknown, name = uniqueName('hcp')) => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlane',
  metadata: { name },
  spec,
});

export const hostedControlPlaneTemplate = (spec: unknown, name = uniqueName('template')) => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlaneTemplate',
  metadata: { name },
  spec: { template: { spec } },
});

/** Creates an object and returns its path. Throws when the server refuses it, which is an error in the test. */
export async function created(requests: Requests, spec: unknown, status?: unknown): Promise<string> {
  const object = hostedControlPlane(spec);
  const path = `${planes}/${object.metadata.name}`;
  const answers = [await requests.send(planes, { method: 'POST', content: object })];
  if (status !== undefined) {
    answers.push(await requests.send(`${path}/status`, { method: 'PATCH', content: { status } }));
  }
  const failed = answers.find(({ code }) => code > 201);
  if (failed) throw new Error(`create ${path}: ${JSON.stringify(failed.body)}`);
  return path;
}
