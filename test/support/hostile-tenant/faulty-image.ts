import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { managerImage } from '../../../constructs/provider/image.ts';
import { loadImage } from '../../tools/testbed/access.ts';
import type { Instance } from '../../tools/testbed/instance.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';
import { bundleOperator, bundleProgram } from '../../tools/testbed/operator-bundle.ts';
import { packOperatorImage } from '../../tools/testbed/operator-image.ts';
import { providerDeployment, providerNamespace } from '../provider.ts';
import type { Fault } from '../quarantine/faulty-operator.ts';
import type { WatchedOperator } from './watched-operator.ts';

const image = `${managerImage}-faulty`;
/** In the directory of the notes, which outlives containers. */
const faultFile = '/notes/fault';

/**
 * Gives the installed operator the image of one with a fault that no budget catches, in its work on the etcd of one Cluster. The rest of the
 * installation stays what it is.
 */
export async function installFault(instance: Instance, cluster: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'faulty-'));
  try {
    await bundleOperator(directory);
    await bundleProgram(directory, 'test/support/quarantine/faulty-operator.ts');
    const archive = join(directory, 'image.tar');
    await packOperatorImage(archive, image, directory);
    await loadImage(instance, archive);
  } finally {
    await rm(directory, { recursive: true });
  }
  const place = ['--namespace', providerNamespace];
  const deployment = ['deployment', providerDeployment, ...place];
  await kubectl(instance, ['set', 'env', ...deployment, `FAULT=${faultFile}`, `FAULTY=${cluster}`]);
  await kubectl(instance, ['set', 'image', ...deployment, `manager=${image}`]);
  await kubectl(instance, ['rollout', 'status', ...deployment, '--timeout=120s']);
}

/** What is done in each pod for etcd of that Cluster from now on; nothing but the work itself without a fault. */
export async function plantFault(instance: Instance, operator: WatchedOperator, fault?: Fault): Promise<void> {
  const file = JSON.stringify(faultFile);
  const act = fault === undefined ? `rmSync(${file})` : `writeFileSync(${file}, ${JSON.stringify(fault)})`;
  const program = ['/usr/local/bin/node', '--eval', `fs.${act}`];
  for (const { metadata } of await operator.pods())
    await kubectl(instance, ['exec', metadata.name, '--namespace', providerNamespace, '--', ...program]);
}
