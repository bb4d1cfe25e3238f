import { afterAll, expect, inject, it } from 'vitest';
import { supportedMinors } from '../../../constructs/cluster/minors.ts';
import { ValidatingWebhookConfiguration } from '../../../reconciler/import/resources.ts';
import { triedWrites, webhookErrors } from '../../../reconciler/desired-state/upgrade/preflight/webhooks.ts';
import { clientOf } from '../../tools/testbed/access.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';

const client = await clientOf(instanceFrom(process.env, inject('testbed')));
const fieldManager = 'preflight-writes';
const resource = ValidatingWebhookConfiguration;
const name = 'preflight-writes';

afterAll(async () => {
  await client.delete(resource, { name });
  await client.connection.close();
});

it.each(supportedMinors)('an API server accepts what is tried before an upgrade to 1.%i', async (minor) => {
  for (const object of triedWrites(`v1.${minor}.0`)) {
    const { kind } = object;
    expect(await client.apply(object, { fieldManager, force: true, dryRun: true })).toMatchObject({ kind });
  }
});

it('a webhook that does not answer is quoted, wherever it stands in the way', async () => {
  const rule = (apiGroup: string, resource: string) => ({
    apiGroups: [apiGroup],
    apiVersions: ['*'],
    operations: ['CREATE'],
    resources: [resource],
  });
  const webhook = (name: string, ...rules: readonly object[]) => ({
    name: `${name}.example.org`,
    failurePolicy: 'Fail',
    sideEffects: 'None',
    timeoutSeconds: 1,
    admissionReviewVersions: ['v1'],
    // nothing else in this cluster may wait for it
    matchConditions: [{ name: 'tried', expression: `object.metadata.name == 'upgrade-preflight'` }],
    rules,
    clientConfig: { url: 'https://127.0.0.1:1/' },
  });
  const asked = [
    webhook('services', rule('', 'services')),
    webhook('pods', rule('', 'pods')),
    webhook('grants', rule('rbac.authorization.k8s.io', 'clusterrolebindings')),
    webhook('budgets', rule('policy', 'poddisruptionbudgets')),
  ];
  const { apiVersion, kind } = resource;
  const configuration = { apiVersion, kind, metadata: { name }, webhooks: asked };
  await client.apply(configuration, { fieldManager, force: true, resource });
  // an API server learns of webhooks a moment after they are stored
  await expect
    .poll(() => webhookErrors(client, 'v1.37.0'), { timeout: 30_000, interval: 500 })
    .toEqual(
      expect.arrayContaining(
        ['services', 'pods', 'grants', 'budgets'].map((name) => expect.stringContaining(`"${name}.example.org"`)),
      ),
    );
});
