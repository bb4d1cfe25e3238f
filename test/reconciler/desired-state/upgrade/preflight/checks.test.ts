import { describe, expect, it } from 'vitest';
import { findProblems, type PreflightInput } from '../../../../../reconciler/desired-state/upgrade/preflight/checks.ts';

const healthy: PreflightInput = {
  version: 'v1.37.1',
  nodes: [{ name: 'a', kubeletVersion: 'v1.36.4' }],
  requested: [],
  silent: [],
  webhookErrors: [],
  etcd: undefined,
  backup: undefined,
  configuration: undefined,
};
const problems = (changes: Partial<PreflightInput>) => findProblems({ ...healthy, ...changes });
const node = (name: string, kubeletVersion: string) => ({ name, kubeletVersion });
const api = (removedRelease: string) => ({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1beta3',
  resource: 'flowschemas',
  removedRelease,
});

describe('before an upgrade', () => {
  it('nothing is found in a healthy cluster', () => {
    expect(problems({})).toEqual([]);
  });

  it.each([
    ['three minors before', 'v1.34.0'],
    ['the same minor', 'v1.37.0'],
    ['nothing yet', ''],
  ])('a kubelet of %s is served', (_, kubeletVersion) => {
    expect(problems({ nodes: [node('old', kubeletVersion)] })).toEqual([]);
  });

  it.each([
    ['four minors before', 'v1.33.9'],
    ['a newer minor', 'v1.38.0'],
    ['a vendor, four minors before', 'v1.33.1-gke.100'],
  ])('a kubelet of %s is not served', (_, kubeletVersion) => {
    const found = problems({ nodes: [node('old', kubeletVersion), node('new', 'v1.36.0')] });
    expect(found.map(({ reason }) => reason)).toEqual(['NodesUnsuitable']);
    expect(found[0]?.message).toContain(`not the kubelets of nodes old (${kubeletVersion}): upgrade`);
  });

  it('a message names five nodes and counts the others', () => {
    const nodes = Array.from({ length: 7 }, (_, index) => node(`n${index}`, 'v1.30.0'));
    expect(problems({ nodes })[0]?.message).toMatch(/n4 \(v1\.30\.0\) and 2 more: upgrade/);
  });

  it.each(['1.37', '1.32'])('an API in use that %s removes is a problem', (removedRelease) => {
    const found = problems({ requested: [api(removedRelease), api(removedRelease)] });
    expect(found.map(({ reason }) => reason)).toEqual(['RemovedAPIsInUse']);
    expect(found[0]?.message).toContain('requested flowschemas in flowcontrol.apiserver.k8s.io/v1beta3, which');
  });

  it('an API in use that a later minor removes is none', () => {
    expect(problems({ requested: [api('1.38')] })).toEqual([]);
  });

  it('an API server that does not answer leaves it open which APIs are in use', () => {
    expect(problems({ silent: ['c1-api-server-x does not answer (timeout)'] })).toMatchObject([
      { check: 'removed-apis', reason: 'APIServersSilent', message: expect.stringContaining('c1-api-server-x') },
    ]);
  });

  it('webhooks, etcd, the backup and the configuration are quoted, each with its check', () => {
    const found = problems({
      webhookErrors: ['failed calling webhook "x"', 'failed calling webhook "x"'],
      etcd: 'one member is lost',
      backup: 'a flipped bit',
      configuration: 'unknown flag',
    });
    expect(found.map(({ check, reason }) => [check, reason])).toEqual([
      ['webhooks', 'WebhooksRefuse'],
      ['etcd', 'EtcdNotHealthy'],
      ['backup', 'BackupNotVerified'],
      ['configuration', 'ConfigurationRefused'],
    ]);
    expect(found.map(({ message }) => message).join('\n')).toMatch(
      /needs: failed calling webhook "x": repair[^]*one member is lost[^]*a flipped bit[^]*unknown flag$/,
    );
  });
});
