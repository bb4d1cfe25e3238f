import { describe, expect, it } from 'vitest';
import {
  adminPlan,
  planCertificates,
  planEtcdCertificates,
} from '../../../../constructs/control-plane/certificates/certificate-plans.ts';
import { renderWorkload } from '../../../../constructs/workload/chart.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { identityOf, renderSamples } from '../../../support/rendered-objects.ts';

const samples = await renderSamples();
const tunnelEndpoint = { host: 'tunnel.example.org', port: 443 };

describe.each(samples)('in sample $name', ({ cluster, facts, objects }) => {
  const { endpoint, konnectivityEndpoint } = { ...knownFacts, ...facts };
  const plans = [
    ...planEtcdCertificates(cluster),
    ...planCertificates(cluster, endpoint!, konnectivityEndpoint!, tunnelEndpoint),
  ];
  const hosted = renderWorkload(cluster, { ...knownFacts, ...facts });

  it('only the certificate of the break-glass administrator is in a group', () => {
    expect(plans.filter(({ organizations }) => organizations.length > 0)).toEqual([]);
    expect(adminPlan(cluster.name).organizations).toEqual(['system:masters']);
  });

  it('every certificate has one usage, except those of etcd members, which serve each other', () => {
    const both = plans.filter(({ usages }) => usages.length !== 1).map(({ commonName }) => commonName);
    expect(both).toEqual(['etcd-server', 'etcd-peer']);
    const wrong = plans.filter(({ usages, hosts }) => usages.includes('server') !== hosts.length > 0);
    expect(wrong).toEqual([]);
  });

  it('no CA has two clients of one name', () => {
    const names = plans.map(({ signer, commonName }) => `${signer} ${commonName}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('no rendered object contains system:masters', () => {
    const found = [...objects, ...hosted].filter((object) => JSON.stringify(object).includes('system:masters'));
    expect(found.map(identityOf)).toEqual([]);
  });

  it('only the administrators group of kubeadm may do everything', () => {
    const all = [...objects, ...hosted].filter((object) =>
      JSON.stringify(object['roleRef'] ?? '').includes('cluster-admin'),
    );
    expect(all.map(({ metadata }) => metadata.name)).toEqual(['kubeadm:cluster-admins']);
  });
});
