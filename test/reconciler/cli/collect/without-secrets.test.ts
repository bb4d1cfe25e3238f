import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../../reconciler/cli/collect/without-secrets.ts';

const metadata = { name: 'a', namespace: 'b' };

describe('an object for support', () => {
  it('has only the keys of a Secret, and how large they are', () => {
    const data = { 'tls.key': Buffer.from('a private key').toString('base64') };
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":"..."}', kept: 'yes' };
    expect(
      withoutSecrets({ apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, annotations }, data } as never),
    ).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...metadata,
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '<removed>', kept: 'yes' },
      },
      type: undefined,
      data: { 'tls.key': '13 bytes' },
    });
  });

  it('has no values of environment variables, of pods and of settings for them', () => {
    const env = [
      { name: 'TOKEN', value: 'secret' },
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'a' } } },
    ];
    const found = withoutSecrets({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { containers: [{ name: 'c', args: ['--env=x'], env }] },
    } as never);
    expect(found).toMatchObject({
      spec: { containers: [{ name: 'c', args: ['--env=x'], env: [{ name: 'TOKEN', value: '<removed>' }, env[1]] }] },
    });
  });

  it('has none in the record of an accepted spec either', () => {
    const data = {
      spec: JSON.stringify({ deployment: { scheduler: { env: [{ name: 'A', value: 'secret' }] } } }),
      file: '{x',
    };
    const found = withoutSecrets({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as never);
    expect(JSON.stringify(found)).not.toContain('secret');
    expect(found).toMatchObject({ data: { spec: expect.stringContaining('<removed>') as string, file: '{x' } });
  });

  it('does not say who wrote which field', () => {
    const managed = { ...metadata, managedFields: [{ manager: 'kubectl' }] };
    expect(withoutSecrets({ apiVersion: 'v1', kind: 'Pod', metadata: managed })).toMatchObject({ metadata });
    expect(JSON.stringify(withoutSecrets({ apiVersion: 'v1', kind: 'Pod', metadata: managed }))).not.toContain(
      'kubectl',
    );
  });
});
