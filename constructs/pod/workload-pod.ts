import { Pod, StatefulSet } from '../api/resources.ts';
import type { RenderedObject } from '../control-plane/chart.ts';

interface Metadata {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** A Deployment or StatefulSet, rendered or as the API server returns it. */
export interface Workload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec?: {
    readonly replicas?: number | undefined;
    readonly template?: {
      readonly metadata?: Partial<Pick<Metadata, 'labels' | 'annotations'>> | undefined;
      readonly spec?: object | undefined;
    };
    readonly volumeClaimTemplates?: readonly {
      readonly metadata?: { readonly name?: string };
      readonly spec?: object;
    }[];
  };
}

/**
 * A pod that the controller of a workload creates from its template; undefined if it has none.
 * @param ordinal of the pod of a StatefulSet
 */
export function workloadPod({ kind, metadata, spec }: Workload, ordinal = 0): RenderedObject | undefined {
  const { template, volumeClaimTemplates = [] } = spec ?? {};
  if (!template?.spec) return undefined;
  const name = kind === StatefulSet.kind ? `${metadata.name}-${ordinal}` : `${metadata.name}-dry-run`;
  const claims = volumeClaimTemplates.map((claim) => ({
    name: claim.metadata?.name,
    persistentVolumeClaim: { claimName: `${claim.metadata?.name}-${name}` },
  }));
  const { volumes = [] } = template.spec as { readonly volumes?: readonly object[] };
  const { labels, annotations } = template.metadata ?? {};
  return {
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: {
      ...placed(metadata, name),
      ...(labels ? { labels: { ...labels } } : {}),
      ...(annotations ? { annotations: { ...annotations } } : {}),
    },
    spec: { ...template.spec, ...(claims.length > 0 ? { volumes: [...volumes, ...claims] } : {}) },
  };
}

function placed({ namespace }: Metadata, name: string): { readonly name: string; readonly namespace?: string } {
  return namespace === undefined ? { name } : { name, namespace };
}
