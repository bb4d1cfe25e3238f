import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { withManagementIssuer } from '../../../constructs/cluster/management-issuer.ts';
import type { Sample } from '../../../constructs/sample.ts';

/**
 * Two inputs of a render that are equal in everything that a user can read, and differ in everything that only the operator knows:
 * addresses, fingerprints, the state of etcd, and its own options. Where their renders are equal, nothing of that matters.
 */
export function withOperatorsFacts({ cluster, facts }: Sample): readonly [Sample, Sample] {
  const one = (mark: number): Sample => ({
    cluster: withManagementIssuer(cluster, { url: `https://issuer-${mark}.example.com` }),
    facts: { ...facts, ...unknown(cluster, facts, mark) },
  });
  return [one(1), one(2)];
}

function unknown(cluster: HostedCluster, facts: Facts, mark: number): Partial<Facts> {
  const endpoint = { host: `endpoint-${mark}.example.com`, port: 30_000 + mark };
  const address = `192.0.2.${mark}`;
  return {
    endpoint,
    ...(facts.konnectivityEndpoint ? { konnectivityEndpoint: endpoint } : {}),
    ...(facts.tunnelEndpoint ? { tunnelEndpoint: endpoint } : {}),
    ...(facts.advertiseAddress ? { advertiseAddress: address } : {}),
    serviceAddress: facts.serviceAddress && { ip: address },
    managementNetwork: { denied: [`${address}/32`] },
    operatorNamespace: `operator-${mark}`,
    operatorImage: `operator:${mark}`,
    serviceAccountIssuers: [`https://service-accounts-${mark}.example.com`],
    clusterCA: `CA ${mark}`,
    // One text of a pod template has this and all fingerprints.
    rolloutAfter: `2026-11-0${mark}T00:00:00Z`,
    etcd: {
      isFormed: true,
      pods: cluster.spec.etcd.replicas,
      initialClusters: {},
      volumeSize: `${mark}Gi`,
      templateVolumeSize: `${mark}Gi`,
      templateStorageClass: `class-${mark}`,
    },
    etcdRestore: undefined,
    etcdVerify: undefined,
    apiServerCheck: undefined,
  };
}
