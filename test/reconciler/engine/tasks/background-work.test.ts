import { describe, expect, it } from 'vitest';
import { BackgroundWork, type WorkContext } from '../../../../reconciler/engine/tasks/background-work.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** Work that ends when the test ends it. */
function controlled() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let context: WorkContext | undefined;
  const run = (given: WorkContext) => {
    context = given;
    given.signal.addEventListener('abort', () => reject(given.signal.reason as Error));
    return promise;
  };
  return { run, resolve, reject, context: () => context };
}

function setUp(uploads?: number) {
  const changed: string[] = [];
  const clock = new ManualClock();
  const all = new BackgroundWork({
    clock,
    onChange: (key) => changed.push(key),
    limits:
      uploads === undefined
        ? {}
        : { upload: { atOnce: uploads, perNamespace: uploads, slowAtOnce: uploads, shareMs: 120_000 } },
  });
  return { all, changed, clock };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('background work', () => {
  it('reports its result and its inputs', async () => {
    const { all, changed } = setUp();
    const { run, resolve } = controlled();
    expect(all.of('ns/c').start('backup', 'monday', run)).toMatchObject({ kind: 'running', inputsKey: 'monday' });
    expect(all.running).toBe(1);
    resolve('stored');
    await settled();
    expect(all.running).toBe(0);
    expect(all.of('ns/c').state('backup')).toMatchObject({ kind: 'done', inputsKey: 'monday', result: 'stored' });
    expect(changed).toEqual(['ns/c']);
  });

  it('fails without running where no task may run', async () => {
    const refuse = (): never => {
      throw new Error('in quarantine');
    };
    const all = new BackgroundWork({ clock: new ManualClock(), onChange: () => {}, refuse });
    const { run, context } = controlled();
    all.of('ns/c').start('backup', 'monday', run);
    await settled();
    expect(context()).toBeUndefined();
    expect(all.of('ns/c').state('backup')).toMatchObject({ kind: 'failed', error: new Error('in quarantine') });
  });

  it('runs once at a time for one control plane', async () => {
    const { all } = setUp();
    const first = controlled();
    const second = controlled();
    all.of('ns/c').start('backup', 'monday', first.run);
    expect(all.of('ns/c').start('backup', 'tuesday', second.run)).toMatchObject({ inputsKey: 'monday' });
    await settled();
    expect(second.context()).toBeUndefined();
  });

  it('counts consecutive failures of the same inputs only', async () => {
    const { all } = setUp();
    const fail = () => Promise.reject(new Error('away'));
    const work = all.of('ns/c');
    for (const failures of [1, 2]) {
      work.start('backup', 'monday', fail);
      await settled();
      expect(work.state('backup')).toMatchObject({ kind: 'failed', failures });
    }
    work.start('backup', 'tuesday', fail);
    await settled();
    expect(work.state('backup')).toMatchObject({ kind: 'failed', failures: 1 });
  });

  it('waits for its turn when the concurrency limit is reached', async () => {
    const { all } = setUp(1);
    const [first, second] = [controlled(), controlled()];
    all.of('ns/a').start('backup', '', first.run, 'upload');
    all.of('ns/b').start('backup', '', second.run, 'upload');
    await settled();
    expect(second.context()).toBeUndefined();
    expect(all.of('ns/b').state('backup')).toMatchObject({ progress: 'waiting for its turn' });
    first.resolve('');
    await settled();
    expect(second.context()).toBeDefined();
  });

  it('starts at once besides all that waits, if it is not limited', async () => {
    const { all } = setUp(1);
    const [backup, restore] = [controlled(), controlled()];
    all.of('ns/a').start('backup', '', backup.run, 'upload');
    all.of('ns/b').start('restore', '', restore.run);
    await settled();
    expect(restore.context()).toBeDefined();
  });

  it('restores two backups at most on trial, beside all uploads', async () => {
    const { all } = setUp();
    const trials = [controlled(), controlled(), controlled()];
    const uploads = Array.from({ length: 9 }, controlled);
    for (const [index, { run }] of uploads.entries()) all.of(`team-${index}/c`).start('backup', '', run, 'upload');
    for (const [index, { run }] of trials.entries())
      all.of(`team-${index}/c`).start('verification', '', run, 'verification');
    await settled();
    const begun = (works: typeof trials) => works.filter(({ context }) => context()).length;
    expect([begun(uploads), begun(trials)]).toEqual([8, 2]);
    trials[0]?.resolve('');
    await settled();
    expect([begun(uploads), begun(trials)]).toEqual([8, 3]);
  });

  it('of one namespace holds half of the turns at most, and one of another namespace goes before all that wait', async () => {
    const { all } = setUp();
    const mallory = Array.from({ length: 50 }, controlled);
    for (const [index, { run }] of mallory.entries()) all.of(`mallory/c${index}`).start('backup', '', run, 'upload');
    await settled();
    const begun = () => mallory.filter(({ context }) => context()).length;
    expect(begun()).toBe(4);
    const victim = controlled();
    all.of('victim/prod').start('backup', '', victim.run, 'upload');
    await settled();
    expect(victim.context()).toBeDefined();
  });

  it('that moves a byte each 20 s gives its turn to those of other namespaces, and says so', async () => {
    const { all, clock } = setUp();
    const hostile = Array.from({ length: 40 }, controlled);
    for (const [index, { run }] of hostile.entries())
      all.of(`team-${index % 20}/c${index}`).start('b', '', run, 'upload');
    const victim = controlled();
    all.of('victim/prod').start('backup', '', victim.run, 'upload');
    await settled();
    const began = clock.elapsed();
    for (let seconds = 0; seconds < 600 && !victim.context(); seconds += 20) {
      await clock.advance(20_000);
      for (const { context } of hostile) context()?.moved?.(1);
    }
    expect(victim.context()).toBeDefined();
    // Its own signal has ended it: it was not left behind half a minute later.
    expect(clock.elapsed() - began).toBeLessThanOrEqual(260_000);
    const states = hostile.map((_, index) => all.of(`team-${index % 20}/c${index}`).state('b'));
    expect(states.find(({ kind }) => kind === 'failed')).toMatchObject({
      error: { message: expect.stringContaining('because control planes of other namespaces wait') as unknown },
    });
  });

  it('that does not end when it is told to loses its turn after half a minute', async () => {
    const { all, clock } = setUp(1);
    const next = controlled();
    all.of('mallory/c').start('backup', '', () => new Promise(() => {}), 'upload');
    all.of('victim/prod').start('backup', '', next.run, 'upload');
    await settled();
    all.forget('mallory/c');
    await clock.advance(29_000);
    expect(next.context()).toBeUndefined();
    await clock.advance(1_000);
    expect(next.context()).toBeDefined();
  });

  it('that is cancelled while it waits for its turn leaves the row', async () => {
    const { all } = setUp(1);
    const [first, cancelled, next] = [controlled(), controlled(), controlled()];
    all.of('ns/a').start('backup', '', first.run, 'upload');
    all.of('ns/b').start('backup', '', cancelled.run, 'upload');
    all.of('ns/c').start('backup', '', next.run, 'upload');
    await settled();
    all.of('ns/b').cancel('backup');
    first.resolve('');
    await settled();
    expect(cancelled.context()).toBeUndefined();
    expect(next.context()).toBeDefined();
  });

  it('leaves its turn to the next after a failure', async () => {
    const { all } = setUp(1);
    const next = controlled();
    all.of('ns/a').start('backup', '', () => Promise.reject(new Error('away')), 'upload');
    all.of('ns/b').start('backup', '', next.run, 'upload');
    await settled();
    expect(next.context()).toBeDefined();
  });

  it('updates its progress at once, but requests a reconcile only now and then', async () => {
    const { all, changed, clock } = setUp();
    const { run, context } = controlled();
    const work = all.of('ns/c');
    work.start('backup', '', run);
    await settled();
    context()?.report('1 of 9 MiB');
    expect(work.state('backup')).toMatchObject({ progress: '1 of 9 MiB' });
    expect(changed).toEqual([]);
    await clock.advance(10_000);
    context()?.report('2 of 9 MiB');
    expect(changed).toEqual(['ns/c']);
  });

  it('requests a reconcile every ten seconds if it reports progress continuously', async () => {
    const { all, changed, clock } = setUp();
    const { run, context } = controlled();
    all.of('ns/c').start('backup', '', run);
    await settled();
    for (let seconds = 1; seconds <= 30; seconds++) {
      await clock.advance(1_000);
      context()?.report(`${seconds} of 99 MiB`);
    }
    expect(changed).toEqual(['ns/c', 'ns/c', 'ns/c']);
  });

  it.each<[string, (all: BackgroundWork) => void]>([
    ['the control plane is gone', (all) => all.forget('ns/c')],
    ['it is cancelled', (all) => all.of('ns/c').cancel('backup')],
    ['the process ends', (all) => void all.close()],
  ])('is aborted when %s, and then reports no changes any more', async (_, stop) => {
    const { all, changed } = setUp();
    const { run, context } = controlled();
    all.of('ns/c').start('backup', '', run);
    await settled();
    stop(all);
    await settled();
    expect(context()?.signal.aborted).toBe(true);
    expect(changed).toEqual([]);
  });

  it.each<[string, (all: BackgroundWork) => void]>([
    ['runs', () => {}],
    ['was cancelled', (all) => all.of('ns/c').cancel('backup')],
    ['was forgotten', (all) => all.forget('ns/c')],
  ])('that %s is waited for when the process ends', async (_, before) => {
    const { all } = setUp();
    const ending = Promise.withResolvers<void>();
    // An upload removes its parts after it was aborted.
    all.of('ns/c').start('backup', '', () => ending.promise);
    before(all);
    let isClosed = false;
    const closed = all.close().then(() => (isClosed = true));
    await settled();
    expect(isClosed).toBe(false);
    ending.resolve();
    await closed;
  });
});
