import { expect, it } from 'vitest';
import { isWait, waitWhilePodsChange } from '../tools/testbed/kubectl-wait.ts';

const waiting = ['--kubeconfig', 'hosted', 'wait', 'pod/a', '--for=condition=Ready', '--timeout=60s'];

/** A cluster whose pods have these states, one after the other, and whose wait ends so each time. */
function cluster(states: readonly string[], ends: readonly string[]) {
  const asked: string[] = [];
  const left = [...states];
  const kubectl = async (args: readonly string[]) => {
    if (args.includes('get')) {
      if (args[1] !== 'hosted') throw new Error('pods of another cluster');
      return left.length > 1 ? (left.shift() ?? '') : (left[0] ?? '');
    }
    const end = ends[Math.min(asked.push(args.join(' ')), ends.length) - 1] ?? '';
    if (end !== 'ready') throw new Error(end);
    return end;
  };
  return { kubectl, rounds: () => asked.length };
}
const timeout = 'error: timed out waiting for the condition on pods/a';

it.each<[what: string, states: readonly string[], ends: readonly string[], end: string, rounds: number]>([
  ['ends at once', ['Pending'], ['ready'], 'ready', 1],
  ['goes on while pods change', ['Pending', 'Creating', 'Running'], [timeout, timeout, 'ready'], 'ready', 3],
  ['ends at its limit when they do not', ['Pending', 'Creating'], [timeout], timeout, 2],
  ['ends with any other error', ['Pending', 'Running'], ['pods "a" not found'], 'not found', 1],
  ['ends if they restart for ever', Array.from({ length: 30 }, (_, index) => `${index}`), [timeout], timeout, 10],
])('a wait by kubectl %s', async (_what, states, ends, end, rounds) => {
  const { kubectl, rounds: asked } = cluster(states, ends);
  const answer = await waitWhilePodsChange(kubectl, waiting).catch((error: unknown) => String(error));
  expect(answer).toContain(end);
  expect(asked()).toBe(rounds);
});

it.each([
  [waiting, true],
  [['rollout', 'status', 'deployment/a', '--timeout=180s'], true],
  [['delete', 'machine', 'a', '--timeout=180s'], false],
  [['wait', 'pod/a', '--for=condition=Ready'], false],
])('kubectl %j waits: %s', (args, expected) => expect(isWait(args)).toBe(expected));
