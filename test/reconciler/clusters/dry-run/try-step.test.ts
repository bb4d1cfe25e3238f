import { describe, expect, it } from 'vitest';
import { describeRefusals, refusalBy } from '../../../../reconciler/clusters/dry-run/try-step.ts';
import { errorFromStatus, KubeError } from '../../../../reconciler/kube/errors.ts';

function answer(code: number, message: string, reason?: string): KubeError {
  return errorFromStatus('create Pod team/c1-etcd-0', code, { message, ...(reason !== undefined && { reason }) });
}

const exceeded =
  'pods "c1-etcd-0" is forbidden: exceeded quota: quota, requested: limits.cpu=500m,pods=1, used: limits.cpu=1500m,pods=4, limited: limits.cpu=1500m,pods=4';
const refusal = 'pods "c1-etcd-0" is forbidden: no PriorityClass with name typo was found';

describe('the answer about an object that is tried', () => {
  it.each<[what: string, error: unknown, ends: Record<string, number>, refusal: string | undefined]>([
    ['exists already', answer(409, 'pods "c1-etcd-0" already exists', 'AlreadyExists'), {}, undefined],
    ['is forbidden', answer(403, refusal), {}, refusal],
    ['is invalid', answer(422, 'Pod "a" is invalid'), {}, 'Pod "a" is invalid'],
    ['has an unknown field', answer(400, 'unknown field'), {}, 'unknown field'],
    [
      'meets a webhook that does not answer',
      answer(500, 'Internal error occurred: failed calling webhook "a.b": no route'),
      {},
      'Internal error occurred: failed calling webhook "a.b": no route',
    ],
    [
      'meets a webhook that has side effects',
      answer(400, 'admission webhook "a.b" does not support dry run'),
      {},
      undefined,
    ],
    ['exceeds a quota', answer(403, exceeded), {}, exceeded],
    ['exceeds it until enough ends', answer(403, exceeded), { 'limits.cpu': 0.5, pods: 1 }, undefined],
    ['exceeds it by one resource still', answer(403, exceeded), { 'limits.cpu': 0.4, pods: 1 }, exceeded],
  ])('%s', (_, error, ends, words) => {
    expect(refusalBy(error, ends)).toBe(words);
  });

  it.each<[what: string, error: Error]>([
    ['is not decided on', answer(500, 'etcdserver: request timed out')],
    ['gets no answer', new KubeError('create Pod a/b: no answer', { code: 0, reason: 'Timeout' })],
    ['conflicts', answer(409, 'try again', 'Conflict')],
    ['throws something else', new TypeError('a fault of ours')],
  ])('%s, which is an error', (_, error) => {
    expect(() => refusalBy(error, {})).toThrow(error);
  });
});

describe('refusals are one sentence', () => {
  it.each<[what: string, words: string[], sentence: string]>([
    ['with what to do', [refusal], `${refusal}: create the PriorityClass, or correct \`priorityClassName\``],
    ['without advice where none fits', ['Pod "a" is invalid'], 'Pod "a" is invalid'],
    [
      'that names one of several objects with the same cause',
      [refusal, refusal.replace('etcd-0', 'scheduler-dry-run'), 'Pod "a" is invalid'],
      `${refusal} (1 more for the same reason); Pod "a" is invalid: create the PriorityClass, or correct \`priorityClassName\``,
    ],
    [
      'that says each thing once, and not too much',
      ['one', 'one', 'two', 'three', 'four'],
      'one; two; three; and 1 more',
    ],
  ])('%s', (_, words, sentence) => {
    expect(describeRefusals(words)).toBe(sentence);
  });
});
