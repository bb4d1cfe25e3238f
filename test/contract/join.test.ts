import { expect, it } from 'vitest';
import { clusterOf, knownFacts } from '../support/rendered-cluster.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { workloadsOf } from '../support/rendered-objects.ts';

/** Flags of a program of the control plane, as the pod has them. */
function argumentsOf(component: string, container: string): readonly string[] {
  const found = workloadsOf(renderControlPlane(clusterOf(), knownFacts))
    .filter(({ object }) => object.metadata.name === `c1-${component}`)
    .flatMap(({ containers }) => containers.filter(({ name }) => name === container));
  const [{ command = [], args = [] } = {}] = found;
  return [...command, ...args];
}

it('has the flags that bootstrap tokens and kubelets need', () => {
  const apiServer = argumentsOf('api-server', 'kube-apiserver');
  expect(apiServer).toEqual(
    expect.arrayContaining(['--authorization-mode=Node,RBAC', '--enable-bootstrap-token-auth=true']),
  );
  const named = [
    'client-ca-file',
    'kubelet-client-certificate',
    'kubelet-client-key',
    'kubelet-preferred-address-types',
  ];
  expect(named.filter((flag) => !apiServer.some((arg) => arg.startsWith(`--${flag}=`)))).toEqual([]);
  expect(apiServer.find((arg) => arg.startsWith('--enable-admission-plugins='))).toContain('NodeRestriction');

  const controllers = argumentsOf('controller-manager', 'kube-controller-manager');
  const needed = [
    'cluster-signing-cert-file',
    'cluster-signing-key-file',
    'root-ca-file',
    'service-account-private-key-file',
    'use-service-account-credentials',
    'allocate-node-cidrs',
    'cluster-cidr',
    'service-cluster-ip-range',
  ];
  expect(needed.filter((flag) => !controllers.some((arg) => arg.startsWith(`--${flag}=`)))).toEqual([]);
  const enabled = controllers.find((arg) => arg.startsWith('--controllers='));
  expect(enabled).toBe('--controllers=*,bootstrap-signer-controller,token-cleaner-controller');
});
