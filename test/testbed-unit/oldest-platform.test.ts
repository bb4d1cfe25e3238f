import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { oldestClusterApi, oldestGatewayApi, pinnedMinors, pinnedVersion } from '../tools/testbed/families.ts';
import { oldestKubernetes } from '../tools/testbed/oldest-platform.ts';

const root = join(import.meta.dirname, '../..');
const minorOf = (version: string): string => version.replace(/^v(\d+\.\d+)\..*/, '$1');

test('the documents promise no older versions than the oldest platform that a test brings up, and no newer ones than the newest', async () => {
  const row = async (what: string, oldest: [string, string], newest: [string, string]): Promise<string> =>
    `| ${what} | ${minorOf(await pinnedVersion(...oldest))} | ${minorOf(await pinnedVersion(...newest))} |`;
  const { module, name } = oldestClusterApi;
  const gateway = oldestGatewayApi.module;
  const kubernetes = 'k8s.io/kubernetes';
  const folder = pinnedMinors[oldestKubernetes]?.kubernetes ?? '';
  const page = await readFile(join(root, 'constructs/provider/INSTALL.md'), 'utf8');
  expect(page).toContain(
    [
      await row('Kubernetes of the management cluster', [folder, kubernetes], ['kubernetes', kubernetes]),
      await row('Cluster API', [name, module], ['cluster-api', module]),
      await row('Gateway API', [oldestGatewayApi.name, gateway], ['traefik', gateway]),
    ].join('\n'),
  );
  const clusterApi = minorOf(await pinnedVersion(name, module));
  for (const text of [page, await readFile(join(root, 'README.md'), 'utf8')]) {
    expect(text).toContain(
      `The management cluster needs Kubernetes ${oldestKubernetes} or newer and Cluster API ${clusterApi} or newer.`,
    );
  }
});
