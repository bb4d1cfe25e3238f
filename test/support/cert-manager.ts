import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Namespace, type Resource, Secret } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KeyPair } from '../../reconciler/pki/issue.ts';
import { findFurtherBinaries } from '../tools/testbed/binaries.ts';
import { certManager } from '../tools/testbed/families.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { ChildProgram } from './child-program.ts';
import { until } from './until.ts';

const fieldManager = 'test';

/** The namespace where ClusterIssuers look up their Secrets. */
export const clusterIssuerNamespace = 'cert-manager';

const issuerOf = (kind: 'Issuer' | 'ClusterIssuer'): Resource => ({
  apiVersion: 'cert-manager.io/v1',
  kind,
  plural: kind === 'Issuer' ? 'issuers' : 'clusterissuers',
  namespaced: kind === 'Issuer',
});

/** cert-manager's own controllers of CA and SelfSigned issuers, as a process of this test. */
export interface CertManager {
  stop(): Promise<void>;
}

export interface CertManagerOptions {
  readonly kubeconfig: string;
  /** Whether every request is approved, which is cert-manager's behaviour unless it is configured to leave approval to others. */
  readonly approves?: boolean;
}

/** Starts them. The first start compiles them, which takes some minutes. Their CRDs must be installed. */
export async function startCertManager({ kubeconfig, approves = true }: CertManagerOptions): Promise<CertManager> {
  const { cache } = instanceFrom(process.env);
  const binaries = await findFurtherBinaries([certManager], cache, (line) => console.log(line));
  const directory = await mkdtemp(join(tmpdir(), 'cert-manager-'));
  const log = join(directory, 'log');
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--cluster-resource-namespace=${clusterIssuerNamespace}`,
    `--approve=${approves}`,
  ];
  const child = new ChildProgram(binaries['cert-manager'] ?? '', args, { log });
  await until(
    'cert-manager to start',
    () => {
      const text = readFileSync(log, 'utf8');
      if (!child.isRunning) throw new Error(`cert-manager ended: ${text}`);
      return text.includes('controllers: ');
    },
    60_000,
  );
  return {
    async stop() {
      await child.end('SIGTERM');
      await rm(directory, { recursive: true });
    },
  };
}

/** Creates an issuer that signs with this CA. @param namespace of an Issuer; a ClusterIssuer when undefined */
export async function createIssuer(
  client: KubeClient,
  name: string,
  { certificate, key }: KeyPair,
  namespace?: string,
): Promise<void> {
  const place = namespace ?? clusterIssuerNamespace;
  const options = { fieldManager, force: true };
  if (!namespace) {
    const { apiVersion, kind } = Namespace;
    await client.apply({ apiVersion, kind, metadata: { name: place } }, options);
  }
  const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');
  const secret = {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: { name: `${name}-root`, namespace: place },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
  };
  await client.apply(secret, options);
  const resource = issuerOf(namespace ? 'Issuer' : 'ClusterIssuer');
  const issuer = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { name, ...(namespace ? { namespace } : {}) },
    spec: { ca: { secretName: `${name}-root` } },
  };
  await client.apply(issuer, { ...options, resource });
}
