import { execFileSync } from 'node:child_process';
import 'reflect-metadata';
import { X509Certificate } from '@peculiar/x509';
import { expect, test } from 'vitest';
import { createCA, validFor } from '../../reconciler/pki/issue.ts';
import { bundle } from '../../reconciler/pki/pem.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { joinConfiguration, kubeletScript } from '../tools/testbed/join-configuration.ts';

const token = { id: 'abcdef', secret: '0123456789abcdef' };
const certificateAuthority = () => createCA({ commonName: 'kubernetes' }, validFor(3_600_000, new Date()));

test("a joining machine gets only the cluster's endpoint, its CA hashes, and its own name", async () => {
  const { certificate } = await certificateAuthority();
  expect(joinConfiguration({ endpoint: '172.30.0.200:6443', certificateAuthority: certificate }, token, 'w1')).toEqual({
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'JoinConfiguration',
    discovery: {
      bootstrapToken: {
        apiServerEndpoint: '172.30.0.200:6443',
        token: 'abcdef.0123456789abcdef',
        caCertHashes: [expect.stringMatching(/^sha256:[0-9a-f]{64}$/)],
      },
    },
    nodeRegistration: { name: 'w1', criSocket: 'unix:///run/containerd/containerd.sock' },
  });
});

test('every CA of a cluster that rotates its CA is trusted', async () => {
  const both = bundle((await certificateAuthority()).certificate, (await certificateAuthority()).certificate);
  const { discovery } = joinConfiguration({ endpoint: 'a:6443', certificateAuthority: both }, token, 'w1');
  expect(new Set(discovery.bootstrapToken.caCertHashes).size).toBe(2);
});

test('a CA is identified by the SHA-256 of its public key', async () => {
  const { certificate } = await certificateAuthority();
  const publicKey = new X509Certificate(certificate).publicKey.rawData;
  const expected = Buffer.from(await crypto.subtle.digest('SHA-256', publicKey)).toString('hex');
  const { discovery } = joinConfiguration({ endpoint: 'a:6443', certificateAuthority: certificate }, token, 'w1');
  expect(discovery.bootstrapToken.caCertHashes).toEqual([`sha256:${expected}`]);
});

test("machine-specific settings are in the kubelet's extra arguments", () => {
  const instance = instanceFrom({}, 'hcp');
  const script = kubeletScript({ instance, name: 'w1', number: 11 });
  expect(script).toContain('--cgroup-root=/hcp-w1 ');
  expect(script).toContain('--node-ip=172.30.0.11 ');
  expect(() => execFileSync('sh', ['-n'], { input: script })).not.toThrow();
});
