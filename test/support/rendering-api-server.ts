import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { definitions } from '../../constructs/api/crd.ts';
import { Namespace, Service } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { applyObjects } from '../tools/testbed/apply-objects.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { withLock } from '../tools/testbed/lock.ts';
import { cilium, gatewayApi, traefik } from '../tools/testbed/module-manifests.ts';
import { moduleObjects } from '../tools/testbed/rendered-objects.ts';
import type { ApiServer } from './api-server.ts';
import { plainApiServer } from './plain-api-server.ts';

/** Fails where a field is unknown or misspelled, and stores nothing. */
export const dryRun = { fieldManager: 'test', force: true, dryRun: true };

/** An API server that knows every kind that is rendered, and these namespaces, for the tests of a file. */
export function renderingApiServer(namespaces: readonly string[]): ApiServer {
  const server = plainApiServer({
    flags: [
      '--allow-privileged=true',
      // The oldest minors use an older version of admission policies.
      '--runtime-config=admissionregistration.k8s.io/v1beta1=true',
      // PriorityClasses that a spec names are the platform's.
      '--disable-admission-plugins=Priority',
    ],
    definitions,
  });
  beforeAll(async () => {
    for (const manifests of [gatewayApi, cilium, traefik]) {
      const { cache } = instanceFrom(process.env);
      const silent = () => {};
      const objects = await withLock(join(cache, 'lock'), silent, () => moduleObjects(cache, manifests, silent));
      await applyObjects(
        server.client,
        objects.filter(({ kind }) => kind === 'CustomResourceDefinition'),
      );
    }
    const { apiVersion, kind } = Namespace;
    for (const name of new Set(['kube-public', ...namespaces])) {
      await server.client.apply({ apiVersion, kind, metadata: { name } }, { fieldManager: 'test', force: true });
    }
  });
  return server;
}

/** The Service network of this server differs from that of hosted clusters. */
export function withoutAddress(object: RenderedObject): RenderedObject {
  if (object.kind !== Service.kind) return object;
  return { ...object, spec: { ...(object['spec'] as object), clusterIP: undefined, clusterIPs: undefined } };
}
