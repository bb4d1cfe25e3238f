import { describe, expect, it } from 'vitest';
import type { ClusterNetwork } from '../../../../constructs/cluster/cluster.ts';
import { networkDifferences, networkInUse } from '../../../../reconciler/clusters/management/network-in-use.ts';

const first: ClusterNetwork = { serviceDomain: 'a.test', services: ['10.1.0.0/16'], pods: ['10.2.0.0/16'] };
const other: ClusterNetwork = { serviceDomain: 'b.test', services: ['10.3.0.0/16'], pods: ['10.4.0.0/16'] };

describe('the networks in use', () => {
  it.each<[string, Parameters<typeof networkInUse>[0], ClusterNetwork]>([
    [
      'are those of the Cluster until workers can join',
      { asked: other, recorded: undefined, isInitialized: false, running: first },
      other,
    ],
    [
      'are what runs where there is no record',
      { asked: other, recorded: undefined, isInitialized: true, running: first },
      first,
    ],
    [
      'are those of the Cluster as far as nothing shows what runs',
      { asked: other, recorded: undefined, isInitialized: true, running: { pods: first.pods } },
      { ...other, pods: first.pods },
    ],
    ['are the recorded ones', { asked: other, recorded: first, isInitialized: true, running: other }, first],
    [
      'are the recorded ones before workers can join: they came with the data',
      { asked: other, recorded: first, isInitialized: false, running: {} },
      first,
    ],
  ])('%s', (_, evidence, expected) => {
    expect(networkInUse(evidence)).toEqual(expected);
  });
});

describe('the differences of a Cluster', () => {
  it.each<[string, Partial<ClusterNetwork>, readonly string[]]>([
    ['none', {}, []],
    ['none for a network that is written with bits of a host', { pods: ['10.2.3.4/16'] }, []],
    ['a longer prefix', { pods: ['10.2.0.0/24'] }, ['pods is 10.2.0.0/24 instead of 10.2.0.0/16']],
    [
      'another IP family',
      { services: ['10.1.0.0/16', 'fd00::/112'] },
      ['services is 10.1.0.0/16, fd00::/112 instead of 10.1.0.0/16'],
    ],
    ['what is no network', { pods: ['10.2.0.0/33'] }, ['pods is 10.2.0.0/33 instead of 10.2.0.0/16']],
    [
      'all of them, in an order that does not change',
      other,
      [
        'pods is 10.4.0.0/16 instead of 10.2.0.0/16',
        'services is 10.3.0.0/16 instead of 10.1.0.0/16',
        'serviceDomain is b.test instead of a.test',
      ],
    ],
  ])('%s', (_, changed, expected) => {
    expect(networkDifferences({ ...first, ...changed }, first)).toEqual(expected);
  });

  it('two families in another order are another network: the first one has the address of the Service kubernetes', () => {
    const dual = { ...first, services: ['10.1.0.0/16', 'fd00::/112'] };
    expect(networkDifferences({ ...dual, services: dual.services.toReversed() }, dual)).toHaveLength(1);
  });
});
