import { describe, expect, it } from 'vitest';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import { renderWorkload } from '../../../../constructs/workload/chart.ts';
import { gravest, objectChanges, specChanges, jsonChanges } from '../../../../reconciler/cli/diff/effects.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { hostedCluster } from '../../../support/scope.ts';

const before = hostedCluster({});
const changesWith = (spec: object) => {
  const after = hostedCluster(spec);
  return [
    ...objectChanges(renderControlPlane(before, knownFacts), renderControlPlane(after, knownFacts), 'management'),
    ...objectChanges(renderWorkload(before, knownFacts), renderWorkload(after, knownFacts), 'hosted'),
  ].map(({ object, effect }) => `${object}: ${effect}`);
};

describe('a change of a spec', () => {
  it.each<[string, object, string[]]>([
    [
      'of flags restarts that component',
      { deployment: { scheduler: { args: { v: '4' } } } },
      ['Deployment c1-scheduler: rolling restart'],
    ],
    ['of replicas restarts nothing', { replicas: 4 }, ['Deployment c1-api-server: pods added or removed']],
    [
      'of the Corefile restarts CoreDNS, and nothing of the control plane',
      { coredns: { corefile: '.:53 { health }' } },
      [
        'ConfigMap kube-system/coredns: hot reload',
        'Deployment kube-system/coredns: rolling restart',
        'NetworkPolicy kube-system/coredns: no restart',
      ],
    ],
    ['of what only decides changes no object', { etcd: { replicas: 3, volumeRetention: 'Retain' } }, []],
  ])('%s', (_, spec, expected) => {
    expect(changesWith(spec)).toEqual(expected);
  });

  it('has the gravest effect of all its fields', () => {
    const [restore, replicas] = [{ etcd: { restore: { backup: 'a' } } }, { replicas: 3 }].map((after) =>
      specChanges({ etcd: {}, replicas: 2 }, { etcd: {}, replicas: 2, ...after }),
    );
    expect(restore?.map(({ path, effect }) => [path, effect])).toEqual([['etcd.restore', 'data at risk']]);
    expect(gravest([...(replicas ?? []), { effect: 'rolling restart' }, ...(restore ?? [])])).toBe('data at risk');
    expect(gravest([])).toBeUndefined();
  });
});

describe('differences of JSON', () => {
  it.each<[string, unknown, unknown, string[]]>([
    ['a field', { a: 1, b: 2 }, { a: 1, b: 3 }, ['b: 2 -> 3']],
    [
      'an entry with a name',
      [{ name: 'a', v: 1 }, { name: 'b' }],
      [{ name: 'b' }, { name: 'a', v: 2 }],
      ['[a].v: 1 -> 2'],
    ],
    ['entries that come and go', ['--v=2', '--x'], ['--x', '--v=4'], ['[]: "--v=2" -> "--v=4"']],
    ['an object that comes', undefined, { kind: 'A' }, [': undefined -> {"kind":"A"}']],
    ['nothing', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ])('%s', (_, one, other, expected) => {
    const found = jsonChanges(one, other);
    expect(
      found.map(({ path, before: b, after }) => `${path}: ${JSON.stringify(b)} -> ${JSON.stringify(after)}`),
    ).toEqual(expected);
  });
});
