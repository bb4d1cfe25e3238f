import { describe, expect, it } from 'vitest';
import { reachedPeers } from '../../../reconciler/etcd/http-api.ts';
import { missingConnections } from '../../../reconciler/etcd/observe.ts';
import { observed, silent } from './observed.ts';

const gauge = (remote: string, value: string) =>
  `etcd_network_active_peers{Local="8e9e05c52164694d",Remote="${remote}"} ${value}`;

describe('the members that a member reaches', () => {
  it.each<[what: string, lines: readonly string[], reached: readonly string[] | undefined]>([
    ['are not known of a member that says nothing of peers', ['etcd_server_has_leader 1'], undefined],
    ['have decimal ids', [gauge('fd422379fda50e48', '1')], ['18249187646912138824']],
    ['are those of which the gauge is 1', [gauge('2', '0'), gauge('3', '1')], ['3']],
    ['are none if all are 0', [gauge('2', '0')], []],
    ['are not what looks like it', [`x${gauge('2', '1')}`, gauge('2"} 1', '1'), gauge('3', '0')], []],
  ])('%s', (_, lines, reached) => {
    const found = reachedPeers(lines.join('\n'));
    expect(found && [...found]).toEqual(reached);
  });
});

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
