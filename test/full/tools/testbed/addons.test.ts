import { expect, inject, test } from 'vitest';
import { CiliumNetworkPolicy } from '../../../../imports/cilium.io.ts';
import { addonNames, installAddon, isAddon } from '../../../tools/testbed/addons.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';
import { kubectl } from '../../../tools/testbed/kubectl.ts';

const instance = instanceFrom(process.env, inject('testbed'));

const generations = async (): Promise<string[]> => {
  const columns = 'custom-columns=KIND:.kind,NAME:.metadata.name,UID:.metadata.uid,GENERATION:.metadata.generation';
  const kinds = 'crd,deployment,service,gateways,ingressclass,validatingwebhookconfiguration';
  const table = await kubectl(instance, ['get', kinds, '--all-namespaces', '--no-headers', '--output', columns]);
  // the width of a column depends on what else is in it
  return table
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' '));
};

test('every add-on can be installed, and again without any change', async () => {
  for (const name of addonNames.filter(isAddon)) await installAddon(instance, name, () => {});
  const before = await generations();
  for (const name of addonNames.filter(isAddon)) await installAddon(instance, name, () => {});
  expect(await generations()).toEqual(before);
});

test('Gateway API has TLSRoute in version 1', async () => {
  const versions = 'jsonpath={.spec.versions[?(@.served==true)].name}';
  expect(await kubectl(instance, ['get', 'crd', 'tlsroutes.gateway.networking.k8s.io', '--output', versions])).toBe(
    'v1',
  );
});

test("Cilium's kind of network policy is installed", async () => {
  const metadata = { name: 'probe', namespace: 'default' };
  const spec = { endpointSelector: {}, egress: [{ toEntities: ['kube-apiserver' as const] }] };
  const policy = CiliumNetworkPolicy.manifest({ metadata, spec });
  await expect(dryRun(policy)).resolves.toContain('created');
});

test('the webhook of the kubeadm bootstrap provider refuses an invalid object', async () => {
  const file = { path: '/etc/twice', content: 'x' };
  const config = {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfig',
    metadata: { name: 'probe', namespace: 'default' },
    spec: { files: [file, file] },
  };
  await expect(dryRun(config)).rejects.toThrow('path property must be unique among all files');
});

function dryRun(object: object): Promise<string> {
  return kubectl(instance, ['apply', '--dry-run=server', '--filename', '-'], JSON.stringify(object));
}
