import { expect, it } from 'vitest';
import { type Host, removeRemains } from './remains.ts';

/** A host with these testbeds. Returns which of them are taken down, and what is reported as left behind. */
async function remove(present: readonly string[], host: Partial<Host> = {}) {
  const removed: string[] = [];
  const left = await removeRemains({
    exists: ({ name }) => present.includes(name),
    hasUsers: async () => false,
    takeDown: async ({ name }) => {
      removed.push(name);
      return [];
    },
    ...host,
  });
  return { removed, left };
}

it('the testbeds of a killed run are taken down, and those of its files', async () => {
  const present = ['hcp', 'test', 'testfire', 'testhost', 'testhdemo', 'testtwo'];
  const { removed, left } = await remove(present);
  expect(removed.toSorted()).toEqual(present.filter((name) => name !== 'hcp').toSorted());
  expect(left).toEqual([]);
});

it('a testbed that another run uses stays, with those of its files', async () => {
  const present = ['test', 'testlife', 'testhost', 'testhchar'];
  const { removed } = await remove(present, { hasUsers: async ({ name }) => name === 'test' });
  expect(removed).toEqual(['testhost', 'testhchar']);
});

it('what cannot be taken down is told, and the others are taken down', async () => {
  const removed: string[] = [];
  const { left } = await remove(['testhost', 'test', 'testmove'], {
    takeDown: async ({ name }) => {
      removed.push(name);
      if (name === 'testhost') throw new Error('a process does not end');
      return name === 'test' ? ['link test-br', 'cgroup test-m'] : [];
    },
  });
  expect(removed).toEqual(['testhost', 'test', 'testmove']);
  expect(left).toEqual([
    'testbed testhost left behind: Error: a process does not end',
    'testbed test left behind: link test-br',
    'testbed test left behind: cgroup test-m',
  ]);
});
