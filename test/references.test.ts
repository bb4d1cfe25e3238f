import type { V1KeyToPath, V1PodSpec } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import {
  auditTargets,
  fanOutKubeconfigKey,
  fanOutTokenKey,
  tokenKeyOf,
  usesFanOut,
} from '../constructs/control-plane/api-server/audit/targets.ts';
import type { HostedCluster } from '../constructs/cluster/cluster.ts';
import type { Facts } from '../constructs/cluster/facts.ts';
import { mountsOf } from '../constructs/pod/mounts.ts';
import { namesOf } from '../constructs/cluster/names.ts';
import {
  adminPlan,
  planCAs,
  planCertificates,
  planEtcdCertificates,
} from '../constructs/control-plane/certificates/certificate-plans.ts';
import { renderSamples, workloadsOf } from './support/rendered-objects.ts';

/** One key of a Secret or ConfigMap that a pod wants to see; the key is missing where it wants all of them. */
interface Reference {
  readonly workload: string;
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  readonly key: string | undefined;
}

const samples = (await renderSamples()).map((sample) => ({
  ...sample,
  references: [
    ...workloadsOf(sample.objects).flatMap(({ object, pod }) => referencesOf(object.metadata.name, pod)),
    ...sample.objects
      .filter(({ kind }) => kind === 'Pod')
      .flatMap(({ metadata, spec }) => referencesOf(metadata.name, spec as V1PodSpec)),
  ],
}));

function referencesOf(workload: string, { volumes = [] }: V1PodSpec): Reference[] {
  const keys = (kind: Reference['kind'], name = '', items: readonly Pick<V1KeyToPath, 'key'>[] | undefined) =>
    (items ?? [{ key: undefined }]).map(({ key }) => ({ workload, kind, name, key }));
  return volumes.flatMap(({ secret, configMap, projected }) => [
    ...(secret ? keys('Secret', secret.secretName, secret.items) : []),
    ...(configMap ? keys('ConfigMap', configMap.name, configMap.items) : []),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...(source.secret ? keys('Secret', source.secret.name, source.secret.items) : []),
      ...(source.configMap ? keys('ConfigMap', source.configMap.name, source.configMap.items) : []),
    ]),
  ]);
}

/** Every Secret the operator makes, apart from the kubeconfig; each holds `tls.crt` and `tls.key`, a leaf its signer in `ca.crt`. */
function issuedSecrets(cluster: HostedCluster, { endpoint, konnectivityEndpoint, tunnelEndpoint }: Facts): string[] {
  if (!endpoint || !konnectivityEndpoint) throw new Error(`sample ${cluster.name} has no endpoint`);
  const plans = [
    ...planCAs(cluster.name),
    ...planEtcdCertificates(cluster),
    ...planCertificates(cluster, endpoint, konnectivityEndpoint, tunnelEndpoint),
  ];
  return [...plans.map(({ secret }) => secret), namesOf(cluster.name).secrets.serviceAccount];
}

/** The keys of the Secret with the tokens of audit receivers. */
function auditTokenKeys(cluster: HostedCluster): string[] {
  const targets = auditTargets(cluster);
  const own = usesFanOut(targets) ? [fanOutTokenKey, fanOutKubeconfigKey] : [];
  return [...own, ...targets.filter(({ token }) => token).map(tokenKeyOf)];
}

describe.each(samples)('sample $name', ({ cluster, facts, objects, references }) => {
  const issued = issuedSecrets(cluster, facts);
  const users = mountsOf(cluster.spec.deployment.apiServer.mounts).map(({ kind, object }) => `${kind} ${object}`);
  const ours = references.filter(({ kind, name }) => !users.includes(`${kind} ${name}`));

  it('mounts only Secrets that the operator issues, and only keys they have', () => {
    const encryption = { name: namesOf(cluster.name).secrets.encryption, key: 'config.yaml' };
    const { auditTokens } = namesOf(cluster.name);
    const secrets = ours.filter(
      ({ kind, name }) => kind === 'Secret' && name !== encryption.name && name !== auditTokens,
    );
    const tokens = ours.filter(({ kind, name }) => kind === 'Secret' && name === auditTokens);
    expect(new Set(tokens.map(({ key }) => key))).toEqual(new Set(auditTokenKeys(cluster)));
    const keys = ours.filter(({ kind, name }) => kind === 'Secret' && name === encryption.name);
    expect(keys).toMatchObject(facts.encryptionAtRest ? [encryption] : []);
    expect(secrets.length).toBeGreaterThan(10);
    expect(secrets.filter(({ name }) => !issued.includes(name))).toEqual([]);
    const signers = secrets.filter(({ key }) => key === 'ca.crt');
    expect(signers.map(({ name }) => name)).toEqual([namesOf(cluster.name).secrets.controllerManager]);
    const others = secrets.filter((reference) => !signers.includes(reference));
    expect(others.filter(({ key }) => key !== 'tls.crt' && key !== 'tls.key')).toEqual([]);
  });

  it('mounts only ConfigMaps of the chart, and only keys they have', () => {
    const present = new Map(
      objects
        .filter(({ kind }) => kind === 'ConfigMap')
        .map(({ metadata, data }) => [metadata.name, Object.keys(data as object)]),
    );
    const wanted = ours.filter(({ kind }) => kind === 'ConfigMap');
    expect(new Set(wanted.map(({ name }) => name))).toEqual(new Set(present.keys()));
    const absent = wanted.filter(({ name, key }) => key !== undefined && !present.get(name)?.includes(key));
    expect(absent).toEqual([]);
  });

  it('finds every file of the user where the user wants it', () => {
    expect(users.filter((user) => !references.some(({ kind, name }) => `${kind} ${name}` === user))).toEqual([]);
  });

  it('issues no certificate that nobody uses', () => {
    const { controller, etcdController, kubeconfig } = namesOf(cluster.name).secrets;
    const mounted = new Set(references.map(({ name }) => name));
    // The operator itself is those clients; the administrator's certificate is inside a kubeconfig.
    expect(issued.filter((secret) => !mounted.has(secret))).toEqual([etcdController, controller]);
    expect(adminPlan(cluster.name).secret).toBe(kubeconfig);
    expect(mounted).not.toContain(kubeconfig);
  });

  it('shows the key of an authority to nobody but the one that signs with it', () => {
    const { apiServer, apiServerCheck, controllerManager, secrets } = namesOf(cluster.name);
    const caCertificates = [...planCAs(cluster.name).map(({ secret }) => secret), secrets.serviceAccount];
    const readers = references.filter(({ name, key }) => caCertificates.includes(name) && key !== 'tls.crt');
    expect(readers.map(({ workload, name }) => `${workload} reads ${name}`).sort()).toEqual([
      `${apiServer} reads ${secrets.serviceAccount}`,
      ...(facts.apiServerCheck ? [`${apiServerCheck} reads ${secrets.serviceAccount}`] : []),
      `${controllerManager} reads ${secrets.clusterCA}`,
      `${controllerManager} reads ${secrets.serviceAccount}`,
    ]);
  });
});
