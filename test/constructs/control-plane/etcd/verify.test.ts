import { expect, it } from 'vitest';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import { hostedCluster } from '../../../support/scope.ts';

interface VerificationPod {
  readonly spec: {
    readonly volumes: readonly { readonly name: string; readonly emptyDir?: { readonly sizeLimit: string } }[];
    readonly containers: readonly { readonly resources: object }[];
  };
}

it.each([
  [1, '513Mi', '577Mi'],
  [2 * 1024 ** 3, '5632Mi', '5696Mi'],
])('a verification of %i bytes asks for the space that it may take', (sizeBytes, sizeLimit, storage) => {
  const etcdVerify = { run: 'any', sizeBytes, sha256: 'any', operatorImage: 'any' };
  const facts = { certificates: {}, mounts: {}, etcdVerify };
  const [pod] = renderControlPlane(hostedCluster(), facts, 'etcd-verify').filter(({ kind }) => kind === 'Pod');
  const { volumes, containers } = (pod as unknown as VerificationPod).spec;
  expect(volumes.find(({ emptyDir }) => emptyDir)?.emptyDir).toEqual({ sizeLimit });
  expect(containers[0]?.resources).toEqual({
    requests: { cpu: '50m', memory: '128Mi', 'ephemeral-storage': storage },
    limits: { 'ephemeral-storage': storage },
  });
});
