import { join } from 'node:path';
import { ChildProgram } from '../support/child-program.ts';
import { clientOf } from '../testbed/access.ts';
import type { Instance } from '../testbed/instance.ts';
import { installTestbedKinds } from './kinds.ts';

const node = join(import.meta.dirname, '../../node_modules/.bin/node');

/** The log of the provider's process. */
export const providerLog = (instance: Instance): string => join(instance.directory, 'log/infrastructure.log');

/** Installs the kinds, and starts the provider as a process that ends with this one. Its machines stay. */
export async function startInfrastructureProvider(instance: Instance): Promise<ChildProgram> {
  const client = await clientOf(instance);
  await installTestbedKinds(client);
  await client.connection.close();
  const program = join(import.meta.dirname, 'main.ts');
  return new ChildProgram(node, ['--import', 'tsx', program, instance.name], { log: providerLog(instance) });
}
