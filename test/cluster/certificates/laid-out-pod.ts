import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { V1Container, V1PodSpec, V1ProjectedVolumeSource } from '@kubernetes/client-node';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';

/** The content of a Secret or ConfigMap, by key. */
export type Content = Readonly<Record<string, string>>;

/**
 * The files of one container of a rendered pod below a directory on this machine, so that its program can run as a process
 * with the arguments of the pod.
 */
export class LaidOutContainer {
  readonly container: V1Container;
  readonly #root: string;
  readonly #pod: V1PodSpec;
  readonly #configMaps: ReadonlyMap<string, Content>;
  readonly #replacements: Readonly<Record<string, string>>;

  /**
   * @param root directory of the container's `/`
   * @param replacements of texts in files and arguments other than paths, such as addresses
   */
  constructor(
    root: string,
    pod: V1PodSpec,
    name: string,
    objects: readonly RenderedObject[],
    replacements: Readonly<Record<string, string>>,
  ) {
    // A sidecar is an init container that stays.
    const container = [...pod.containers, ...(pod.initContainers ?? [])].find((one) => one.name === name);
    if (!container) throw new Error(`the pod has no container ${name}`);
    this.container = container;
    this.#root = root;
    this.#pod = pod;
    this.#replacements = replacements;
    this.#configMaps = new Map(
      objects
        .filter(({ kind }) => kind === 'ConfigMap')
        .map((object) => [object.metadata.name, object['data'] as Content]),
    );
  }

  /** A text with the paths and addresses on this machine. */
  localized(text: string): string {
    const paths = (this.container.volumeMounts ?? []).map(({ mountPath }) => mountPath);
    const moved = paths.reduce((result, path) => result.replaceAll(path, join(this.#root, path)), text);
    return Object.entries(this.#replacements).reduce((result, [from, to]) => result.replaceAll(from, to), moved);
  }

  /** Writes every file, each atomically; to be called again when Secrets have changed. */
  async write(secrets: ReadonlyMap<string, Content>): Promise<void> {
    for (const { name, mountPath } of this.container.volumeMounts ?? []) {
      const volume = this.#pod.volumes?.find((one) => one.name === name);
      const directory = join(this.#root, mountPath);
      await mkdir(directory, { recursive: true });
      if (volume?.configMap?.name) await this.#writeAll(directory, this.#configMap(volume.configMap.name));
      for (const source of volume?.projected?.sources ?? []) await this.#writeSource(directory, source, secrets);
    }
  }

  async #writeSource(
    directory: string,
    { secret, configMap }: NonNullable<V1ProjectedVolumeSource['sources']>[number],
    secrets: ReadonlyMap<string, Content>,
  ): Promise<void> {
    const content = secret?.name ? secrets.get(secret.name) : this.#configMap(configMap?.name ?? '');
    if (!content) throw new Error(`there is no Secret ${secret?.name}`);
    const items = secret?.items ?? configMap?.items ?? [];
    await this.#writeAll(directory, Object.fromEntries(items.map(({ key, path }) => [path, content[key] ?? ''])));
  }

  #configMap(name: string): Content {
    const content = this.#configMaps.get(name);
    if (!content) throw new Error(`no ConfigMap ${name} is rendered`);
    return Object.fromEntries(Object.entries(content).map(([key, text]) => [key, this.localized(text)]));
  }

  async #writeAll(directory: string, files: Content): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      const file = join(directory, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(`${file}.new`, text, { mode: 0o600 });
      await rename(`${file}.new`, file);
    }
  }
}
