import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { isSignedBy } from '../../reconciler/pki/certificate.ts';
import { createCA, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { type CertManager, createIssuer, startCertManager } from '../support/cert-manager.ts';
import { until } from '../support/until.ts';
import { single } from '../support/workbench.ts';
import { clientOf } from '../tools/testbed/access.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { addWorker, type Worker } from '../tools/testbed/workers.ts';
import { type JoinableCluster, openJoinableCluster } from '../cluster/workers/joinable-cluster.ts';

const dayMs = 24 * 3_600_000;
const issuerRef = { name: 'platform', kind: 'ClusterIssuer' };

let root: KeyPair;
let certManager: CertManager;
let cluster: JoinableCluster;
let worker: Worker;
let directory: string;

beforeAll(async () => {
  root = await createCA({ commonName: 'company root' }, validFor(20_000 * dayMs, new Date()));
  directory = await mkdtemp(join(tmpdir(), 'issued-'));
  cluster = await openJoinableCluster('issuedwork', { ...single, certificates: { issuerRef } }, async (instance) => {
    await installAddon(instance, 'cert-manager-crds', () => {});
    certManager = await startCertManager({ kubeconfig: inject('kubeconfig') });
    const client = await clientOf(instance);
    await createIssuer(client, issuerRef.name, root);
    await client.connection.close();
  });
  await writeFile(join(directory, 'ca.crt'), cluster.api.certificateAuthority);
  worker = await addWorker(cluster.instance, cluster.api);
});
afterAll(async () => {
  await cluster.close();
  await certManager.stop();
  await rm(directory, { recursive: true });
});

/** The output of a program, also if it fails. */
async function outputOf(...[program, ...args]: [string, ...string[]]): Promise<string> {
  const answer = await promisify(execFile)(program, args, { cwd: directory }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  return `${answer.stdout}${answer.stderr}`;
}

test('a node joins by kubeadm, which pins the CA that an issuer has signed, and runs pods with readable logs', async () => {
  expect(splitCertificates(cluster.api.certificateAuthority)).toHaveLength(1);
  expect(isSignedBy(cluster.api.certificateAuthority, root.certificate)).toBe(true);
  const ready = '{.items[*].metadata.name} {.items[*].status.conditions[?(@.type=="Ready")].status}';
  expect(await cluster.kubectl(['get', 'nodes', '--output', `jsonpath=${ready}`])).toBe(`${worker.name} True`);
  const pods = ['--namespace=kube-system', '--selector=k8s-app=kube-dns'];
  await until(
    'logs of CoreDNS through konnectivity',
    () =>
      cluster.kubectl(['logs', ...pods]).then(
        (log) => log.includes('CoreDNS-'),
        () => false,
      ),
    120_000,
  );
});

test('curl trusts the API server by that CA; OpenSSL needs the option for partial chains', async () => {
  const { endpoint } = cluster.api;
  const status = ['--silent', '--show-error', '--output', 'body', '--write-out', '%{http_code}'] as const;
  expect(await outputOf('curl', ...status, '--cacert', 'ca.crt', `https://${endpoint}/version`)).toBe('200');
  const connect = ['s_client', '-connect', endpoint, '-CAfile', 'ca.crt', '-verify_return_error'] as const;
  expect(await outputOf('openssl', ...connect)).toContain('unable to get issuer certificate');
  expect(await outputOf('openssl', ...connect, '-partial_chain')).toContain('Verify return code: 0 (ok)');
});
