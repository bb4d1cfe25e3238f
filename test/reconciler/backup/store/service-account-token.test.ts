import { expect, it } from 'vitest';
import { ServiceAccount } from '../../../../constructs/api/resources.ts';
import { serviceAccountTokenFor } from '../../../../reconciler/backup/store/service-account-token.ts';
import { errorFromStatus } from '../../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';

const annotation = 'controlplane.cluster.x-k8s.io/backup-identity-of';
const apiAudiences = ['https://kubernetes.default.svc', 'vault'];

const serviceAccount = (annotations: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: ServiceAccount.apiVersion,
  kind: ServiceAccount.kind,
  metadata: { namespace: 'team', name: 'backup', annotations },
});

/** A token of an API server, and the audiences of all that it issued. */
async function tokenFor(account: KubeObject | undefined, audience: string, isAllowed = true, tokenService?: string) {
  const issued: (string | undefined)[] = [];
  const client = {
    find: async () => account as never,
    serviceAccountToken: async (_: unknown, requested?: string) => {
      if (!isAllowed) throw errorFromStatus('create ServiceAccount team/backup (token)', 403, {});
      issued.push(requested);
      const claims = Buffer.from(JSON.stringify({ aud: requested ?? apiAudiences })).toString('base64url');
      return `header.${claims}.signature`;
    },
  };
  const hostedControlPlane = { namespace: 'team', name: 'c1' };
  const request = { hostedControlPlane, serviceAccount: 'backup', audience, tokenService };
  const result = await serviceAccountTokenFor(request, client).catch((error: unknown) => error);
  return { result, issued };
}

it.each([
  ['one', 'c1'],
  ['several', 'c0, c1,c2'],
])('a ServiceAccount whose annotation names %s HostedControlPlanes gives them tokens', async (_, names) => {
  const { result } = await tokenFor(serviceAccount({ [annotation]: names }), 'sts.example.org');
  expect(String(result).split('.')).toHaveLength(3);
});

it.each<[string, KubeObject | undefined, string, boolean, string, number]>([
  ['does not exist', undefined, 'sts', true, 'ServiceAccount team/backup does not exist: create it', 0],
  [
    'names nobody',
    serviceAccount({}),
    'sts',
    true,
    `does not let HostedControlPlane c1 use its tokens: set its annotation ${annotation}: c1`,
    0,
  ],
  ['names another', serviceAccount({ [annotation]: 'c10' }), 'sts', true, 'does not let HostedControlPlane c1', 0],
  ...apiAudiences.map(
    (audience) =>
      [
        `is of use at the management cluster as ${audience}`,
        serviceAccount({ [annotation]: 'c1' }),
        audience,
        true,
        `the management cluster itself accepts tokens for ${audience}: set etcd.backup.webIdentity.audience`,
        1,
      ] as [string, KubeObject, string, boolean, string, number],
  ),
  [
    'is in a namespace without the role',
    serviceAccount({ [annotation]: 'c1' }),
    'sts',
    false,
    'bind ClusterRole capi-hosted-control-plane-backup-identity',
    0,
  ],
])('a ServiceAccount that %s gives no token', async (_, account, audience, isAllowed, message, asked) => {
  const { result, issued } = await tokenFor(account, audience, isAllowed);
  expect(result).toMatchObject({ message: expect.stringContaining(message) as unknown });
  expect(issued).toEqual(Array.from({ length: asked }));
});

it('a token goes to the token service that the ServiceAccount names, and to no other one', async () => {
  const services = 'controlplane.cluster.x-k8s.io/backup-token-services';
  const account = serviceAccount({ [annotation]: 'c1', [services]: 'sts.example.org:9000, b.example.org' });
  const { result } = await tokenFor(account, 'sts', true, 'sts.example.org:9000');
  expect(String(result).split('.')).toHaveLength(3);
  const refused = await tokenFor(account, 'sts', true, 'evil.example.net');
  expect(refused.issued).toEqual([]);
  expect(String(refused.result)).toContain(
    `does not let its tokens be sent to evil.example.net: add evil.example.net to its annotation ${services}`,
  );
});
