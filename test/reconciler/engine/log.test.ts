import { expect, it } from 'vitest';
import { createLogger, type Logger, type LogOptions } from '../../../reconciler/engine/log.ts';

const wrapped = new Error('apply Deployment a/b', { cause: new Error('refused', { cause: new Error('no quota') }) });

function linesOf(options: LogOptions, write: (log: Logger) => void): string[] {
  const lines: string[] = [];
  write(createLogger(options, { write: (line) => lines.push(line) }));
  return lines;
}

it('the logger writes JSON with time, level and message, and nothing about the machine', () => {
  const [line = ''] = linesOf({ format: 'json', level: 'info' }, (log) => log.info({ condition: 'Ready' }, 'changed'));
  expect(JSON.parse(line)).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    condition: 'Ready',
    msg: 'changed',
  });
});

it('the logger writes text for people, one line each', () => {
  const lines = linesOf({ format: 'text', level: 'info' }, (log) => {
    log.warn({ condition: 'Ready', message: 'two\nlines' }, 'changed');
    log.info('leading');
  });
  const time = String.raw`\d\d:\d\d:\d\d\.\d{3}`;
  expect(lines[0]).toMatch(new RegExp(String.raw`^${time} WARN  changed condition="Ready" message="two\\nlines"\n$`));
  expect(lines[1]).toMatch(new RegExp(String.raw`^${time} INFO  leading\n$`));
});

it.each(['json', 'text'] as const)(
  'the logger writes the whole chain of causes of an error, and nothing else of it: %s',
  (format) => {
    const error = Object.assign(wrapped, { body: { data: { 'tls.key': 'secret' } } });
    const [line = ''] = linesOf({ format, level: 'info' }, (log) => log.error({ error }, 'failed'));
    expect(line).toContain('apply Deployment a/b: refused: no quota');
    expect(line).not.toMatch(/secret|stack|log\.test/);
  },
);

it('the logger writes a thrown value that is not an error', () => {
  const [line = ''] = linesOf({ format: 'json', level: 'info' }, (log) => log.error({ error: 'text' }, 'failed'));
  expect(JSON.parse(line)).toMatchObject({ error: 'text' });
});

it('the logger omits lines below its level', () => {
  const lines = linesOf({ format: 'json', level: 'warn' }, (log) => {
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
  });
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['c', 'd']);
});

it('the logger keeps fields of a child on every line', () => {
  const [line = ''] = linesOf({ format: 'json', level: 'info' }, (log) => log.child({ cluster: 'c1' }).info('x'));
  expect(JSON.parse(line)).toMatchObject({ cluster: 'c1' });
});
