import type { EventObject } from '../../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { Event, type Resource } from '../../../../constructs/api/resources.ts';
import type { PageOptions } from '../../../../reconciler/kube/client-options.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { readWarnings, type Unexplained } from '../../../../reconciler/clusters/management/warnings.ts';

const now = new Date('2026-11-23T12:00:00Z');
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();

const event = (note: string, change: Partial<EventObject> = {}): EventObject => ({
  apiVersion: Event.apiVersion,
  kind: Event.kind,
  metadata: { name: note.slice(0, 9) },
  type: 'Warning',
  regarding: { uid: 'u1' },
  reportingController: 'kubelet',
  deprecatedLastTimestamp: ago(60),
  note,
  ...change,
});

/** The warnings from an API server that sends these pages without end, and the requests to it. */
async function told(page: readonly EventObject[] | Error, objects: readonly Unexplained[] = [{ uid: 'u1' }]) {
  const asked: (PageOptions & { readonly pages: number })[] = [];
  async function* pages(_: Resource, options: PageOptions = {}): AsyncGenerator<KubeObject[], void> {
    for (let count = 1; ; count++) {
      asked.push({ ...options, pages: count });
      if (page instanceof Error) throw page;
      yield [...page];
    }
  }
  const warnings = await readWarnings({ pages }, { namespace: 'team', now }, objects);
  return { words: warnings.map(({ words }) => words), asked };
}

it.each<[what: string, change: Partial<EventObject>, isQuoted: boolean]>([
  ['a kubelet', {}, true],
  ['the StatefulSet controller', { reportingController: 'statefulset-controller' }, true],
  ['a client of the older API', { reportingController: '', deprecatedSource: { component: 'kubelet' } }, true],
  ['another program', { reportingController: 'example.org/pods' }, false],
  ['another program beside a kubelet', { reportingController: 'x', deprecatedSource: { component: 'kubelet' } }, false],
  ['a program without a name', { reportingController: '' }, false],
  ['a kubelet, of 20 minutes ago', { deprecatedLastTimestamp: ago(20 * 60) }, false],
])('an event of %s is quoted or not', async (_, change, isQuoted) => {
  expect((await told([event('it fails', change)])).words).toEqual(isQuoted ? ['it fails'] : []);
});

it('the newest event comes first, as one short line without what may be secret', async () => {
  const old = event('an older one', { deprecatedLastTimestamp: ago(90) });
  const long = event(`no\n${'x y '.repeat(5_000)}`);
  const { words } = await told([old, long, event('refused with Bearer abcdef', { deprecatedLastTimestamp: ago(1) })]);
  expect(words).toEqual(['refused with Bearer [removed]', expect.stringMatching(/^no x y [xy ]+…$/), 'an older one']);
  expect(words[1]).toHaveLength(300);
});

it('a few events of a few objects are asked for, and one page of each is read', async () => {
  const objects = ['u1', 'u2', 'u3', 'u4'].map((uid) => ({ uid, reason: 'Unhealthy' }));
  const { asked } = await told([event('no')], objects);
  expect(asked).toEqual(
    ['u1', 'u2', 'u3'].map((uid) => ({
      namespace: 'team',
      fieldSelector: `regarding.uid=${uid},type=Warning,reason=Unhealthy`,
      limit: 20,
      deadlineMs: 5_000,
      pages: 1,
    })),
  );
});

it('nothing is told where the API server does not answer, and other errors are not hidden', async () => {
  expect((await told(new KubeError('list events: no', { code: 403, reason: 'Forbidden' }))).words).toEqual([]);
  await expect(told(new Error('a defect'))).rejects.toThrow('a defect');
});
