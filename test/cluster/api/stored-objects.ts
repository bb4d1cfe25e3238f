import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { children, type StructuralSchema } from '../../../constructs/api/structural.ts';
import { answered, hostedControlPlane, install, planes, uniqueName } from './installed-api.ts';
import type { Requests } from './requests.ts';

/** An object to store, by the name of its case. */
export interface Stored {
  readonly name: string;
  readonly spec: unknown;
  readonly status?: unknown;
}

/**
 * Stores objects as a release without the rules would, with a finalizer, and names the path of each. Those that the schema itself
 * refuses are left out.
 */
export async function storedBefore(api: Requests, objects: readonly Stored[]) {
  const withoutRules = structuredClone(hostedControlPlaneCRD);
  removeRules(withoutRules.spec.versions[0].schema.openAPIV3Schema);
  await install(api, withoutRules);
  await answered(201, () =>
    api.send(`${planes}?dryRun=All`, { method: 'POST', content: hostedControlPlane({ version: 'unknown' }) }),
  );
  const paths: { readonly name: string; readonly path: string }[] = [];
  for (const { name, spec, status } of objects) {
    const object = hostedControlPlane(spec, `${uniqueName('old')}-${'x'.repeat(64)}`);
    const metadata = { ...object.metadata, finalizers: ['hcp.controlplane.cluster.x-k8s.io'] };
    const path = `${planes}/${metadata.name}`;
    const answer = await api.send(planes, { method: 'POST', content: { ...object, metadata } });
    if (answer.code !== 201) continue;
    if (status) await answered(200, () => api.send(`${path}/status`, { method: 'PATCH', content: { status } }));
    paths.push({ name, path });
  }
  await install(api, hostedControlPlaneCRD);
  await answered(422, () => api.send(`${planes}?dryRun=All`, { method: 'POST', content: hostedControlPlane({}) }));
  return paths;
}

function removeRules(schema: StructuralSchema): void {
  delete schema['x-kubernetes-validations'];
  for (const [, child] of children(schema)) removeRules(child);
}
