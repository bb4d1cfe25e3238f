import { Construct } from 'constructs';
import { k8s } from 'cdk8s-plus-30';
import type { HostedCluster } from '../cluster/cluster.ts';
import type { RevisionFacts } from '../cluster/facts.ts';
import { objectLabels } from '../cluster/labels.ts';
import { revisionName } from '../cluster/names.ts';

/** Keys of the ConfigMap. Operators of earlier releases wrote the last two, which are in the status now. */
export const revisionKeys = {
  spec: 'spec.json',
  generation: 'generation',
  release: 'release.json',
  served: 'served',
  failure: 'failure',
} as const;

export interface RevisionProps {
  readonly cluster: HostedCluster;
  readonly revision: RevisionFacts;
}

/**
 * An accepted spec, in a ConfigMap, with the release by which it is rendered. While the operator refuses a newer spec, or when
 * that one has failed, it reconciles this one, if it is still what the status has the digest of. The HostedControlPlane owns it, so
 * that it moves to another management cluster together with it.
 */
export class Revision extends Construct {
  constructor(scope: Construct, id: string, { cluster, revision }: RevisionProps) {
    super(scope, id);
    new k8s.KubeConfigMap(this, 'config', {
      metadata: {
        name: revisionName(cluster.name, revision.number),
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'revision'),
      },
      data: {
        [revisionKeys.generation]: String(revision.generation),
        [revisionKeys.spec]: revision.spec,
        [revisionKeys.release]: JSON.stringify(revision.release),
      },
    });
  }
}
