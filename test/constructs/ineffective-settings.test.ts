import { expect, it } from 'vitest';
import { overruledArguments, overruledSettings } from '../../constructs/ineffective-settings.ts';
import { clusterOf } from '../support/rendered-cluster.ts';
import { renderSamples } from '../support/rendered-objects.ts';

it('reports for each component which arguments have no effect', async () => {
  const sample = (await renderSamples()).find(({ name }) => name === 'customized');
  expect(overruledArguments(sample!.cluster)).toEqual([
    {
      component: 'kube-apiserver',
      flags: ['authorization-mode=AlwaysAllow', 'disable-admission-plugins=NodeRestriction'],
    },
    { component: 'konnectivity-server', flags: ['mode'] },
    { component: 'kube-controller-manager', flags: ['controllers=-token-cleaner-controller'] },
    { component: 'kube-scheduler', flags: ['leader-elect'] },
    { component: 'kube-proxy', flags: ['cluster-cidr'] },
    { component: 'coredns', flags: ['conf'] },
    { component: 'konnectivity-agent', flags: ['keepalive-time'] },
    { component: 'etcd', flags: ['data-dir'] },
  ]);
});

it('reports nothing if every argument has an effect or an equal value', () => {
  const args = { 'authorization-mode': 'Node,RBAC', 'event-ttl': '24h' };
  expect(overruledArguments(clusterOf({ spec: { deployment: { apiServer: { args } } } }))).toEqual([]);
  expect(overruledArguments(clusterOf())).toEqual([]);
});

it('counts flags that depend on the endpoint as overridden before the endpoint is known', () => {
  const args = { 'external-hostname': 'mine.example.org' };
  expect(overruledArguments(clusterOf({ spec: { deployment: { apiServer: { args } } } }))).toEqual([
    { component: 'kube-apiserver', flags: ['external-hostname'] },
  ]);
});

it('overrules that the plugin is disabled on which the access of pods depends, only if it is in use', () => {
  const args = { 'disable-admission-plugins': 'MutatingAdmissionPolicy,ServiceAccount' };
  const cluster = clusterOf({ spec: { deployment: { apiServer: { args } } } });
  const overruledBy = (facts: { advertiseAddress?: string }) => overruledArguments(cluster, facts)[0]?.flags;
  const [policy, account] = ['MutatingAdmissionPolicy', 'ServiceAccount'].map(
    (one) => `disable-admission-plugins=${one}`,
  );
  expect(overruledBy({})).toEqual([policy, account]);
  expect(overruledBy({ advertiseAddress: '192.0.2.10' })).toEqual([account]);
});

it('names a default that would take the members of etcd to one node', () => {
  const spreading = (topologyKey: string) =>
    clusterOf({
      spec: {
        deployment: {
          defaults: { topologySpreadConstraints: [{ topologyKey, maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }] },
          scheduler: { args: { 'leader-elect': 'false' } },
        },
      },
    });
  const argument = expect.stringContaining('kube-scheduler: args cannot set leader-elect');
  expect(overruledSettings(spreading('zone'), {})).toEqual([argument]);
  expect(overruledSettings(spreading('kubernetes.io/hostname'), {})).toEqual([
    argument,
    'etcd: its members run on different nodes, whatever the constraint with topologyKey kubernetes.io/hostname in deployment.defaults says: move it to the components that it is for',
  ]);
});
