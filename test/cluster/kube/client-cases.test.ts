import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { HostedControlPlane, Namespace, ServiceAccount } from '../../../constructs/api/resources.ts';
import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connect, connectionFor, loadKubeConfig } from '../../../reconciler/kube/config.ts';
import { type ApiServer, startApiServer } from '../../support/api-server.ts';
import { kubeCases } from '../../support/kube-cases/all-cases.ts';
import { controllerCases } from '../../support/kube-cases/controllers.ts';
import { publishedSchemas, shapeDifferences } from '../../support/kube-cases/published-shapes.ts';
import { userClient } from '../../support/kubeconfig-users.ts';
import { losingAnswers } from '../../support/lost-answers.ts';
import { isBuiltIn } from '../../support/memory-cluster/kinds.ts';
import { until } from '../../support/until.ts';

const setUp = { fieldManager: 'set-up' };

let server: ApiServer;
let client: KubeClient;
let losing: KubeClient;
let serial = 0;

beforeAll(async () => {
  server = await startApiServer();
  client = new KubeClient(connectionFor(server.target));
  losing = new KubeClient(losingAnswers(connectionFor(server.target)));
  await client.apply(hostedControlPlaneCRD, setUp);
  await until('HostedControlPlanes', () => client.list(HostedControlPlane).catch(() => undefined));
});
afterAll(async () => {
  await losing.close();
  await client.close();
  await server.stop();
});

describe('a real API server', () => {
  it.each(kubeCases)('$name', async ({ run }) => {
    const namespace = `case-${++serial}`;
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, setUp);
    const opened: KubeClient[] = [];
    const as = async (user: string, groups: readonly string[] = []) => {
      const one = await userClient(server.target, user, groups);
      opened.push(one);
      return one;
    };
    await expect(run({ client, as, losing, namespace, eventually: until })).resolves.toBeUndefined();
    await Promise.all(opened.map((one) => one.close()));
  });

  it('merges all rendered objects as the in-memory one does', async () => {
    const rendered = await renderedSamples();
    const versions = [...new Set(rendered.map(({ apiVersion }) => apiVersion))];
    const published = new Map(
      await Promise.all(versions.map(async (version) => [version, await publishedSchemas(client, version)] as const)),
    );
    const found = rendered.flatMap((object) => shapeDifferences(object, published.get(object.apiVersion) ?? {}));
    expect([...new Set(found)]).toEqual([]);
  });
});

describe('a real API server with its controllers', () => {
  let ofTestbed: KubeClient;
  beforeAll(async () => {
    ofTestbed = new KubeClient(await connect(loadKubeConfig(inject('kubeconfig'))));
  });
  afterAll(() => ofTestbed.close());

  it.each(controllerCases)('$name', async ({ run }) => {
    const namespace = `case-${process.pid}-${++serial}`;
    await ofTestbed.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, setUp);
    const account = { namespace, name: 'default' };
    await until('the ServiceAccount of pods', () => ofTestbed.find(ServiceAccount, account));
    await expect(run({ client: ofTestbed, namespace, eventually: until })).resolves.toBeUndefined();
    await ofTestbed.delete(Namespace, { name: namespace });
  });
});

/** Every object of the samples, except kinds that this API server lacks. */
async function renderedSamples(): Promise<KubeObject[]> {
  const directory = 'dist/samples';
  const files = await readdir(directory);
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  return texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as KubeObject))
    .filter((object) => isBuiltIn(object) && !object.apiVersion.endsWith('beta1'));
}
