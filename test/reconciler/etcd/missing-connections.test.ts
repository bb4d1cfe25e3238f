import { describe, expect, it } from 'vitest';
import { missingConnections } from '../../../reconciler/etcd/observe-members.ts';
import { observed, silent } from './observed.ts';

describe('the connections that are missing', () => {
  const answers: Readonly<Record<string, () => Promise<ReadonlySet<string> | undefined>>> = {
    'etcd-0': async () => new Set(['2', '3']),
    'etcd-1': async () => new Set(['1']),
    'etcd-2': async () => new Set(),
  };
  const clients = (given: typeof answers) => (name: string) => {
    const reachedPeers = given[name];
    return reachedPeers && { reachedPeers };
  };
  const from = async (given: typeof answers, observation = observed(3)) =>
    (await missingConnections(observation, clients(given))).map((missing) => `${missing.from} ${missing.to}`);

  it('are those from each member to each other one', async () => {
    expect(await from(answers)).toEqual(['etcd-1 etcd-2', 'etcd-2 etcd-0', 'etcd-2 etcd-1']);
  });

  it('are none to or from a member that does not answer, which is known to be away', async () => {
    expect(await from(answers, observed(3, { 2: silent }))).toEqual([]);
  });

  it('are none from a member that does not say whom it reaches', async () => {
    const unknown = async () => undefined;
    const failing = async () => Promise.reject(new Error('cannot read the metrics'));
    expect(await from({ ...answers, 'etcd-1': unknown, 'etcd-2': failing })).toEqual([]);
  });
});
