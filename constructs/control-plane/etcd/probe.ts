import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { quantityValue } from '../../api/quantity.ts';
import { Pod } from '../../api/resources.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import type { EtcdProbeFacts } from '../../cluster/facts.ts';
import { objectLabels } from '../../cluster/labels.ts';
import { etcdProbePod } from '../../cluster/names.ts';

/** Annotation of a probe pod with the digest of the template that it tries. */
export const probedAnnotation = 'controlplane.cluster.x-k8s.io/etcd-probed-template';

export interface EtcdProbeProps {
  readonly cluster: HostedCluster;
  readonly probe: EtcdProbeFacts;
}

interface Container {
  readonly name: string;
  readonly resources?: { readonly requests?: Readonly<Record<string, string>>; readonly limits?: object };
}

/** The fields of a pod that a probe changes. */
interface Spec {
  readonly affinity?: { readonly nodeAffinity?: object; readonly podAffinity?: object };
  readonly containers?: readonly Container[];
  readonly volumes?: readonly { readonly persistentVolumeClaim?: object }[];
}

/**
 * A pod that shows whether a member of another template would find a node. It is scheduled as that one, with its volume, and
 * nothing in it ever starts: it waits for a ConfigMap that does not exist.
 *
 * On the node of the member that runs it asks only for what the other one needs more, because that one takes its place.
 */
export class EtcdProbe extends Construct {
  constructor(scope: Construct, id: string, { cluster, probe }: EtcdProbeProps) {
    super(scope, id);
    const name = etcdProbePod(probe.member, probe.where);
    const spec = probe.spec as Spec;
    const { podAffinity, nodeAffinity } = spec.affinity ?? {};
    const isHere = probe.where === 'here';
    new ApiObject(this, 'pod', {
      apiVersion: Pod.apiVersion,
      kind: Pod.kind,
      metadata: {
        name,
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'etcd-probe'),
        annotations: { [probedAnnotation]: probe.template },
      },
      spec: {
        ...spec,
        // Without what keeps pods of the user away from the member, which goes when the other one comes.
        affinity: {
          ...(podAffinity ? { podAffinity } : {}),
          ...(isHere || nodeAffinity ? { nodeAffinity: isHere ? onNode(nodeAffinity, probe.node) : nodeAffinity } : {}),
        },
        containers: spec.containers?.map((container) =>
          isHere ? { ...container, resources: moreThan(container, probe.runs) } : container,
        ),
        volumes: [
          ...(spec.volumes ?? []).map((volume) =>
            volume.persistentVolumeClaim
              ? { ...volume, persistentVolumeClaim: { ...volume.persistentVolumeClaim, readOnly: true } }
              : volume,
          ),
          { name: 'never', configMap: { name: `${name}-never` } },
        ],
        restartPolicy: 'Never',
        // Its node is free again even while no operator runs that deletes it.
        activeDeadlineSeconds: 600,
        terminationGracePeriodSeconds: 1,
      },
    });
  }
}

interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly { readonly matchFields?: readonly object[] }[];
  };
}

/** Terms are alternatives: each of them gets the node, too. */
function onNode(given: NodeAffinity = {}, node: string): NodeAffinity {
  const { nodeSelectorTerms = [{}] } = given.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  const isNode = { key: 'metadata.name', operator: 'In', values: [node] };
  const terms = nodeSelectorTerms.map((term) => ({ ...term, matchFields: [...(term.matchFields ?? []), isNode] }));
  return { ...given, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
}

/** What a container requests beyond what the container of its name in another pod has. */
function moreThan({ name, resources = {} }: Container, { containers = [] }: Spec): Container['resources'] {
  const present = containers.find((one) => one.name === name)?.resources?.requests ?? {};
  const requests = Object.entries(resources.requests ?? {}).map(([resource, quantity]) => {
    const more = quantityValue(quantity) - quantityValue(present[resource] ?? '0');
    return [resource, more <= 0 ? '0' : Number.isInteger(more) ? String(more) : `${Math.ceil(more * 1000)}m`] as const;
  });
  return { ...resources, requests: Object.fromEntries(requests) };
}
