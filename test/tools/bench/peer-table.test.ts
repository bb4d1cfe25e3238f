import { expect, it } from 'vitest';
import { withPeers } from './peer-table.ts';
import type { Result } from './result.ts';

const result = (date: string, ...figures: Result['figures']): Result => ({
  part: 'control-planes',
  date,
  machine: { cores: 2 },
  extent: {},
  figures,
});
const rows = [
  { what: 'ready', own: 'ready', peers: ['40 s'] },
  { what: 'at rest', own: 'calls', peers: ['9'] },
  { what: 'memory', own: 'memory', peers: [''] },
];

it('the newest kept figures are beside those of others, and what nothing was kept of is missing', () => {
  const two = '2 API servers, 3 etcd members: ready';
  const text = withPeers('<!-- peers --><!-- /peers -->', { columns: ['other'], rows }, [
    result('2026-11-23', { name: two, value: 18, unit: 's' }, { name: 'calls', value: 0.5, unit: '' }),
    result('2026-11-27', { name: two, value: 12.1, unit: 's' }),
  ]);
  expect(text.split('\n').filter((line) => line !== '')).toEqual([
    '<!-- peers -->',
    '|  | here 2 + 3 | here 1 + 1 | other |',
    '| --- | --- | --- | --- |',
    '| ready | 12.1 s | missing | 40 s |',
    '| at rest | 0.5 | 0.5 | 9 |',
    '| memory | missing | missing |  |',
    'Measured here: control-planes on 2026-11-27, on 2 cores; control-planes on 2026-11-23, on 2 cores.',
    'No kept result here has yet: ready; memory.',
    '<!-- /peers -->',
  ]);
});
