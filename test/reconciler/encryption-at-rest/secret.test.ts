import { describe, expect, it } from 'vitest';
import { adopt, keysIn, reconfigured } from '../../../reconciler/encryption-at-rest/secret.ts';
import { identity, type Key, newKey, type Provider } from '../../../reconciler/encryption-at-rest/configuration.ts';
import { now } from '../../support/scope.ts';

const [first, second, third] = ['key-1', 'key-2', 'key-3'].map((name): Key => ({ ...newKey(now, []), name })) as [
  Key,
  Key,
  Key,
];
const keys = (providers: readonly Provider[], retired: readonly Key[] = []) =>
  reconfigured({ providers: [], retired }, providers, '');

describe('keys of another cluster', () => {
  it.each<[string, Parameters<typeof adopt>, readonly Key[]]>([
    ['join those that were retired', [keys([first], [second]), [third]], [third, second]],
    ['change no provider if Secrets are stored unencrypted', [keys([identity]), [third, second]], [third, second]],
    ['exclude those that are in use here', [keys([first, identity]), [first, third]], [third]],
    ['exclude those that were in use here', [keys([first], [second]), [second, third]], [third, second]],
  ])('%s', (_, given, retired) => {
    expect(adopt(...given)).toEqual({ kind: 'adopted', keys: { ...given[0], retired } });
  });

  it.each<[string, Parameters<typeof adopt>]>([
    ['there are none', [keys([first]), []]],
    ['all are in use', [keys([first]), [first]]],
    ['all are retired', [keys([identity], [first, second]), [second]]],
  ])('change nothing if %s', (_, given) => {
    expect(adopt(...given)).toEqual({ kind: 'known' });
  });

  it.each<[string, Parameters<typeof adopt>]>([
    ['in use', [keys([first]), [third, { ...third, name: first.name }]]],
    ['retired', [keys([second], [first]), [{ ...third, name: first.name }]]],
  ])('are refused if one has the name of another that is %s here', (_, given) => {
    expect(adopt(...given)).toEqual({ kind: 'clash', name: first.name });
  });

  it('never displace a key of this cluster while they are needed', () => {
    const many = Array.from({ length: 60 }, (_, index): Key => ({ ...first, name: `key-${100 + index}` }));
    const adoption = adopt(keys([first], [second]), many);
    if (adoption.kind !== 'adopted') throw new Error(adoption.kind);
    const readable = reconfigured(adoption.keys, [first, ...adoption.keys.retired, identity], '');
    expect(readable.retired).toEqual([...many, second]);
    expect(reconfigured(readable, [first], '').retired).toHaveLength(50);
  });
});

it('all keys are each of them once, those in use first', () => {
  expect(keysIn(keys([first, identity, second], [third, second]))).toEqual([first, second, third]);
});
