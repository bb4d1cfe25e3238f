import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import {
  clusterctlConfiguration,
  clusterctlName,
  releaseFiles,
  releaseFolder,
} from '../../constructs/provider/repository.ts';
import { clusterctl } from '../tools/testbed/clusterctl.ts';
import { pinnedVersion } from '../tools/testbed/families.ts';
import { moduleDirectory } from '../tools/testbed/go-module.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { writeFiles } from '../tools/release/archive.ts';

const clusterApi = { family: 'cluster-api', module: 'sigs.k8s.io/cluster-api' } as const;

/**
 * The releases of this provider on a disk, from which the real clusterctl installs it. Core is in clusterctl's inventory as if
 * clusterctl had installed it too.
 */
export class ClusterctlRepository {
  readonly #instance: Instance;
  readonly #directory: string;

  private constructor(instance: Instance, directory: string) {
    this.#instance = instance;
    this.#directory = directory;
  }

  /** @param directory one with a release; by default a new one, with this release, whose image the testbed has */
  static async create(instance: Instance, directory?: string): Promise<ClusterctlRepository> {
    const repository = new ClusterctlRepository(instance, directory ?? (await mkdtemp(join(tmpdir(), 'clusterctl-'))));
    await writeFiles(repository.#directory, [clusterctlConfiguration(repository.#directory)]);
    if (directory === undefined) await writeFiles(repository.release('.'), releaseFiles());
    const module = await moduleDirectory(clusterApi.family, clusterApi.module);
    const version = await pinnedVersion(clusterApi.family, clusterApi.module);
    await repository.#addCore(module, version);
    await kubectl(instance, [
      'apply',
      '--server-side',
      '--filename',
      join(module, 'cmd/clusterctl/config/manifest/clusterctl-api.yaml'),
    ]);
    await kubectl(instance, ['wait', '--for=condition=Established', 'crd/providers.clusterctl.cluster.x-k8s.io']);
    await kubectl(instance, ['apply', '--server-side', '--filename', '-'], JSON.stringify(coreEntry(version)));
    return repository;
  }

  /** Path of a file of this release. */
  release(file: string): string {
    return join(this.#directory, releaseFolder, file);
  }

  /** Runs clusterctl, with values of the variables of templates. */
  run(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<string> {
    return clusterctl(this.#instance, [...args, '--config', join(this.#directory, 'clusterctl.yaml')], variables);
  }

  /** Adds a release of a later series, with the same components. */
  async addRelease({ major, minor }: { readonly major: number; readonly minor: number }): Promise<string> {
    const version = `v${major}.${minor}.0`;
    const folder = join(this.#directory, releaseFolder, '..', version);
    await cp(this.release('.'), folder, { recursive: true });
    const file = join(folder, 'metadata.yaml');
    const metadata = parse(await readFile(file, 'utf8')) as { releaseSeries: object[] };
    metadata.releaseSeries.push({ major, minor, contract: 'v1beta2' });
    await writeFile(file, stringify(metadata));
    return `${clusterctlName}:${version}`;
  }

  /** Removes the repository, and clusterctl's inventory. */
  async remove(): Promise<void> {
    await kubectl(this.#instance, ['delete', 'crd', 'providers.clusterctl.cluster.x-k8s.io', '--ignore-not-found']);
    await rm(this.#directory, { recursive: true });
  }

  /** clusterctl reads the contract of core from its repository. */
  async #addCore(module: string, version: string): Promise<void> {
    const folder = join(this.#directory, 'cluster-api', version);
    await mkdir(folder, { recursive: true });
    await cp(join(module, 'metadata.yaml'), join(folder, 'metadata.yaml'));
    const file = join(this.#directory, 'clusterctl.yaml');
    const configuration = parse(await readFile(file, 'utf8')) as { providers: object[] };
    const url = `file://${join(folder, 'core-components.yaml')}`;
    configuration.providers.push({ name: 'cluster-api', type: 'CoreProvider', url });
    await writeFile(file, stringify(configuration));
  }
}

function coreEntry(version: string): object {
  return {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Provider',
    metadata: {
      namespace: 'capi-system',
      name: 'cluster-api',
      labels: { 'clusterctl.cluster.x-k8s.io': '', 'cluster.x-k8s.io/provider': 'cluster-api' },
    },
    providerName: 'cluster-api',
    type: 'CoreProvider',
    version,
  };
}
