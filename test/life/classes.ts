import { join } from 'node:path';
import { stringify } from 'yaml';
import { className } from '../../constructs/stacks/clusterctl/cluster-class.ts';
import {
  infrastructureKind,
  TestbedClusterTemplate,
  TestbedMachineTemplate,
  testbedPrefix,
} from '../infrastructure-provider/kinds.ts';
import { clusterctl } from '../tools/testbed/clusterctl.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { repository } from '../tools/testbed/operator-bundle.ts';

/** The shipped ClusterClass and one that differs in the size of its machines, by whose names a Cluster refers to them. */
export const classes = { first: className, second: `${className}-large` } as const;

/** Creates both classes, with the templates of the testbed's infrastructure. */
export async function createClasses(instance: Instance, namespace: string): Promise<void> {
  const file = join(repository, `dist/clusterclass-${className}.yaml`);
  const variables = { INFRASTRUCTURE: testbedPrefix, NAMESPACE: namespace };
  const shipped = await clusterctl(instance, ['generate', 'yaml', '--from', file], variables);
  for (const [name, size] of [
    [classes.first, 'small'],
    [classes.second, 'large'],
  ] as const) {
    const named = shipped.replaceAll(`name: ${className}\n`, `name: ${name}\n`);
    const templates = [
      template(TestbedClusterTemplate.kind, namespace, name, {}),
      template(TestbedMachineTemplate.kind, namespace, name, { size }),
    ];
    const all = [named, ...templates.map((object) => stringify(object))].join('\n---\n');
    await kubectl(instance, ['apply', '--server-side', '--filename', '-'], all);
  }
}

function template(kind: string, namespace: string, name: string, spec: object): object {
  const { apiVersion } = infrastructureKind(kind);
  return { apiVersion, kind, metadata: { namespace, name }, spec: { template: { spec } } };
}
