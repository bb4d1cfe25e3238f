import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { releaseFolder } from '../../../constructs/provider/repository.ts';
import { releaseVersion } from '../../../constructs/provider/release.ts';
import { checksumsFile } from '../../tools/release/checksums.ts';
import { makeRelease } from '../../tools/release/release.ts';
import { ClusterctlRepository } from '../../support/clusterctl-repository.ts';
import { likeText } from '../../support/like-text.ts';
import { likeCheckout, stepsOf, typeStep } from '../../support/page-shell.ts';
import { readPage } from '../../support/pages.ts';
import { runningMachine } from '../../tools/testbed/access.ts';
import { installAddon } from '../../tools/testbed/addons.ts';
import { addMinor } from '../../tools/testbed/further-minor.ts';
import { Helm } from '../../tools/testbed/helm.ts';
import { importArchive } from '../../tools/testbed/image-store.ts';
import { binDirectory, instanceFrom } from '../../tools/testbed/instance.ts';
import { inMachine } from '../../tools/testbed/machine.ts';
import { run } from '../../tools/testbed/run.ts';
import { unpackedPackage } from '../../tools/testbed/unpacked-package.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const report = (line: string): void => console.log(line);
const registry = 'registry.example.com/platform';
const source = {
  commit: '0123456789012345678901234567890123456789',
  date: '2026-01-01T00:00:00.000Z',
  previous: undefined,
  changes: [],
};
/** The home of a person who has made the release there. */
let home: string;
const releases = () => join(home, 'releases');
const folder = () => join(releases(), releaseFolder);
const file = (name: string) => join(folder(), name);

const release = (target: string) => makeRelease({ version: releaseVersion, source, registry, folder: target }, report);

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'home-'));
  await release(folder());
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe('the files of a release', () => {
  test('are the same, byte by byte, when it is made again from the same commit', async () => {
    const again = join(home, 'again');
    await release(again);
    const sums = await readFile(file(checksumsFile), 'utf8');
    expect(await readFile(join(again, checksumsFile), 'utf8')).toBe(sums);
    await run(['sha256sum', '--check', '--strict', '--quiet', checksumsFile], { cwd: folder() });
    await rm(again, { recursive: true });
  });

  test('hcp runs where no Node is, on both processors', async () => {
    const first = 'Manages hosted control planes.';
    expect(await run([file('hcp-linux-amd64'), '--help'], { env: {} })).toContain(first);
    expect(await run([...(await emulator()), file('hcp-linux-arm64'), '--help'], { env: {} })).toContain(first);
    expect(await run([file('hcp-import-linux-amd64'), '--version'], { env: {} })).toContain('hcp-import ');
  });

  test.each([
    ['hcp', 'Manages hosted control planes.'],
    ['hcp-import', 'Moves control planes of other providers to this one.'],
  ])('%s runs with Node as one file', async (name, summary) => {
    expect(await run([process.execPath, file(`${name}.mjs`), '--help'])).toContain(summary);
  });

  test('the operator starts from the image for the other processor', async () => {
    const root = await unpacked('manager.oci.tar', 'arm64');
    const program = [join(root, 'usr/local/bin/node'), join(root, 'app/main.js')] as const;
    await expect(run([...(await emulator()), ...program], { env: {} })).rejects.toThrow('no kubeconfig found');
  });

  test('the Helm chart asks for the image by its digest, and has the CRDs', async () => {
    const helm = await Helm.open(instance, report);
    const objects = await helm.run(['template', 'provider', file(`hosted-control-plane-${releaseVersion}.tgz`)]);
    await helm.close();
    expect(objects).toContain(`image: "${(await imageNames()).manager}"`);
    expect(objects.match(/^kind: CustomResourceDefinition$/gm)).toHaveLength(3);
  });

  /** Runs programs for arm64. */
  async function emulator(): Promise<[string, string, string]> {
    const root = await unpackedPackage('qemu-user-static', join(instance.cache, 'debian'), report);
    return [join(root, 'usr/bin/qemu-aarch64-static'), '-L', await unpacked('manager.oci.tar', 'arm64')];
  }

  /** The files of an image. */
  async function unpacked(archive: string, architecture: string): Promise<string> {
    const [blobs, root] = [join(home, 'blobs'), join(home, `${archive}-${architecture}`)];
    await mkdir(blobs, { recursive: true });
    await mkdir(root, { recursive: true });
    await run(['tar', '--extract', '--file', file(archive), '--directory', blobs]);
    const blob = async <T>(digest: string) =>
      JSON.parse(await readFile(join(blobs, 'blobs', digest.replace(':', '/')), 'utf8')) as T;
    const list = JSON.parse(await readFile(join(blobs, 'index.json'), 'utf8')) as Index;
    const index = await blob<Index>(list.manifests[0]?.digest ?? '');
    const image = index.manifests.find(({ platform }) => platform?.architecture === architecture);
    const { layers } = await blob<{ layers: { digest: string }[] }>(image?.digest ?? '');
    const layer = join(blobs, 'blobs', (layers[0]?.digest ?? '').replace(':', '/'));
    await run(['tar', '--extract', '--file', layer, '--directory', root]);
    return root;
  }
});

interface Index {
  readonly manifests: readonly { readonly digest: string; readonly platform?: { readonly architecture: string } }[];
}

async function imageNames(): Promise<{ readonly manager: string; readonly audit: string }> {
  const [manager = '', audit = ''] = (await readFile(file('images.txt'), 'utf8')).split('\n');
  return { manager, audit };
}

/** The page from its first block to its last, as a reader types them, with the release and a checkout. */
describe('the tutorial', async () => {
  const { blocks } = await readPage('constructs/provider/TUTORIAL.md');
  const replayed = blocks.filter(({ marker }) => marker?.kind === 'proof');
  let repository: ClusterctlRepository;

  beforeAll(async () => {
    await installAddon(instance, 'cert-manager-crds', report);
    // what the page's own commands then find built
    await addMinor(instance, '1.36', report);
    await installAddon(instance, 's3', report);
    repository = await ClusterctlRepository.create(instance, releases());
    await pull();
    await likeCheckout(home);
    const [yaml = ''] = replayed.filter(({ language }) => language === 'yaml').map(({ content }) => content);
    await writeFile(join(home, 'prod.yaml'), yaml);
  });
  afterAll(() => repository.remove());

  test.each(stepsOf(replayed))('$place', async (step) => {
    const PATH = `${join(home, 'bin')}:${binDirectory(instance)}:${process.env['PATH']}`;
    const variables = { HOME: home, PATH, HCP_TESTBED: instance.name, HCP_TESTBED_CACHE: instance.cache };
    const printed = await typeStep({ instance, directory: home, variables }, step);
    console.log(printed);
    expect(printed).toMatch(likeText(step.shown));
  });

  /** What a node does with an image that a pod names by its digest. No registry runs here. */
  async function pull(): Promise<void> {
    const { manager } = await imageNames();
    const node = await runningMachine(instance, 'm');
    await importArchive(node, file('manager.oci.tar'));
    const [tagged = '', digest = ''] = manager.split('@');
    const byDigest = `${tagged.slice(0, tagged.lastIndexOf(':'))}@${digest}`;
    await inMachine(node, ['ctr', '--namespace', 'k8s.io', 'images', 'tag', '--force', tagged, byDigest]);
  }
});
