import { readdir } from 'node:fs/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findBinaries } from '../tools/testbed/binaries.ts';
import {
  families,
  familiesOf,
  furtherFamilies,
  furtherMinors,
  goDirectory,
  oldestGatewayApi,
  pinnedVersion,
  soakMinors,
} from '../tools/testbed/families.ts';
import { buildsOf } from '../tools/testbed/go-build.ts';

const family = (name: string) => {
  const found = families.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no family ${name}`);
  return found;
};

const all = [...families, ...furtherFamilies, oldestGatewayApi];

test('every folder of pinned modules is a family and the other way round', async () => {
  // etcd 3.6 is there for a minor of Kubernetes and for tests of etcd alone
  expect([...new Set(all.map(({ name }) => name))].sort()).toEqual((await readdir(goDirectory)).sort());
});

test.for(Object.entries(soakMinors))('the programs of Kubernetes %s are its own', ([wanted, folders]) => {
  const servers = familiesOf(folders).filter(({ binaries }) => binaries['kube-apiserver']);
  expect(servers.at(-1)?.name).toBe(`kubernetes-${wanted}`);
  expect(familiesOf(folders).flatMap(({ binaries }) => Object.keys(binaries))).toEqual(
    expect.arrayContaining(['kube-controller-manager', 'kube-scheduler', 'kube-proxy', 'kubelet', 'kubeadm', 'etcd']),
  );
});

test('what only the soak tests run is not built before all other tests', () => {
  const built = new Set(Object.values(furtherMinors).flatMap((minor) => familiesOf(minor).map(({ name }) => name)));
  expect(['1.33', '1.34', '1.36.3'].filter((wanted) => built.has(`kubernetes-${wanted}`))).toEqual([]);
});

test.for(all.filter(({ name }) => name !== 'pause'))('the version of $name is pinned', async ({ name, module }) => {
  expect(await pinnedVersion(name, module)).toMatch(/^v\d+\.\d+\.\d+/);
});

test('a module that a family does not require is an error', async () => {
  await expect(pinnedVersion('etcd', 'example.org/absent')).rejects.toThrow('requires no example.org/absent');
});

test('Kubernetes reports its version, which version skew is checked against', () => {
  const [kubelet] = buildsOf(family('kubernetes'), 'v1.36.3').filter(({ name }) => name === 'kubelet');
  const flags = kubelet?.args.join(' ');
  expect(flags).toContain('-X k8s.io/component-base/version.gitVersion=v1.36.3');
  expect(flags).toContain('-X k8s.io/client-go/pkg/version.gitMinor=36');
  expect(kubelet?.args.at(-1)).toBe('k8s.io/kubernetes/cmd/kubelet');
});

test("only containerd's shim is built without gRPC", () => {
  const builds = buildsOf(family('containerd'), 'v2.3.7');
  expect(builds.filter(({ args }) => args.some((arg) => arg.includes('no_grpc'))).map(({ name }) => name)).toEqual([
    'containerd-shim-runc-v2',
  ]);
});

test('an incomplete directory of ready binaries is refused, and the message lists what is missing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bin-'));
  try {
    await writeFile(join(directory, 'etcd'), '', { mode: 0o755 });
    await writeFile(join(directory, 'etcdctl'), '', { mode: 0o644 });
    const refused = findBinaries('/nowhere', directory, () => {});
    await expect(refused).rejects.toThrow(/lacks etcdctl, etcdutl, kube-apiserver, .*: add them, or unset it/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
