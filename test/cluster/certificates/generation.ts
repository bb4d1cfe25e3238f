import {
  adminPlan,
  planCAs,
  planCertificates,
  planEtcdCertificates,
} from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import {
  createCA,
  createServiceAccountKey,
  issueCertificate,
  type KeyPair,
  validFor,
} from '../../../reconciler/pki/issue.ts';
import { clusterOf } from '../../support/rendered-cluster.ts';
import type { Content } from './laid-out-pod.ts';

const { secrets } = namesOf('c1');
export const secretNames = secrets;

/** Every CA, key and certificate of control plane `c1`, none of which another generation has. */
export interface Generation {
  readonly cluster: KeyPair;
  readonly etcd: KeyPair;
  readonly proxy: KeyPair;
  readonly serviceAccount: KeyPair;
  /** Pairs by name of the Secret. */
  readonly pairs: ReadonlyMap<string, KeyPair>;
  /** All Secrets that pods mount. */
  readonly secrets: ReadonlyMap<string, Content>;
  /** Another client of a CA. */
  issue(
    certificateAuthority: 'cluster' | 'etcd' | 'proxy',
    commonName: string,
    organizations?: readonly string[],
  ): Promise<KeyPair>;
}

const validity = () => validFor(24 * 60 * 60_000, new Date());

export async function newGeneration(): Promise<Generation> {
  const cluster = clusterOf({
    spec: { exposure: { gateway: { namespace: 'ingress', name: 'shared' } }, inClusterAccess: 'Proxy' },
  });
  const made = await Promise.all(planCAs('c1').map(async (plan) => [plan, await createCA(plan, validity())] as const));
  const caCertificates = new Map(made.map(([{ ca }, pair]) => [ca, pair]));
  const of = (name: 'cluster' | 'etcd' | 'proxy'): KeyPair => {
    const found = caCertificates.get(name);
    if (!found) throw new Error(`no CA ${name} is planned`);
    return found;
  };
  const endpoint = { host: '127.0.0.1', port: 6443 };
  const tunnel = { host: 'tunnel.c1.team.example.org', port: 443 };
  const plans = [
    ...planEtcdCertificates(cluster),
    ...planCertificates(cluster, endpoint, endpoint, tunnel),
    adminPlan('c1'),
  ];
  const pairs = new Map(
    await Promise.all(
      plans.map(async (plan) => [plan.secret, await issueCertificate(plan, of(plan.signer), validity())] as const),
    ),
  );
  const serviceAccount = createServiceAccountKey();
  const signers = new Map(plans.map(({ secret, signer }) => [secret, of(signer).certificate]));
  const content = ({ certificate, key }: KeyPair, signer?: string): Content => ({
    'tls.crt': certificate,
    'tls.key': key,
    ...(signer && { 'ca.crt': signer }),
  });
  return {
    cluster: of('cluster'),
    etcd: of('etcd'),
    proxy: of('proxy'),
    serviceAccount,
    pairs,
    secrets: new Map([
      ...made.map(([{ secret }, pair]) => [secret, content(pair)] as const),
      [secrets.serviceAccount, content(serviceAccount)] as const,
      ...[...pairs].map(([secret, pair]) => [secret, content(pair, signers.get(secret))] as const),
    ]),
    issue: (certificateAuthority, commonName, organizations = []) =>
      issueCertificate(
        { commonName, organizations, usages: ['client'], hosts: [] },
        of(certificateAuthority),
        validity(),
      ),
  };
}

/** The pair of a Secret. @throws if there is none */
export function pairIn({ pairs }: Generation, secret: string): KeyPair {
  const found = pairs.get(secret);
  if (!found) throw new Error(`no certificate ${secret} is planned`);
  return found;
}
