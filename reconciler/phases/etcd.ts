import { quantityValue } from '../../constructs/api/quantity.ts';
import { StatefulSet } from '../../constructs/api/resources.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { etcdQuotaBytes, etcdVolumeSize } from '../../constructs/control-plane/etcd-config.ts';
import type { EtcdFacts } from '../../constructs/control-plane/facts.ts';
import { namesOf } from '../../constructs/control-plane/names.ts';
import { memberFacts, writtenStarts } from '../etcd/etcd-facts.ts';
import { knownMembers, watchedMemberObjects } from '../etcd/member-objects.ts';
import { progressOf } from '../etcd/progress.ts';
import { statusOfEtcd } from '../etcd/status-members.ts';
import { presentRevision, type StatefulSetObject } from '../kube/readiness.ts';
import type { KubeObject } from '../kube/object.ts';
import { done, InvalidConfiguration, type Outcome, wait } from '../outcome.ts';
import type { Phase, Scope } from '../scope.ts';
import { etcdCertificates } from './certificates.ts';
import { restore } from './restore.ts';

/** The etcd cluster. Nobody waits for it to be healthy: an ill member must not stop the rest from being looked after. */
export const etcd: Phase = {
  condition: 'EtcdClusterReady',
  needs: [etcdCertificates, restore],
  async run(scope): Promise<Outcome> {
    const { cluster, world, writer } = scope;
    refuseOtherSize(world.get<EtcdSet>(StatefulSet, namesOf(cluster.name).etcd), etcdVolumeSize(cluster));

    const facts = { etcd: etcdFacts(scope) };
    const live = await writer.apply(renderControlPlane(cluster, { ...scope.facts, ...facts }, 'etcd'));

    const set: StatefulSetObject | undefined = live.find(({ kind }) => kind === StatefulSet.kind);
    const report = await scope.etcdCare.look({
      cluster,
      goal: {
        replicas: cluster.spec.etcd.replicas,
        revision: presentRevision(set),
        cause: 'Asked',
        quotaBytes: etcdQuotaBytes(cluster, facts.etcd.volumeSize),
      },
      world,
      writer,
    });
    const found = { report: { etcd: report ? statusOfEtcd(report.observation) : {} } };
    const progress = progressOf(set, report);
    return progress.isDone
      ? done(facts, undefined, found)
      : wait(progress.reason, `etcd: ${progress.message}`, { facts, ...found });
  },
};

function etcdFacts({ cluster, hostedControlPlane, world, etcdCare }: Scope): EtcdFacts {
  const volumeSize = etcdVolumeSize(cluster);
  return {
    ...memberFacts({
      cluster,
      replicas: cluster.spec.etcd.replicas,
      isRecorded: hostedControlPlane.status?.etcd?.clusterID !== undefined,
      members: knownMembers(cluster, watchedMemberObjects(cluster, world)),
      observation: etcdCare.report()?.observation,
      written: writtenStarts(cluster.name, world),
    }),
    volumeSize,
    templateVolumeSize: volumeSize,
  };
}

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
