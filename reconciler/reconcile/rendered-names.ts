import { createHash } from 'node:crypto';
import type { RenderedName, RenderedObject } from '../../constructs/control-plane/chart.ts';

interface Known {
  /** Digest of what they were rendered from. */
  readonly input: string;
  readonly names: readonly RenderedName[];
}

/** What the workload chart of a HostedControlPlane is known by. */
export function hostedPart(key: string): string {
  return `${key} in its hosted cluster`;
}

/**
 * Names of the objects that charts render. A chart is a pure function of plain data: from what it was rendered before it renders the same, and
 * it is not rendered again. That is a seventh of the processor time of an operator.
 */
export class RenderedNames {
  readonly #known = new Map<string, Known>();

  /** @param of what is rendered, such as the key of a HostedControlPlane and a chart @param from plain data, all of which JSON has */
  get(of: string, from: readonly unknown[], render: () => readonly RenderedObject[]): readonly RenderedName[] {
    const input = createHash('sha256').update(JSON.stringify(from)).digest('base64');
    const known = this.#known.get(of);
    if (known?.input === input) return known.names;
    const names = render().map(({ apiVersion, kind, spec, metadata: { name, namespace } }) => ({
      apiVersion,
      kind,
      metadata: namespace === undefined ? { name } : { name, namespace },
      ...(spec === undefined ? {} : { spec: {} }),
    }));
    this.#known.set(of, { input, names });
    return names;
  }

  forget(of: string): void {
    this.#known.delete(of);
  }
}
