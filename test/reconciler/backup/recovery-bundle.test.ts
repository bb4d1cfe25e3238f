import { describe, expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import {
  parseRecoveryBundle,
  readRecoveryBundle,
  serializeRecoveryBundle,
  recoveryBundleSecretNames,
} from '../../../reconciler/backup/recovery-bundle.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { scopeOf } from '../../support/scope.ts';

const { hostedControlPlane, clusterObject } = scopeOf(new MemoryObjects(), {
  status: { replicas: 2 },
  clusterSpec: { controlPlaneEndpoint: { host: 'api.example.org', port: 6443 } },
});

const annotated = {
  ...hostedControlPlane,
  metadata: {
    ...hostedControlPlane.metadata,
    labels: { tier: 'gold' },
    annotations: {
      'example.org/kept': 'yes',
      'controlplane.cluster.x-k8s.io/backup': 'now',
      'cluster.x-k8s.io/paused': 'true',
    },
  },
};

const ca = {
  apiVersion: Secret.apiVersion,
  kind: Secret.kind,
  metadata: {
    namespace: 'team',
    name: 'c1-ca',
    uid: 'of-the-old-cluster',
    annotations: { 'controlplane.cluster.x-k8s.io/step': '2', 'example.org/noise': 'yes' },
  },
  type: 'cluster.x-k8s.io/secret',
  data: { 'tls.crt': 'Y2VydA==', 'tls.key': 'a2V5LXRoYXQtaXMtaGlkZGVu' },
};

const text = serializeRecoveryBundle({ hostedControlPlane: annotated, clusterObject, secrets: [ca] });

describe('a recovery bundle', () => {
  it('refers to no component template, whose settings are in the spec', () => {
    const { spec } = hostedControlPlane;
    const etcd = { ...spec.etcd, nodeSelector: { pool: 'a' } };
    const referring = { ...hostedControlPlane, spec: { ...spec, componentTemplateRef: { name: 'shared' }, etcd } };
    const bundle = parseRecoveryBundle(
      serializeRecoveryBundle({ hostedControlPlane: referring, clusterObject, secrets: [] }),
    );
    expect(bundle.hostedControlPlane.spec).not.toHaveProperty('componentTemplateRef');
    expect(bundle.hostedControlPlane.spec).toMatchObject({ etcd: { nodeSelector: { pool: 'a' } } });
  });

  it('holds what a cluster is rebuilt from, and nothing of the management cluster it was in', () => {
    const bundle = parseRecoveryBundle(text);
    const annotations = { 'controlplane.cluster.x-k8s.io/step': '2' };
    expect(bundle.secrets).toEqual([{ name: 'c1-ca', type: 'cluster.x-k8s.io/secret', annotations, data: ca.data }]);
    expect(bundle.hostedControlPlane.spec).toEqual(JSON.parse(JSON.stringify(hostedControlPlane.spec)));
    expect(bundle.hostedControlPlane.metadata).toEqual({
      namespace: 'team',
      name: 'c1-x7k2p',
      labels: { tier: 'gold' },
      annotations: { 'example.org/kept': 'yes' },
    });
    expect(bundle.cluster).toMatchObject({
      kind: 'Cluster',
      metadata: { name: 'c1', namespace: 'team' },
      spec: { controlPlaneEndpoint: { host: 'api.example.org', port: 6443 } },
    });
    expect(text).not.toMatch(/of-the-old-cluster|ownerReferences|"status"/);
  });

  it('includes the CAs, the service account keys and the encryption keys of Secrets', () => {
    expect(recoveryBundleSecretNames('c1')).toEqual(['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-sa', 'c1-encryption']);
  });

  it('is read as it comes', async () => {
    async function* inParts() {
      for (let at = 0; at < text.length; at += 100) yield Buffer.from(text.slice(at, at + 100));
    }
    expect(await readRecoveryBundle(inParts())).toEqual(parseRecoveryBundle(text));
  });

  it.each([
    ['is not JSON', 'a2V5-hidden', 'the recovery bundle is not JSON, so it is damaged: use another backup'],
    ['lacks a field', '{"formatVersion":1}', /^the recovery bundle is invalid at hostedControlPlane, cluster, secrets/],
    ['is of a newer format', text.replace('"formatVersion":1', '"formatVersion":2'), 'a newer version of the provider'],
  ])('is refused if it %s, and the error quotes nothing of it', (_, given, message) => {
    expect(() => parseRecoveryBundle(given)).toThrow(message);
    expect(() => parseRecoveryBundle(given)).not.toThrow('hidden');
  });
});
