import { expect, it } from 'vitest';
import { workload } from '../../../../reconciler/phases/workload/setup.ts';
import type { HostedClient } from '../../../../reconciler/clusters/hosted/hosted-client.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { scopeOf } from '../../../support/scope.ts';

it.each<[string, Partial<HostedClient>, object]>([
  ['work', { controllersWork: () => true }, { kind: 'done' }],
  ['have not been looked for yet', { controllersWork: () => undefined }, { reason: 'NotObserved', afterMs: undefined }],
  [
    'do not work yet, which a watch will report',
    { controllersWork: () => false },
    { reason: 'WaitingForControllers', afterMs: undefined },
  ],
])('evaluates a hosted cluster whose controllers %s', async (_, hosted, expected) => {
  expect(await workload.run(scopeOf(new MemoryObjects(), { hosted }))).toMatchObject(expected);
});
