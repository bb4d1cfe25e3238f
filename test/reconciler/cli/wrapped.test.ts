import { describe, expect, it } from 'vitest';
import { columns, table } from '../../../reconciler/cli/columns.ts';
import { plainView } from '../../../reconciler/cli/view.ts';
import { cut, hanging, wrapped } from '../../../reconciler/cli/wrapped.ts';
import { narrowView } from '../../support/marked-view.ts';

const red = (text: string) => `\u001B[31m${text}\u001B[39m`;

describe('a wrapped text', () => {
  const text = 'pod c1-scheduler-x: container kube-scheduler ended with exit code 1';

  it('is one line without a width, however long it is', () => {
    expect(wrapped(text, undefined, { first: '  ' })).toEqual([`  ${text}`]);
  });

  it('is divided between words, and each line is indented like the first', () => {
    expect(wrapped(text, 30, { first: '  ' })).toEqual([
      '  pod c1-scheduler-x:',
      '  container kube-scheduler',
      '  ended with exit code 1',
    ]);
  });

  it('fills a line to its last character', () => {
    expect(wrapped('abc def', 7, {})).toEqual(['abc def']);
    expect(wrapped('abc def', 6, {})).toEqual(['abc', 'def']);
  });

  it('never divides a name, which a person copies', () => {
    expect(wrapped('Secret a-very-long-name-of-a-secret lacks tls.crt', 20, hanging)).toEqual([
      'Secret',
      '  a-very-long-name-of-a-secret',
      '  lacks tls.crt',
    ]);
  });

  it('keeps its own lines', () => {
    expect(wrapped('one\ntwo', 20, { first: '- ' })).toEqual(['- one', '  two']);
  });

  it('is as wide as it is without its colours', () => {
    expect(wrapped(`${red('abc')} ${red('def')}`, 7, {})).toEqual([`${red('abc')} ${red('def')}`]);
  });
});

it('a text that is cut ends with an ellipsis, in the room that it has', () => {
  expect(cut('one two', 7)).toBe('one two');
  expect(cut('one two', 6)).toBe('one t…');
  expect(cut('one two', 5)).toBe('one…');
});

describe('a table', () => {
  const rows = [
    ['NAME', 'STATE', 'MESSAGE'],
    ['a', 'waits', 'the pods of etcd are not ready yet'],
  ];

  it('has columns as wide as their texts are without their colours', () => {
    expect(columns([...rows, ['long-name', red('fails'), 'x']])).toEqual([
      'NAME        STATE   MESSAGE',
      'a           waits   the pods of etcd are not ready yet',
      `long-name   ${red('fails')}   x`,
    ]);
  });

  it('has prose in its last column cut to the width of the terminal, down to some words', () => {
    expect(table(rows, narrowView(40), 'prose')).toEqual([
      'NAME   STATE   MESSAGE',
      'a      waits   the pods of etcd are not…',
    ]);
    expect(table(rows, narrowView(10), 'prose')[1]).toBe('a      waits   the pods of etcd ar…');
  });

  it.each([
    ['without a width', plainView, 'prose'],
    ['with names in its last column', narrowView(40), 'names'],
  ] as const)('is never cut %s', (_, view, last) => {
    expect(table(rows, view, last)[1]).toBe('a      waits   the pods of etcd are not ready yet');
  });
});
