import { describe, expect, it } from 'vitest';
import { planVersion, type VersionChange } from '../../../../reconciler/desired-state/upgrade/version-rules.ts';

const decide = (running: readonly (string | undefined)[], wanted: string, changes: Partial<VersionChange> = {}) =>
  planVersion({
    running,
    clusterVersion: running.at(-1)?.replace(/\d+$/, '0'),
    rendered: running.at(-1),
    wanted,
    field: 'etcd.version',
    args: undefined,
    ...changes,
  });

describe('the etcd version', () => {
  it.each([
    ['starts with any', [], '3.7.3', false],
    ['stays', ['3.6.8', '3.6.8'], '3.6.8', false],
    ['changes its patch version', ['3.6.8'], '3.6.16', false],
    ['lowers its patch version', ['3.6.16'], '3.6.8', false],
    ['rises by a minor from the patch version that upstream requires', ['3.5.26', '3.5.26'], '3.6.8', true],
    ['rises by the next minor', ['3.6.11'], '3.7.3', true],
    ['continues to rise while members of both minors run', ['3.6.8', '3.5.26'], '3.6.8', true],
    ['may have a packaging revision', ['3.6.11'], '3.7.3-1', true],
  ])('%s: %j to %s', (_, running, wanted, changesMinor) => {
    expect(decide(running, wanted)).toEqual({ kind: 'allowed', version: wanted, changesMinor });
  });

  it.each([
    [['3.5.24'], '3.6.8', '3.5.26'],
    [['3.6.8'], '3.7.3', '3.6.11'],
    [['3.6.8', '3.6.11', '3.6.8'], '3.7.3', '3.6.11'],
    [['3.6.8', '3.6.16'], '3.7.3', '3.6.16'],
    [['3.5.26', '3.5.24', '3.5.26'], '3.6.8', '3.5.26'],
  ])(
    'of members that run %j first becomes the one from which upstream supports %s, or a newer patch',
    (running, wanted, version) => {
      expect(decide(running, wanted)).toEqual({ kind: 'allowed', version, changesMinor: false });
    },
  );

  it.each([
    [['3.6.8', undefined], '3.6.8'],
    [[], '3.6.8'],
  ])('does not change on the way to another minor while members %j do not answer', (running, rendered) => {
    expect(decide(running, '3.7.3', { rendered })).toEqual({ kind: 'allowed', version: rendered, changesMinor: false });
  });

  it("is not derived from a user's tag: the way to another minor is the user's", () => {
    expect(decide(['3.6.8'], '3.7.3', { field: 'etcd.image.tag' })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('requires at least 3.6.11: set etcd.image.tag to 3.6.11 first'),
    });
  });

  it.each([
    ['3.5.26', '3.7.3', /skips a minor version: set etcd.version to a 3.6 release first/],
    ['3.6.11', '3.5.26', /lower minor.*set etcd.version to 3.6.11/],
  ])('does not change from %s to %s, and the running version stays', (running, wanted, message) => {
    const update = decide([running], wanted);
    expect(update).toMatchObject({ kind: 'refused', version: running, message: expect.stringMatching(message) });
  });

  it('is refused by the name of the field that requests it', () => {
    const update = decide(['3.6.8'], '3.5.26', { field: 'etcd.image.tag' });
    expect(update).toMatchObject({ message: expect.stringContaining('set etcd.image.tag to 3.6.8 or newer') });
  });

  it('is checked against the oldest member for an upgrade, and against the newest for a downgrade', () => {
    expect(decide(['3.6.8', '3.5.24'], '3.6.8')).toMatchObject({ kind: 'refused' });
    expect(decide(['3.6.11', '3.5.26'], '3.7.3')).toMatchObject({ kind: 'refused' });
    expect(decide(['3.6.11', '3.5.26'], '3.5.26')).toMatchObject({ kind: 'refused' });
    expect(decide(['3.6.11', '3.5.26', '3.5.26'], '3.5.26')).toMatchObject({ kind: 'refused' });
  });

  it('stays that of the template if another one is refused, else that of the newest member', () => {
    expect(decide(['3.6.11'], '3.8.0', { rendered: '3.6.16' })).toMatchObject({ kind: 'refused', version: '3.6.16' });
    expect(decide(['3.6.11', '3.6.16'], '3.8.0', { rendered: undefined })).toMatchObject({
      kind: 'refused',
      version: '3.6.16',
    });
  });

  it('is refused if it is not a version', () => {
    expect(decide(['3.6.11'], 'latest')).toEqual({
      kind: 'refused',
      version: '3.6.11',
      message: 'etcd.version latest is not a version such as 3.6.16: correct it',
    });
  });

  it('is the one in the template while no member answers', () => {
    expect(decide([], '3.8.0', { rendered: '3.6.8' })).toMatchObject({ kind: 'refused', version: '3.6.8' });
  });

  it('does not rise while a member has not reported its version', () => {
    expect(decide(['3.6.11', undefined], '3.7.3', { rendered: '3.6.11' })).toMatchObject({ version: '3.6.11' });
    expect(decide([], '3.7.3', { rendered: '3.6.11' })).toMatchObject({ kind: 'allowed', version: '3.6.11' });
    expect(decide(['3.6.11', undefined], '3.6.16', { rendered: '3.6.11' })).toMatchObject({ version: '3.6.16' });
    const agreed = { rendered: '3.6.11', clusterVersion: '3.6.0' };
    expect(decide(['3.6.11', undefined], '3.7.3', agreed)).toMatchObject({ kind: 'allowed', version: '3.6.11' });
    expect(decide([], '3.7.3', agreed)).toMatchObject({ kind: 'allowed', version: '3.6.11' });
  });

  it('does not rise before the members have agreed on their cluster version', () => {
    const rendered = '3.6.11';
    for (const clusterVersion of ['3.5.0', undefined]) {
      expect(decide(['3.6.11'], '3.7.3', { rendered, clusterVersion })).toEqual({
        kind: 'allowed',
        version: rendered,
        changesMinor: false,
      });
    }
  });

  it('does not change to one that would reject arguments of the user', () => {
    const args = { 'experimental-compaction-batch-limit': '5000' };
    const update = decide(['3.6.11'], '3.7.3', { args });
    expect(update).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('experimental-compaction-batch-limit'),
    });
    expect(decide(['3.6.11'], '3.6.16', { args })).toMatchObject({ kind: 'allowed' });
    expect(decide([], '3.7.3', { args })).toMatchObject({ kind: 'refused' });
    const others = { 'quota-backend-bytes': '8589934592' };
    expect(decide(['3.6.11'], '3.7.3', { args: { ...args, ...others } })).toMatchObject({
      message: expect.not.stringContaining('quota-backend-bytes'),
    });
    expect(decide(['3.6.11'], '3.7.3', { args: others })).toMatchObject({ kind: 'allowed', version: '3.7.3' });
  });
});
