import { describe, expect, it } from 'vitest';
import type { HostedCluster } from '../../../../constructs/cluster/cluster.ts';
import { releaseOf } from '../../../../constructs/cluster/release-revisions.ts';
import { nodeNetworkFlags } from '../../../../constructs/control-plane/controllers/node-networks.ts';
import { overruledSettings } from '../../../../constructs/ineffective-settings.ts';
import { clusterOf } from '../../../support/rendered-cluster.ts';

interface Given {
  readonly pods: readonly string[];
  readonly args?: Readonly<Record<string, string>>;
  readonly revision?: number;
}

function clusterWith({ pods, args = {}, revision }: Given): HostedCluster {
  const spec = { deployment: { controllerManager: { args } } };
  const cluster = clusterOf({ network: { pods: { cidrBlocks: [...pods] } }, spec });
  return revision === undefined ? cluster : { ...cluster, release: releaseOf(36, revision) };
}

const flagsOf = (given: Given) =>
  Object.fromEntries(nodeNetworkFlags(clusterWith(given)).map(([name, value]) => [name, value]));

describe('the networks of nodes', () => {
  it.each<[pods: string, size: string | undefined]>([
    ['10.0.0.0/8', undefined],
    ['10.0.0.0/16', undefined],
    ['10.0.0.0/24', undefined],
    ['10.0.0.0/25', '28'],
    ['10.0.0.0/30', '32'],
    ['8.0.0.0/7', '23'],
    ['fd00::/48', undefined],
    ['fd00::/64', undefined],
    ['fd00::/108', '120'],
    ['fd00::/112', '120'],
    ['fd00::/40', '56'],
  ])('of %s have the size %s', (pods, size) => {
    const asked = size === undefined ? {} : { 'node-cidr-mask-size': size };
    expect(flagsOf({ pods: [pods] })).toEqual({ 'allocate-node-cidrs': 'true', ...asked });
  });

  // As the controller manager reads them: it exits at any other.
  it.each([
    ...Array.from({ length: 25 }, (_, i) => `10.0.0.0/${i + 8}`),
    ...Array.from({ length: 100 }, (_, i) => `fd00::/${i + 13}`),
  ])('of %s are within it, and at most 65,536', (pods) => {
    const bits = Number(pods.split('/')[1]);
    const size = Number(flagsOf({ pods: [pods] })['node-cidr-mask-size'] ?? (pods.includes(':') ? 64 : 24));
    expect([size >= bits, size - bits <= 16]).toEqual([true, true]);
  });

  it('have one flag for each IP family of two', () => {
    expect(flagsOf({ pods: ['10.0.0.0/26', 'fd00::/108'] })).toEqual({
      'allocate-node-cidrs': 'true',
      'node-cidr-mask-size-ipv4': '29',
      'node-cidr-mask-size-ipv6': '120',
    });
  });

  it('are those that the user asks for, or none', () => {
    expect(flagsOf({ pods: ['10.0.0.0/25'], args: { 'node-cidr-mask-size': '26' } })).toEqual({
      'allocate-node-cidrs': 'true',
    });
    expect(flagsOf({ pods: ['10.0.0.0/16'], args: { 'allocate-node-cidrs': 'false' } })).toEqual({});
  });

  it('stay as they were by an earlier release revision, and the condition says what to set', () => {
    const before = { pods: ['10.0.0.0/25'], revision: 3 };
    expect(flagsOf({ ...before, args: { 'allocate-node-cidrs': 'false' } })).toEqual({ 'allocate-node-cidrs': 'true' });
    expect(overruledSettings(clusterWith(before), {})).toEqual([
      expect.stringContaining(
        "10.0.0.0/25, does not fit the size of a node's network: set node-cidr-mask-size in args",
      ),
    ]);
    const sized = { ...before, args: { 'node-cidr-mask-size': '27' } };
    expect(overruledSettings(clusterWith(sized), {})).toEqual([]);
    expect(overruledSettings(clusterWith({ pods: ['10.0.0.0/25'], revision: 4 }), {})).toEqual([]);
  });
});
