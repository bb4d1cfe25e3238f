import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withManagementIssuer } from '../../../constructs/cluster/management-issuer.ts';
import { authenticationConfiguration } from '../../../constructs/control-plane/api-server/authentication.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { clusterOf } from '../../support/rendered-cluster.ts';
import { signedInUser } from '../../support/signed-in-user.ts';
import { TokenIssuer } from '../../support/token-issuer.ts';
import { until } from '../../support/until.ts';
import { findBinaries } from '../../tools/testbed/binaries.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { run } from '../../tools/testbed/run.ts';

const directory = mkdtempSync(join(tmpdir(), 'sign-in-'));
const file = join(directory, 'authentication-configuration.yaml');
const first = await TokenIssuer.create();
const second = await TokenIssuer.create();

const claims = { aud: 'kubernetes', sub: 'alice', email: 'alice@example.org', groups: ['sre', 'dev'] };
const providerOf = (issuer: TokenIssuer) => ({
  certificateAuthority: issuer.certificateAuthority,
  audiences: ['kubernetes', 'tools'],
  claimValidationRules: [{ expression: 'claims.email.endsWith("@example.org")', message: 'another domain' }],
  claimMappings: { username: '"sso:" + claims.sub', groups: 'dyn(claims.?groups.orValue([])).map(g, "sso:" + g)' },
});

/** Writes what a ConfigMap has for these issuers. */
function configure(...issuers: readonly TokenIssuer[]): void {
  const oidcProviders = Object.fromEntries(issuers.map((issuer) => [issuer.url, providerOf(issuer)]));
  writeFileSync(file, authenticationConfiguration(clusterOf({ spec: { oidcProviders } })) ?? '');
}

configure(first);
// The first issuer does not answer when the API server starts.
const server = plainApiServer({ flags: [`--authentication-config=${file}`] });
beforeAll(() => second.open());
afterAll(async () => {
  await first.close();
  await second.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Who the API server takes the bearer of a token for. */
function userOf(token: string) {
  const { server: url, serverName, ca } = server.target;
  return signedInUser({ server: url, serverName, ca }, token);
}

test('an API server starts while an issuer is away, and sign-in works when it is back', async () => {
  expect(await userOf(first.token(claims))).toBeUndefined();
  await first.open();
  const user = await until('the issuer to be found', () => userOf(first.token(claims)));
  expect(user.username).toBe('sso:alice');
  expect(user.groups).toEqual(expect.arrayContaining(['sso:sre', 'sso:dev', 'system:authenticated']));
});

test('a token without groups, or for the other audience, is accepted', async () => {
  const { groups: _, ...others } = claims;
  expect((await userOf(first.token(others)))?.groups).toEqual(['system:authenticated']);
  expect((await userOf(first.token({ ...claims, aud: ['tools', 'x'] })))?.username).toBe('sso:alice');
});

test.each<[string, () => string]>([
  ['for another audience', () => first.token({ ...claims, aud: 'another' })],
  ['that has expired', () => first.token({ ...claims, exp: Math.floor(Date.now() / 1000) - 60 })],
  ['against a validation rule', () => first.token({ ...claims, email: 'alice@example.com' })],
  ['without a claim that a rule needs', () => first.token({ aud: 'kubernetes', sub: 'alice' })],
  ['signed by another key', () => first.forgedToken(claims)],
  ['of an issuer that is not configured', () => second.token(claims)],
  ['of one issuer in the name of another', () => second.token({ ...claims, iss: first.url })],
])('a token %s is refused', async (_, token) => {
  expect(await userOf(token())).toBeUndefined();
});

test('keys of an issuer rotate', async () => {
  const before = first.token(claims);
  first.rotate();
  await until('the new key', () => userOf(first.token(claims)));
  expect((await userOf(before))?.username).toBe('sso:alice');
});

test('a service account of the management cluster signs in with a token for this cluster, and with no other', async () => {
  const { url, certificateAuthority } = second;
  const asked = clusterOf({ spec: { managementClusterIssuer: { enabled: true } } });
  const { spec } = withManagementIssuer(asked, { url, certificateAuthority });
  writeFileSync(file, authenticationConfiguration({ spec }) ?? '');
  const sub = 'system:serviceaccount:team:deployer';
  const user = await until('the issuer', () => userOf(second.token({ aud: 'workload-cluster:team/c1', sub })), 120_000);
  expect(user.username).toBe(`management-cluster:${sub}`);
  expect(user.groups.toSorted()).toEqual([
    'management-cluster:system:serviceaccounts',
    'management-cluster:system:serviceaccounts:team',
    'system:authenticated',
  ]);
  for (const aud of [second.url, 'workload-cluster:team/c2', 'https://kubernetes.default.svc.cluster.local'])
    expect(await userOf(second.token({ aud, sub }))).toBeUndefined();
  expect(await userOf(second.token({ aud: 'workload-cluster:team/c1', sub: 'admin' }))).toBeUndefined();
  configure(first);
  await until('the first issuer again', () => userOf(first.token(claims)), 120_000);
});

test('kubectl signs in with a credential plugin', async () => {
  const { server: url, serverName, ca } = server.target;
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' };
  const token = join(directory, 'credential.json');
  writeFileSync(token, JSON.stringify({ ...credential, status: { token: first.token(claims) } }), { mode: 0o600 });
  const exec = { apiVersion: credential.apiVersion, command: 'cat', args: [token], interactiveMode: 'Never' };
  const caData = Buffer.from(ca).toString('base64');
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromClusterAndUser(
    { name: 'test', server: url, tlsServerName: serverName, caData, skipTLSVerify: false },
    { name: 'alice', exec },
  );
  const path = join(directory, 'kubeconfig');
  writeFileSync(path, kubeconfig.exportConfig(), { mode: 0o600 });
  const { kubectl = '' } = await findBinaries(
    instanceFrom(process.env).cache,
    process.env['HCP_TESTBED_BIN'],
    () => {},
  );
  const user = await run([
    kubectl,
    '--kubeconfig',
    path,
    'auth',
    'whoami',
    '-o',
    'jsonpath={.status.userInfo.username}',
  ]);
  expect(user).toBe('sso:alice');
});

test('another issuer is accepted without a restart, and one that is removed no longer', async () => {
  configure(second);
  const user = await until('the new issuer', () => userOf(second.token(claims)), 120_000);
  expect(user.username).toBe('sso:alice');
  await until('the end of the former issuer', async () => (await userOf(first.token(claims))) === undefined);
});

test('an API server keeps its issuers while the file is wrong', async () => {
  writeFileSync(file, 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: [{}]\n');
  const isRefused = /authentication_config_controller_automatic_reloads_total\{[^}]*status="failure"\} [1-9]/;
  await until('the failed reload', async () => isRefused.test(await server.client.raw('/metrics')), 120_000);
  expect((await userOf(second.token(claims)))?.username).toBe('sso:alice');
});
