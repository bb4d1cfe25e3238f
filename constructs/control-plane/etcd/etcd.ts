import { createHash } from 'node:crypto';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { disruptionBudget } from '../../pod/disruption-budget.ts';
import { releaseRevisionAnnotation } from '../../api/group.ts';
import { readAtStart } from '../certificates/restarts.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { container, podTemplate, probes, projected } from '../../pod/component.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { etcdMemberConfig, etcdPaths, etcdSettingsOf, etcdVolumeSize } from './config.ts';
import { type Facts, rolloutOf } from '../../cluster/facts.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { etcdMember, namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { newestRevision, rendersWith } from '../../cluster/release-revisions.ts';
import { etcdTag, etcdVersion, imageReference } from '../../cluster/versions.ts';

/**
 * Annotation of the StatefulSet with the size of the volumes that the members' quota is computed from. While volumes
 * grow, and after one was recreated, no other field has this size.
 */
export const etcdVolumeSizeAnnotation = 'controlplane.cluster.x-k8s.io/etcd-volume-size';

/** Name of the port at which members serve HTTP, in pods that have one for it. */
export const etcdHTTPPortName = 'http';

export interface EtcdProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
}

/**
 * The etcd cluster of one hosted control plane: a StatefulSet whose members start in parallel, one configuration file
 * per member, and two Services, a headless one for peers and one with the Ready members for clients.
 */
