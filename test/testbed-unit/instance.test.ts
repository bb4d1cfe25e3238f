import { expect, test } from 'vitest';
import { instanceFrom, lanCidr, linkName, podCidr, serviceCidr } from '../tools/testbed/instance.ts';

test('the everyday instances have the first addresses', () => {
  const [person, tests] = [instanceFrom({}), instanceFrom({}, 'test')];
  expect([lanCidr(person), serviceCidr(person), podCidr(person, 2)]).toEqual([
    '172.30.0.0/24',
    '10.96.0.0/16',
    '10.240.2.0/24',
  ]);
  expect([lanCidr(tests), serviceCidr(tests), podCidr(tests, 2)]).toEqual([
    '172.30.1.0/24',
    '10.97.0.0/16',
    '10.241.2.0/24',
  ]);
});

test('any other instance has its own addresses, which stay the same', () => {
  const names = ['dev', 'demo', 'bench', 'a', 'zzzzzzzzz'];
  for (const name of names) {
    const { index } = instanceFrom({}, name);
    expect(index).toBeGreaterThanOrEqual(2);
    expect(index).toBeLessThanOrEqual(15);
    expect(instanceFrom({ HCP_TESTBED: name }).index).toBe(index);
  }
});

test('the longest name still makes valid link names', () => {
  expect(linkName(instanceFrom({}, 'abcdefghi'), 199).length).toBeLessThanOrEqual(15);
});

test.for(['', 'Hcp', 'a-b', '1st', 'abcdefghij', '../up'])('the name "%s" is refused', (name) => {
  expect(() => instanceFrom({ HCP_TESTBED: name })).toThrow('at most nine lower-case letters');
});

test('directories follow the environment', () => {
  const instance = instanceFrom({ HCP_TESTBED: 'dev', HCP_TESTBED_STATE: '/state', XDG_CACHE_HOME: '/cache' });
  expect(instance.directory).toBe('/state/dev');
  expect(instance.cache).toBe('/cache/hosted-control-plane-testbed');
  expect(instanceFrom({ HCP_TESTBED_CACHE: '/elsewhere', XDG_CACHE_HOME: '/cache' }).cache).toBe('/elsewhere');
});
