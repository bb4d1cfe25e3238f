import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fanOutImage } from '../../constructs/control-plane/api-server/audit/image.ts';
import { imageReference } from '../../constructs/cluster/versions.ts';
import { managerImage } from '../../constructs/provider/image.ts';
import { loadImage, runningMachine } from '../testbed/access.ts';
import type { Instance } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { withLock } from '../testbed/lock.ts';
import { bundleFanOut, bundleOperator, repository } from '../testbed/operator-bundle.ts';
import { packFanOutImage, packOperatorImage } from '../testbed/operator-image.ts';
import { type Report, step } from '../testbed/progress.ts';
import { run } from '../testbed/run.ts';

export const providerNamespace = 'capi-hosted-control-plane-system';
const providerDeployment = 'capi-hosted-control-plane-controller-manager';

const deployment = ['deployment', providerDeployment, '--namespace', providerNamespace];

/** A rebuilt image has the same name; this annotation records whether the pods run the current one. */
const digestAnnotation = 'hosted-control-plane.test/image-digest';

/**
 * Installs the operator as its users do, from dist/control-plane-components.yaml, with an image of the same sources.
 * @param sources the root of a checkout, by default this one
 */
export async function installProvider(instance: Instance, report: Report, sources = repository): Promise<void> {
  const digest = await loadOperatorImage(instance, report, sources);
  const components = join(sources, 'dist/control-plane-components.yaml');
  await step(report, 'provider installed from dist/control-plane-components.yaml', async () => {
    const before = await installedDigest(instance);
    await kubectl(instance, ['apply', '--server-side', '--force-conflicts', '--filename', components]);
    if (before !== undefined && before !== digest) await kubectl(instance, ['rollout', 'restart', ...deployment]);
    await kubectl(instance, ['annotate', ...deployment, '--overwrite', `${digestAnnotation}=${digest}`]);
    await kubectl(instance, ['rollout', 'status', ...deployment, '--timeout=60s']);
  });
}

/**
 * Loads an operator image where pods find it, as pods that restore backups need it. Returns its digest. An image that is
 * already loaded stays.
 * @param sources the root of the checkout that it is of, by default this one
 */
export async function loadOperatorImage(instance: Instance, report: Report, sources = repository): Promise<string> {
  return loadBuilt(instance, 'operator', report, async (directory, archive) => {
    if (sources !== repository) return packCheckout(sources, directory);
    await bundleOperator(directory);
    return packOperatorImage(archive, managerImage, directory);
  });
}

/** Runs `npm run image` of another checkout, and returns the digest that it prints. */
async function packCheckout(sources: string, directory: string): Promise<string> {
  const script = ['run', '--silent', 'image', '--', managerImage, directory];
  const printed = await run(['npm', ...script], { cwd: sources });
  const digest = /^\S+\/image\.tar: .*(sha256:[0-9a-f]{64})/m.exec(printed)?.[1];
  if (digest === undefined) throw new Error(`npm run image in ${sources} prints no digest: ${printed}`);
  return digest;
}

/** Loads the image of the audit fan-out where pods find it. */
export async function loadFanOutImage(instance: Instance, report: Report): Promise<string> {
  return loadBuilt(instance, 'audit', report, async (directory, archive) => {
    await bundleFanOut(directory);
    return packFanOutImage(archive, imageReference({}, fanOutImage, undefined), directory);
  });
}

/** @param build bundles into a directory, packs an archive, and returns the digest of the image */
async function loadBuilt(
  instance: Instance,
  name: string,
  report: Report,
  build: (directory: string, archive: string) => Promise<string>,
): Promise<string> {
  // One per instance: tests of several instances run side by side.
  const directory = join(instance.directory, name);
  const archive = join(directory, 'image.tar');
  const loaded = join(instance.directory, `${name}-image`);
  const onWait = (holder: number): void => report(`waiting for process ${holder}, which packs the image ${name}`);
  return withLock(`${loaded}.lock`, onWait, () =>
    step(report, `${name} bundled, packed as an image, and loaded`, async () => {
      await mkdir(directory, { recursive: true });
      const digest = await build(directory, archive);
      const node = await runningMachine(instance, 'm');
      // another management machine has another image store
      const identity = `${digest} ${node.pid}`;
      if ((await readFile(loaded, 'utf8').catch(() => '')) !== identity) {
        await loadImage(instance, archive);
        await writeFile(loaded, identity);
      }
      return digest;
    }),
  );
}

/** Whether the operator is installed, possibly from other sources. */
export async function isProviderInstalled(instance: Instance): Promise<boolean> {
  return (await installedDigest(instance)) !== undefined;
}

/** Removes the operator; its CRDs and their objects stay. */
export async function removeProvider(instance: Instance): Promise<void> {
  await kubectl(instance, ['delete', ...deployment, '--ignore-not-found', '--wait']);
}

/** The digest of the running image; undefined when nothing is installed, empty when the annotation is missing. */
async function installedDigest(instance: Instance): Promise<string | undefined> {
  const found = await kubectl(instance, ['get', ...deployment, '--ignore-not-found', '--output', 'json']);
  if (found === '') return undefined;
  const { metadata } = JSON.parse(found) as { metadata: { annotations?: Record<string, string> } };
  return metadata.annotations?.[digestAnnotation] ?? '';
}
