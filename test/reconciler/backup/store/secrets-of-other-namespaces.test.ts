import { describe, expect, it } from 'vitest';
import { mayRestore, mayUse } from '../../../../reconciler/backup/store/store-access.ts';

const access = 'controlplane.cluster.x-k8s.io/backup-access';
const restoreFrom = 'controlplane.cluster.x-k8s.io/restore-from';
const secret = (annotation: string | undefined, labels: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's3', labels, ...(annotation === undefined ? {} : { annotations: { [access]: annotation } }) },
});

describe('a Secret of another namespace', () => {
  it.each<[string, string | undefined, Readonly<Record<string, string>>, boolean]>([
    ['nobody', undefined, {}, false],
    ['nobody, by an empty list', '', {}, false],
    ['one namespace', 'team', {}, true],
    ['several namespaces', 'a, team ,b', {}, true],
    ['several namespaces on lines of their own', 'a,\n  team,\n', {}, true],
    ['others', 'a,b', {}, false],
    ['a namespace whose name begins alike', 'team-a,a-team', {}, false],
    ['every namespace', '*', {}, true],
    ['others by a pattern, which a list does not have', 'te*,t*m', {}, false],
    ['one namespace by its label', undefined, { [access]: 'team' }, true],
    ['another one by its label', undefined, { [access]: 'other' }, false],
    ['both, by its label and by its annotation', 'other', { [access]: 'team' }, true],
    ['nobody by a label with a list', undefined, { [access]: '*' }, false],
  ])('may let %s use it', (_, annotation, labels, expected) => {
    expect(mayUse('team', secret(annotation, labels))).toBe(expected);
  });

  it.each<[string, string, string | undefined, Readonly<Record<string, string>>, boolean]>([
    ['its own backups', 'team', 'team', {}, true],
    ['those of others of the list', 'b', 'team,b', {}, false],
    ['those of others, if it may use the Secret as everyone does', 'b', '*', {}, false],
    [
      'those of the namespace in the label beside its own',
      'b',
      undefined,
      { [access]: 'team', [restoreFrom]: 'b' },
      true,
    ],
    ['those of a third one', 'c', undefined, { [access]: 'team', [restoreFrom]: 'b' }, false],
    ["those of another one's label", 'b', 'team', { [access]: 'other', [restoreFrom]: 'b' }, false],
    ['those of a label beside a list', 'b', 'team', { [restoreFrom]: 'b' }, false],
  ])('lets a namespace restore %s or not', (_, of, annotation, labels, expected) => {
    expect(mayRestore('team', of, secret(annotation, labels))).toBe(expected);
  });
});
