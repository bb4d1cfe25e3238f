import { describe, expect, it } from 'vitest';
import { objectRules } from '../../../constructs/api/hosted-control-plane-rules.ts';
import { etcdMember, etcdVolumeClaim, maxClusterNameLength, namesOf } from '../../../constructs/cluster/names.ts';

/** Everything that Kubernetes bounds to 63 characters, as it comes out for a Cluster of this name. */
function boundedNames(cluster: string): string[] {
  const { apiService, etcdPeerService, etcdClientService, etcd } = namesOf(cluster);
  const longestHash = '4294967295';
  return [apiService, etcdPeerService, etcdClientService, etcdMember(cluster, 4), `${etcd}-${longestHash}`, cluster];
}

describe('names', () => {
  it('fit into labels for the longest Cluster name there may be, and for no longer one', () => {
    const lengths = (length: number) => boundedNames('c'.repeat(length)).map((name) => name.length);
    expect(Math.max(...lengths(maxClusterNameLength))).toBe(63);
    expect(Math.max(...lengths(maxClusterNameLength + 1))).toBe(64);
  });

  it('leave a HostedControlPlane whose name is a label value room for a suffix of a topology', () => {
    const bound = objectRules.map(({ rule }) => /size\(self\.metadata\.name\) <= (\d+)/.exec(rule)?.[1]).find(Boolean);
    expect(Number(bound)).toBe(63);
    expect(maxClusterNameLength + '-x7k2p'.length).toBeLessThanOrEqual(Number(bound));
  });

  it('are all different, but for a Secret that may be called as something of another kind', () => {
    const { secrets, ...objects } = namesOf('c1');
    expect(new Set(Object.values(secrets)).size).toBe(Object.values(secrets).length);
    expect(new Set(Object.values(objects)).size).toBe(Object.values(objects).length);
  });

  it('begin Services with a letter, whatever the Cluster begins with', () => {
    const { apiService, etcdPeerService, etcdClientService } = namesOf('2-clusters');
    for (const name of [apiService, etcdPeerService, etcdClientService]) expect(name).toMatch(/^[a-z]/);
  });

  it("follow Cluster API's convention where others look Secrets up", () => {
    const { clusterCA, etcdCA, frontProxyCA, serviceAccount, kubeconfig } = namesOf('c1').secrets;
    expect([clusterCA, etcdCA, frontProxyCA, serviceAccount, kubeconfig]).toEqual([
      'c1-ca',
      'c1-etcd',
      'c1-proxy',
      'c1-sa',
      'c1-kubeconfig',
    ]);
  });

  it('of volume claims are those the StatefulSet controller gives', () => {
    expect(etcdVolumeClaim('c1', 2)).toBe('etcd-data-c1-etcd-2');
  });
});
