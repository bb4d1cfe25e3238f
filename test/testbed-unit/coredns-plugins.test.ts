import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { defaultCorefile } from '../../constructs/workload/coredns.ts';
import { corefile } from '../tools/testbed/corefile.ts';
import { goDirectory } from '../tools/testbed/families.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';

/** Names of plugins whose packages are called otherwise. */
const packages: Readonly<Record<string, string>> = { prometheus: 'metrics' };

/** Plugins of a Corefile: the first words of lines in a server block, but not in a plugin's own block. */
function pluginsOf(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  for (const line of text.replaceAll(/\{\{.*?\}\}/g, '').split('\n')) {
    const name = line.trim().split(' ')[0] ?? '';
    if (depth === 1 && /^[a-z]/.test(name)) found.push(name);
    depth += line.split('{').length - line.split('}').length;
  }
  return found;
}

async function sampleCorefile(): Promise<string> {
  const text = await readFile('test/clusters/customized.yaml', 'utf8');
  const found: unknown = parse(/^ +corefile: \|\n(?: {6,}.*\n)+/m.exec(text)?.[0] ?? '');
  return (found as { corefile: string }).corefile;
}

test('the CoreDNS of the testbed has every plugin of its own Corefile, of the one of kubeadm, and of the samples', async () => {
  const main = await readFile(join(goDirectory, 'coredns', 'main.go'), 'utf8');
  const compiled = [...main.matchAll(/coredns\/plugin\/(\w+)"/g)].map(([, name]) => name);
  const corefiles = [defaultCorefile('cluster.local'), corefile(instanceFrom({}, 'one')), await sampleCorefile()];
  const wanted = new Set(corefiles.flatMap(pluginsOf));
  expect([...wanted].sort()).toMatchInlineSnapshot(`
    [
      "cache",
      "errors",
      "forward",
      "health",
      "kubernetes",
      "loadbalance",
      "loop",
      "prometheus",
      "ready",
      "reload",
      "template",
    ]
  `);
  expect([...wanted].filter((name) => !compiled.includes(packages[name] ?? name))).toEqual([]);
});
