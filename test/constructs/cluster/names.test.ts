import { describe, expect, it } from 'vitest';
import { objectRules } from '../../../constructs/api/hosted-control-plane-rules.ts';
import { etcdMember, etcdVolumeClaim, maxClusterNameLength, namesOf } from '../../../constructs/cluster/names.ts';

/** Everything for a Cluster of this name that Kubernetes limits to 63 characters. */
function boundedNames(cluster: string): string[] {
  const { apiService, etcdPeerService, etcdClientService, etcd } = namesOf(cluster);
  const longestHash = '4294967295';
  return [apiService, etcdPeerService, etcdClientService, etcdMember(cluster, 4), `${etcd}-${longestHash}`, cluster];
}

describe('names', () => {
  it('fit into labels for the longest allowed Cluster name, and not for a longer one', () => {
    const lengths = (length: number) => boundedNames('c'.repeat(length)).map((name) => name.length);
    expect(Math.max(...lengths(maxClusterNameLength))).toBe(63);
    expect(Math.max(...lengths(maxClusterNameLength + 1))).toBe(64);
  });

  it('leave room for a suffix of a topology in the name of a HostedControlPlane, which is a label value', () => {
    const bound = objectRules.map(({ rule }) => /size\(self\.metadata\.name\) <= (\d+)/.exec(rule)?.[1]).find(Boolean);
    expect(Number(bound)).toBe(63);
    expect(maxClusterNameLength + '-x7k2p'.length).toBeLessThanOrEqual(Number(bound));
  });

  it('are all different, except that a Secret may have the name of an object of another kind', () => {
    const { secrets, ...objects } = namesOf('c1');
    expect(new Set(Object.values(secrets)).size).toBe(Object.values(secrets).length);
    expect(new Set(Object.values(objects)).size).toBe(Object.values(objects).length);
  });

  it('start Services with a letter, whatever the name of the Cluster starts with', () => {
    const { apiService, etcdPeerService, etcdClientService } = namesOf('2-clusters');
    for (const name of [apiService, etcdPeerService, etcdClientService]) expect(name).toMatch(/^[a-z]/);
  });

  it("follow Cluster API's convention for Secrets that others look up", () => {
    const { clusterCA, etcdCA, frontProxyCA, serviceAccount, kubeconfig } = namesOf('c1').secrets;
    expect([clusterCA, etcdCA, frontProxyCA, serviceAccount, kubeconfig]).toEqual([
      'c1-ca',
      'c1-etcd',
      'c1-proxy',
      'c1-sa',
      'c1-kubeconfig',
    ]);
  });

  it('of volume claims are those that the StatefulSet controller uses', () => {
    expect(etcdVolumeClaim('c1', 2)).toBe('etcd-data-c1-etcd-2');
  });
});