export class Etcd extends Construct {
  constructor(scope: Construct, id: string, { cluster: wanted, facts }: EtcdProps) {
    super(scope, id);
    const cluster = renderedNow(wanted, facts);
    const names = namesOf(cluster.name);
    const settings = cluster.spec.etcd;
    const members = facts.etcd?.pods ?? settings.replicas;
    const volumeSize = facts.etcd?.volumeSize ?? etcdVolumeSize(cluster);
    const labels = objectLabels(cluster.name, 'etcd');
    const selector = selectorLabels(cluster.name, 'etcd');
    const metadata = (name: string) => ({ name, namespace: cluster.namespace, labels });

    new k8s.KubeService(this, 'peer-service', {
      metadata: metadata(names.etcdPeerService),
      spec: {
        clusterIp: 'None',
        // Members resolve each other before any of them is Ready.
        publishNotReadyAddresses: true,
        selector,
        ports: [port('client', ports.etcdClient), port('peer', ports.etcdPeer)],
      },
    });

    new k8s.KubeService(this, 'client-service', {
      metadata: metadata(names.etcdClientService),
      spec: { type: 'ClusterIP', selector, ports: [port('client', ports.etcdClient)] },
    });

    const ordinals = Array.from({ length: members }, (_, ordinal) => ordinal);
    new k8s.KubeConfigMap(this, 'members', {
      metadata: metadata(names.etcdMembers),
      data: Object.fromEntries(
        ordinals.map((ordinal) => [
          `${etcdMember(cluster.name, ordinal)}.yaml`,
          etcdMemberConfig(cluster, ordinal, { members, etcd: facts.etcd }),
        ]),
      ),
    });

    const image = imageReference(
      cluster.spec,
      {
        registry: 'registry.k8s.io',
        repository: 'etcd',
        tag: etcdTag(facts.etcd?.version ?? etcdVersion(cluster)),
      },
      settings?.image,
    );
    new k8s.KubeStatefulSet(this, 'members-set', {
      metadata: {
        ...metadata(names.etcd),
        annotations: {
          [etcdVolumeSizeAnnotation]: volumeSize,
          [releaseRevisionAnnotation]: String(cluster.release?.revision ?? newestRevision),
        },
      },
      spec: {
        replicas: members,
        serviceName: names.etcdPeerService,
        // With OrderedReady, the first member would wait for a quorum that cannot form.
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: selector },
        // The StatefulSet controller cannot replace one member at a time only while the others are healthy.
        updateStrategy: { type: 'OnDelete' },
        // Data never depends on garbage collection: the operator deletes claims before it removes the finalizer, only
        // on a real deletion.
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
        template: podTemplate({
          cluster,
          component: 'etcd',
          settings,
          restartsWith: {
            ...readAtStart(cluster, facts, 'etcd'),
            settings: settingsHash(cluster, facts),
            ...rolloutOf(facts),
          },
          spreadPerRevision: false,
          volumes: [
            { name: 'members', configMap: { name: names.etcdMembers } },
            projected('pki', [
              { secret: names.secrets.etcdCA, items: { 'ca.crt': 'tls.crt' } },
              { secret: names.secrets.etcdServer, items: { 'server.crt': 'tls.crt', 'server.key': 'tls.key' } },
              { secret: names.secrets.etcdPeer, items: { 'peer.crt': 'tls.crt', 'peer.key': 'tls.key' } },
            ]),
          ],
          containers: [
            container({
              name: 'etcd',
              image: facts.etcd?.image ?? image,
              command: ['etcd'],
              args: [`--config-file=${etcdPaths.members}/$(POD_NAME).yaml`],
              env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
              ports: {
                client: ports.etcdClient,
                peer: ports.etcdPeer,
                metrics: ports.etcdMetrics,
                ...(rendersWith(cluster, 'separatesEtcdHTTP') ? { [etcdHTTPPortName]: ports.etcdHTTP } : {}),
              },
              // /readyz needs a quorum, /livez does not. A liveness probe that needs a quorum would restart the
              // remaining members.
              probes: probes({
                port: 'metrics',
                scheme: 'HTTP',
                startup: '/readyz',
                readiness: '/readyz',
                liveness: '/livez',
                readinessPeriodSeconds: 5,
                // A member is not ready without a quorum, or while it copies the data of the others. A restart would
                // only delay it.
                startupLimitSeconds: 24 * 60 * 60,
              }),
              requests: { cpu: '50m', memory: '128Mi' },
              settings,
              volumeMounts: [
                { name: dataVolume, mountPath: etcdPaths.volume },
                { name: 'members', mountPath: etcdPaths.members, readOnly: true },
                { name: 'pki', mountPath: etcdPaths.pki, readOnly: true },
              ],
            }),
          ],
        }),
        volumeClaimTemplates: [
          {
            metadata: { name: dataVolume, labels },
            spec: {
              accessModes: ['ReadWriteOnce'],
              ...definedOnly({
                storageClassName: facts.etcd ? facts.etcd.templateStorageClass : settings.storageClassName,
              }),
              resources: {
                requests: { storage: k8s.Quantity.fromString(facts.etcd?.templateVolumeSize ?? volumeSize) },
              },
            },
          },
        ],
      },
    });

    if (members > 1) {
      // Without a quorum no member is ready, and those that still run are what it can form from again: a drain waits for it.
      const budget = disruptionBudget({ metadata: metadata(names.etcd), selector, notReady: 'IfHealthyBudget' });
      new k8s.KubePodDisruptionBudget(this, 'budget', budget);
    }
  }
}

const dataVolume = 'etcd-data';

/** The cluster as etcd is rendered now: its release waits together with its version. */
function renderedNow(cluster: HostedCluster, { etcd }: Facts): HostedCluster {
  const { release } = cluster;
  const revision = etcd?.releaseRevision;
  return release === undefined || revision === undefined ? cluster : { ...cluster, release: { ...release, revision } };
}

function port(name: string, number: number): k8s.ServicePort {
  return { name, port: number, targetPort: k8s.IntOrString.fromString(name), protocol: 'TCP' };
}

/** Changes with the settings of all members, and not with the membership. */
function settingsHash(cluster: HostedCluster, facts: Facts): string {
  return createHash('sha256')
    .update(JSON.stringify(etcdSettingsOf(cluster, facts.etcd)))
    .digest('hex')
    .slice(0, 12);
}
