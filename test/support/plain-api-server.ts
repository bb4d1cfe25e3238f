import { afterAll, beforeAll } from 'vitest';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { applyObjects } from '../tools/testbed/apply-objects.ts';
import { ApiServer } from './api-server.ts';

export interface PlainApiServerOptions {
  /** Additional flags of the API server, with their dashes. By default none. */
  readonly flags?: readonly string[];
  /** CustomResourceDefinitions that it serves. By default none. */
  readonly definitions?: readonly KubeObject[];
}

/** An API server without any controllers, from before the tests of a file until after them. */
export function plainApiServer({ flags, definitions = [] }: PlainApiServerOptions = {}): ApiServer {
  const server = new ApiServer(flags);
  beforeAll(async () => {
    await server.start();
    await applyObjects(server.client, definitions);
  });
  afterAll(() => server.stop());
  return server;
}
