import { afterAll, beforeAll, expect, it } from 'vitest';
import { yamlOfPages } from '../../../support/documented-objects.ts';
import {
  hostedControlPlane,
  type InstalledApi,
  planes,
  startInstalledApi,
} from '../../../cluster/api/installed-api.ts';

const blocks = await yamlOfPages();

let installed: InstalledApi;
beforeAll(async () => {
  installed = await startInstalledApi();
});
afterAll(() => installed?.stop());

it.each(blocks)('a real API server takes the HostedControlPlanes of $place', async ({ hostedControlPlanes }) => {
  for (const { spec } of hostedControlPlanes) {
    expect(await installed.requests.send(planes, { method: 'POST', content: hostedControlPlane(spec) })).toMatchObject({
      code: 201,
    });
  }
});
