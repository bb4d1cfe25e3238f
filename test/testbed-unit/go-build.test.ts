import { expect, test } from 'vitest';
import { packageCounter } from '../tools/testbed/go-build.ts';
import { run } from '../tools/testbed/run.ts';

test('tells how many packages are compiled, ten seconds after it last did', () => {
  const told: string[] = [];
  let now = 0;
  const take = packageCounter(
    'kube-apiserver',
    1904,
    (line) => told.push(line),
    () => now,
  );
  for (let second = 1; second <= 25; second += 1) {
    now = second * 1000;
    for (let nth = 0; nth < 60; nth += 1) take(`k8s.io/api/apps/v${nth}`);
  }
  expect(told).toEqual([
    '  10.00 s  kube-apiserver: 541 of 1,904 packages',
    '  20.00 s  kube-apiserver: 1,141 of 1,904 packages',
  ]);
});

test.for([
  ['k8s.io/client-go/kubernetes/typed/apps/v1', true],
  ['sigs.k8s.io/structured-merge-diff/v6/value', true],
  ['gopkg.in/yaml.v3', true],
  ['go: downloading k8s.io/api v0.37.1', false],
  ['# k8s.io/api/apps/v1', false],
  ['main.go:3:8: undefined: x', false],
] as const)('takes %s for a package: %s', ([line, isPackage]) => {
  expect(packageCounter('one', 1, () => {})(line)).toBe(isPackage);
});

test('an error says what failed, without the packages that were compiled', async () => {
  const script = 'echo a/b >&2; echo "main.go:3:8: undefined: x" >&2; seq 100 >&2; exit 1';
  const failed = run(['sh', '-c', script], { takesLine: packageCounter('one', 1, () => {}) });
  await expect(failed).rejects.toThrow(/^sh -c [^]*: exit code 1\nmain\.go:3:8: undefined: x$/);
});
