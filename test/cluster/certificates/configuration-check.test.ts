import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { issuerAtEndpoint, issuerByServiceName } from '../../../constructs/cluster/service-account-issuer.ts';
import { configurationCheckResult } from '../../../reconciler/desired-state/api-server/check-pod.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';
import { findBinaries } from '../../tools/testbed/binaries.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { CommandError, run } from '../../tools/testbed/run.ts';
import { type Generation, newGeneration } from './generation.ts';
import { LaidOutContainer } from './laid-out-pod.ts';

/** What the kubelet keeps of the output of a container that failed. */
const keptBytes = 2048;

let directory: string;
let generation: Generation;
let kubeApiserver: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'check-'));
  generation = await newGeneration();
  const binaries = await findBinaries(instanceFrom(process.env).cache, process.env['HCP_TESTBED_BIN'], () => {});
  kubeApiserver = binaries['kube-apiserver'] ?? '';
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs the pod that checks this spec as a process, as the kubelet would, and reads its verdict. */
async function check(spec: object): Promise<string> {
  const cluster = clusterOf({ spec });
  const facts = { ...knownFacts, apiServerCheck: cluster.spec };
  const objects = renderControlPlane(cluster, facts, 'api-server-check');
  const { spec: pod } = objects.find(({ kind }) => kind === 'Pod') as unknown as Required<V1Pod>;
  const layout = new LaidOutContainer(directory, pod, 'kube-apiserver', objects, {});
  await layout.write(generation.secrets);
  const args = (layout.container.args ?? []).map((arg) => layout.localized(arg));
  const ended = await run([kubeApiserver, ...args], { cwd: directory }).then(
    () => ({ exitCode: 0 }),
    (error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      const exitCode = Number(/exit code (\d+)/.exec(error.message)?.[1]);
      return { exitCode, message: error.stderr.slice(-keptBytes) };
    },
  );
  const verdict = configurationCheckResult(ended);
  return verdict.kind === 'accepted' ? 'accepted' : `${verdict.kind}: ${verdict.message}`;
}

const args = (flags: object) => ({ deployment: { apiServer: { args: flags } } });
const receiver = { server: 'https://a.example.org' };
const audited = (audit: object) => ({
  deployment: { apiServer: { audit: { policy: { rules: [{ level: 'Metadata' }] }, ...audit } } },
});
const provider = { audiences: ['a'], claimMappings: { username: 'claims.sub' } };
const signIn = (changes: object, url = 'https://issuer.example.org') => ({
  oidcProviders: { [url]: { ...provider, ...changes } },
});

test.each<[string, object]>([
  [
    'flags',
    args({ 'event-ttl': '2h', 'enable-admission-plugins': 'AlwaysPullImages', 'feature-gates': 'WatchList=true' }),
  ],
  ['flags, in the format of machines', args({ 'logging-format': 'json' })],
  ['an issuer', signIn({})],
  ['the issuer of most other clusters', signIn({}, issuerByServiceName(clusterOf().network))],
  [
    'an issuer with everything',
    signIn({
      audiences: ['b', 'a'],
      claimValidationRules: [{ expression: 'claims.hd == "example.org"', message: 'another domain' }],
      claimMappings: { username: '"sso:" + claims.sub', groups: 'claims.groups' },
    }),
  ],
  [
    'several issuers of service account tokens, besides one of users',
    {
      ...signIn({}),
      serviceAccountIssuer: {
        issuer: 'https://[2001:db8::1]:6443/c-1',
        acceptedIssuers: ['http://before.example.org', 'kubernetes/serviceaccount'],
      },
    },
  ],
  ['an audit policy', audited({})],
  ['an audit receiver', audited({ webhook: { targets: [{ ...receiver, authentication: { secretName: 'a' } }] } })],
  [
    'several audit receivers',
    audited({ mode: 'blocking-strict', webhook: { targets: [receiver, { server: 'https://b.example.org' }] } }),
  ],
])('a kube-apiserver accepts %s', async (_, spec) => {
  expect(await check(spec)).toBe('accepted');
});

test.each<[string, object, string]>([
  ['an unknown flag', args({ nonsense: '1' }), 'unknown flag: --nonsense'],
  ['a flag of another type', args({ 'event-ttl': 'soon' }), 'invalid argument "soon" for "--event-ttl" flag'],
  [
    'an unknown plugin',
    args({ 'enable-admission-plugins': 'None', 'disable-admission-plugins': 'Any' }),
    '"Any" is unknown',
  ],
  ['an unknown feature', args({ 'feature-gates': 'Any=true' }), 'unrecognized feature gate: Any'],
  [
    'an unknown feature, in the format of machines',
    args({ 'logging-format': 'json', 'runtime-config': 'any/v1=true' }),
    'any/v1',
  ],
  ['a missing file', args({ 'audit-policy-file': '/none.yaml', 'audit-log-path': '-' }), '/none.yaml'],
  ['an expression that does not compile', signIn({ claimMappings: { username: 'claims.sub +' } }), 'claims.sub +'],
  ['an expression of another type', signIn({ claimValidationRules: [{ expression: '1' }] }), 'must evaluate to bool'],
  ['a CA that is none', signIn({ certificateAuthority: '-----BEGIN CERTIFICATE-----\nnone' }), 'certificateAuthority'],
  [
    "the cluster's own issuer",
    signIn({}, issuerAtEndpoint(knownFacts.endpoint)),
    'must not overlap with disallowed issuers',
  ],
  [
    'two ways to sign in',
    { ...signIn({}), ...args({ 'oidc-issuer-url': 'https://x', 'oidc-client-id': 'x' }) },
    'mutually exclusive',
  ],
  ['an audit policy without rules', audited({ policy: { rules: [] } }), '0 rules'],
  [
    'the CA of an audit receiver that is none',
    audited({ webhook: { targets: [{ ...receiver, certificateAuthority: '-----BEGIN CERTIFICATE-----\nnone' }] } }),
    'certificate',
  ],
])('a kube-apiserver refuses %s, and its words are quoted', async (_, spec, words) => {
  const verdict = await check(spec);
  expect(verdict).toMatch(/^refused: /);
  expect(verdict).toContain(words);
});
