import { join } from 'node:path';
import { ChildProgram } from '../support/child-program.ts';
import { clientOf } from '../tools/testbed/access.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { type CloudName, cloudNamed } from './clouds.ts';
import { installKinds } from './kinds.ts';

const node = join(import.meta.dirname, '../../node_modules/.bin/node');

/** The log of the provider's process. */
export const providerLog = (instance: Instance): string => join(instance.directory, 'log/infrastructure.log');

/**
 * Installs the kinds of a cloud, by default the testbed's own, and starts its provider as a process that ends with this one. Its
 * machines stay.
 */
export async function startInfrastructureProvider(
  instance: Instance,
  cloud: CloudName = 'testbed',
): Promise<ChildProgram> {
  const client = await clientOf(instance);
  await installKinds(client, await cloudNamed(cloud).kinds());
  await client.connection.close();
  const program = join(import.meta.dirname, 'main.ts');
  return new ChildProgram(node, [program, instance.name, cloud], { log: providerLog(instance) });
}
