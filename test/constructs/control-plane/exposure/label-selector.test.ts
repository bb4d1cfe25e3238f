import type { k8s } from 'cdk8s-plus-30';
import { expect, it } from 'vitest';
import { selects } from '../../../../constructs/control-plane/exposure/listener.ts';

const labels = { tier: 'gold', region: 'north', empty: '' };
const where = (key: string, operator: string, ...values: string[]): k8s.LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

it.each<[string, k8s.LabelSelector, boolean]>([
  ['everything if it is empty', {}, true],
  ['a label with its value', { matchLabels: { tier: 'gold' } }, true],
  ['no other value', { matchLabels: { tier: 'silver' } }, false],
  ['no label that is absent', { matchLabels: { team: 'a' } }, false],
  ['all labels only', { matchLabels: { tier: 'gold', region: 'south' } }, false],
  ['a value In the list', where('tier', 'In', 'silver', 'gold'), true],
  ['no value outside of it', where('tier', 'In', 'silver'), false],
  ['nothing In a list where the label is absent', where('team', 'In', 'a'), false],
  ['a value NotIn the list', where('tier', 'NotIn', 'silver'), true],
  ['no value in it', where('tier', 'NotIn', 'gold'), false],
  ['an absent label as NotIn any list', where('team', 'NotIn', 'a'), true],
  ['a label that Exists, even without a value', where('empty', 'Exists'), true],
  ['no label that does not', where('team', 'Exists'), false],
  ['a label that DoesNotExist', where('team', 'DoesNotExist'), true],
  ['no label that does', where('empty', 'DoesNotExist'), false],
  ['nothing for an unknown operator', where('tier', 'Gt', '1'), false],
  ['what both kinds of terms select', { ...where('region', 'Exists'), matchLabels: { tier: 'gold' } }, true],
  ['nothing that one of them excludes', { ...where('region', 'DoesNotExist'), matchLabels: { tier: 'gold' } }, false],
])('a label selector selects %s', (_, selector, expected) => {
  expect(selects(selector, labels)).toBe(expected);
});
