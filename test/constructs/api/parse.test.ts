import { describe, expect, it } from 'vitest';
import { parseStoredHostedControlPlane } from '../../../constructs/api/parse.ts';
import { admissionCases, minimalSpec, specWith } from './admission-cases.ts';

const objectWith = (spec: unknown, status?: unknown) => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlane',
  metadata: { name: 'hcp', namespace: 'default' },
  spec,
  ...(status !== undefined && { status }),
});

const accepted = admissionCases.filter((given) => !given.refused);
const refused = admissionCases.flatMap(({ name, spec, refused }) => (refused ? [{ name, spec, refused }] : []));

describe('reading a HostedControlPlane', () => {
  it.each(accepted)('$name', ({ spec }) => {
    expect(parseStoredHostedControlPlane(objectWith(specWith(spec)))).toMatchObject({ valid: true });
  });

  it.each(refused)('$name', ({ spec, refused: { path, because = '' } }) => {
    const parsed = parseStoredHostedControlPlane(objectWith(specWith(spec)));
    expect(parsed).toMatchObject({
      valid: false,
      problems: expect.arrayContaining([{ path, message: expect.stringContaining(because) }]),
      message: expect.stringContaining(`${path}: `),
    });
  });

  it('fills in defaults', () => {
    expect(parseStoredHostedControlPlane(objectWith(minimalSpec))).toMatchObject({
      hostedControlPlane: {
        spec: {
          replicas: 2,
          exposure: { loadBalancer: { port: 6443 } },
          etcd: { replicas: 3, autoGrow: true, volumeRetention: 'Delete' },
          deployment: { apiServer: {}, controllerManager: { replicas: 1 }, scheduler: { replicas: 1 } },
          konnectivityClient: { replicas: 2 },
          coredns: { replicas: 2 },
          kubeProxy: { disabled: false },
        },
      },
    });
  });

  it('reads quantities that were written as numbers as text', () => {
    const spec = specWith({ etcd: { autoGrow: false, volumeSize: 8589934592 } });
    expect(parseStoredHostedControlPlane(objectWith(spec))).toMatchObject({
      hostedControlPlane: { spec: { etcd: { volumeSize: '8589934592' } } },
    });
  });

  it('names every missing field at once', () => {
    const spec = specWith({ version: undefined, exposure: { nodePort: {} } });
    const parsed = parseStoredHostedControlPlane(objectWith(spec));
    expect(parsed).toMatchObject({
      message: [
        'spec.version: is required',
        'spec.exposure.nodePort.address: is required',
        'spec.exposure.nodePort.port: is required',
        'spec.exposure.nodePort.konnectivityPort: is required',
      ].join('; '),
    });
  });

  it('returns the metadata of an invalid object, so that it can be reported and deleted', () => {
    expect(parseStoredHostedControlPlane(objectWith({ version: 'unknown' }))).toMatchObject({
      valid: false,
      metadata: { name: 'hcp', namespace: 'default' },
    });
  });

  it('omits status fields that it cannot parse and keeps the others', () => {
    const status = { etcdLastBackupTime: null, version: 'v1.34.2', replicas: 'two', conditions: [{ type: 'Ready' }] };
    expect(parseStoredHostedControlPlane(objectWith(minimalSpec, status))).toMatchObject({
      hostedControlPlane: { status: { version: 'v1.34.2' } },
    });
  });

  it.each([undefined, null, 'text', 7, []])('returns a problem instead of throwing for %j', (object) => {
    expect(parseStoredHostedControlPlane(object)).toMatchObject({ valid: false });
  });
});
