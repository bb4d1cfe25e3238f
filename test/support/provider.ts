import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fanOutImage } from '../../constructs/control-plane/api-server/audit/fan-out.ts';
import { imageReference } from '../../constructs/cluster/versions.ts';
import { managerImage } from '../../constructs/provider/image.ts';
import { loadImage, runningMachine } from '../tools/testbed/access.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { withLock } from '../tools/testbed/lock.ts';
import { bundleFanOut, bundleOperator, repository } from '../tools/testbed/operator-bundle.ts';
import { packFanOutImage, packOperatorImage } from '../tools/testbed/operator-image.ts';
import { type Report, step } from '../tools/testbed/progress.ts';
import { run } from '../tools/testbed/run.ts';
import { sourceIdentity } from '../tools/testbed/source-identity.ts';

export const providerNamespace = 'capi-hosted-control-plane-system';
export const providerDeployment = 'capi-hosted-control-plane-controller-manager';

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
 * Loads an operator image where pods find it, as pods that restore backups need it. Returns its digest. One that is loaded
 * and of the same sources is not built again.
 * @param sources the root of the checkout that it is of, by default this one
 */
export async function loadOperatorImage(instance: Instance, report: Report, sources = repository): Promise<string> {
  return loadBuilt({ instance, name: 'operator', sources, report }, async (directory, archive) => {
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
  return loadBuilt({ instance, name: 'audit', sources: repository, report }, async (directory, archive) => {
    await bundleFanOut(directory);
    return packFanOutImage(archive, imageReference({}, fanOutImage, undefined), directory);
  });
}

/**
 * Loads an image, unless the one that is loaded is of the same sources.
 * @param sources the root of the checkout that it is of
 * @param build bundles into a directory, packs an archive, and returns the digest of the image
 */
async function loadBuilt(
  { instance, name, sources, report }: { instance: Instance; name: string; sources: string; report: Report },
  build: (directory: string, archive: string) => Promise<string>,
): Promise<string> {
  // One per instance: tests of several instances run side by side.
  const directory = join(instance.directory, name);
  const archive = join(directory, 'image.tar');
  const loaded = join(instance.directory, `${name}-image`);
  const onWait = (holder: number): void => report(`waiting for process ${holder}, which packs the image ${name}`);
  return withLock(`${loaded}.lock`, onWait, async () => {
    // another management machine has another image store
    const { pid } = await runningMachine(instance, 'm');
    const identity = `${await sourceIdentity(sources)} ${pid}`;
    const known = await readFile(loaded, 'utf8').catch(() => '');
    if (known.startsWith(`${identity} `)) return known.slice(identity.length + 1);
    return step(report, `${name} bundled, packed as an image, and loaded`, async () => {
      await mkdir(directory, { recursive: true });
      const built = await build(directory, archive);
      await loadImage(instance, archive);
      await writeFile(loaded, `${identity} ${built}`);
      return built;
    });
  });
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
