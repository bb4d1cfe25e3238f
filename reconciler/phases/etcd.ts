import { quantityValue } from '../../constructs/api/quantity.ts';
import { StatefulSet } from '../../constructs/api/resources.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { etcdVolumeSize } from '../../constructs/control-plane/etcd-config.ts';
import { namesOf } from '../../constructs/control-plane/names.ts';
import { statefulSetReadiness } from '../kube/readiness.ts';
import type { KubeObject } from '../kube/object.ts';
import { done, InvalidConfiguration, type Outcome, wait } from '../outcome.ts';
import type { Phase } from '../scope.ts';
import { etcdCertificates } from './certificates.ts';
import { restore } from './restore.ts';

/** The etcd cluster. Nobody waits for it to be healthy: an ill member must not stop the rest from being looked after. */
export const etcd: Phase = {
  condition: 'EtcdClusterReady',
  needs: [etcdCertificates, restore],
  async run({ cluster, facts, world, writer }): Promise<Outcome> {
    refuseOtherSize(world.get<EtcdSet>(StatefulSet, namesOf(cluster.name).etcd), etcdVolumeSize(cluster));

    const live = await writer.apply(renderControlPlane(cluster, facts, 'etcd'));

    const readiness = statefulSetReadiness(live.find(({ kind }) => kind === StatefulSet.kind));
    return readiness.ready ? done() : wait('WaitingForMembers', `etcd: ${readiness.message}`);
  },
};

/** The part of the StatefulSet that Kubernetes does not let anybody change. */
interface EtcdSet extends KubeObject {
  readonly spec?: {
    readonly volumeClaimTemplates?: readonly {
      readonly spec: { readonly resources?: { readonly requests?: { readonly storage?: string } } };
    }[];
  };
}

/** Growing volumes is work of its own; until then a person is told in words of the spec and not of the StatefulSet. */
function refuseOtherSize(set: EtcdSet | undefined, wanted: string): void {
  const present = set?.spec?.volumeClaimTemplates?.[0]?.spec.resources?.requests?.storage;
  if (present === undefined || quantityValue(present) === quantityValue(wanted)) return;
  throw new InvalidConfiguration(
    'VolumeSizeChanged',
    `etcd's volumes have ${present} and cannot be changed to ${wanted} in this release: set etcd.volumeSize to ${present}`,
  );
}
