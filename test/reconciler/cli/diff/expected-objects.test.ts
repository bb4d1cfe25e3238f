import { describe, expect, it } from 'vitest';
import { namesOf } from '../../../../constructs/cluster/names.ts';
import type { Facts } from '../../../../constructs/cluster/facts.ts';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import { withManagementIssuer } from '../../../../constructs/cluster/management-issuer.ts';
import { documentsIn } from '../../../../constructs/rendered-file.ts';
import { readSample, type Sample } from '../../../../constructs/sample.ts';
import { readSampleFiles } from '../../../../constructs/sample-files.ts';
import { expectedObjects } from '../../../../reconciler/cli/diff/compare-live.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';

const samples = (await readSampleFiles()).map(({ name, content }) => [name, readSample(documentsIn(content))] as const);

/** As an operator knows them, of which a user does not know the values. */
function operatorsFacts({ cluster, facts }: Sample): Facts {
  const { secrets } = namesOf(cluster.name);
  const fingerprints = Object.fromEntries(Object.values(secrets).map((name) => [name, `fingerprint of ${name}`]));
  const endpoint = { host: 'real.example.net', port: 6443 };
  return {
    ...facts,
    endpoint,
    ...(facts.konnectivityEndpoint ? { konnectivityEndpoint: { ...endpoint, port: 8132 } } : {}),
    ...(facts.tunnelEndpoint ? { tunnelEndpoint: endpoint } : {}),
    ...(facts.advertiseAddress ? { advertiseAddress: '198.51.100.7' } : {}),
    certificates: fingerprints,
    signers: fingerprints,
    clusterCA: 'the real CA',
    operatorImage: 'registry.example.net/operator@sha256:1',
    serviceAccountIssuers: ['https://new.example.net', 'https://old.example.net'],
    managementNetwork: { denied: ['203.0.113.0/24', '198.51.100.0/24'] },
    etcd: {
      isFormed: true,
      pods: cluster.spec.etcd.replicas,
      initialClusters: {},
      volumeSize: '77Gi',
      templateVolumeSize: '55Gi',
      templateStorageClass: undefined,
    },
    etcdRestore: undefined,
    etcdVerify: undefined,
    apiServerCheck: undefined,
  };
}

/** The live objects of a sample, by kind and name. */
function liveObjects(sample: Sample, more: Partial<Facts> = {}): Map<string, KubeObject> {
  const cluster = withManagementIssuer(sample.cluster, { url: 'https://management.example.net' });
  const facts = { ...operatorsFacts(sample), ...more };
  return new Map(renderControlPlane(cluster, facts).map((object) => [keyOf(object), object]));
}

/** An operator that runs elsewhere and has no options. */
const fewFacts: Partial<Facts> = {
  operatorNamespace: undefined,
  operatorImage: undefined,
  managementNetwork: undefined,
  serviceAccountIssuers: undefined,
  certificates: {},
  signers: {},
};

const keyOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`;

describe('what the operator applies to a live control plane', () => {
  it.each(samples)('is what is there, whatever the operator knows: %s', (_, sample) => {
    for (const facts of [{}, fewFacts]) {
      const live = liveObjects(sample, facts);
      const expected = expectedObjects(sample);
      expect(expected.map(({ name }) => keyOf(name)).sort()).toEqual([...live.keys()].sort());
      for (const { name, given } of expected) {
        const object = live.get(keyOf(name));
        if (!object) throw new Error(`no ${keyOf(name)}`);
        expect(given(object)).toEqual(object);
      }
    }
  });

  it('differs where somebody else has changed what the operator renders', () => {
    const [, sample] = samples.find(([name]) => name === 'gateway') ?? [];
    if (!sample) throw new Error('no sample gateway');
    const scheduler = liveObjects(sample).get(`Deployment ${sample.cluster.name}-scheduler`);
    const changed = JSON.parse(
      JSON.stringify(scheduler).replace('--leader-elect=true', '--leader-elect=false'),
    ) as KubeObject;
    expect(changed).not.toEqual(scheduler);
    const expected = expectedObjects(sample).find(
      ({ name }) => keyOf(name) === `Deployment ${sample.cluster.name}-scheduler`,
    );
    expect(expected?.given(changed)).toEqual(scheduler);
  });
});
