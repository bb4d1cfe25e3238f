import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import {
  apiServerArgs,
  apiServerFlags,
  apiServerPaths,
  egressSelectorFile,
  encryptionConfigurationFile,
} from './flags.ts';
import { argumentsBesideFile, AuthenticationConfig, authenticationVolume } from './authentication.ts';
import { AuditConfig, auditMounts, auditRestarts, auditVolumes } from './audit/audit.ts';
import { fanOut, fanOutVolumes } from './audit/fan-out.ts';
import { disruptionBudget } from '../../pod/disruption-budget.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { binariesVersion } from '../../cluster/emulation.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { readAtStart } from '../certificates/restarts.ts';
import { container, podTemplate, probes, projected, oneMoreAtATime } from '../../pod/component.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import { type Endpoint, type Facts, fingerprints, rolloutOf } from '../../cluster/facts.ts';
import { mergeFlags } from '../../pod/flags.ts';
import { usesTunnel } from '../../cluster/in-cluster-access.ts';
import { KonnectivityConfig, konnectivityServer, konnectivityVolumes } from './konnectivity-server.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { mountsOf } from '../../pod/mounts.ts';
import { checkedAnnotation, checkedConfiguration } from './checked-configuration.ts';
import { pkiVolume } from './pki-volume.ts';
import { namesOf } from '../../cluster/names.ts';
import { tunnel, TunnelConfig, tunnelVolumes } from './tunnel.ts';
import { hasChange, imageReference, kubernetesImage } from '../../cluster/versions.ts';

export interface ApiServerProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
  readonly endpoint: Endpoint;
}

/** The API servers, each with a konnectivity server in the same pod. */
export class ApiServer extends Construct {
  constructor(scope: Construct, id: string, { cluster, facts, endpoint }: ApiServerProps) {
    super(scope, id);
    const { apiServer: name, konnectivity, secrets } = namesOf(cluster.name);
    const settings = cluster.spec.deployment.apiServer;
    const metadata = { name, namespace: cluster.namespace, labels: objectLabels(cluster.name, 'api-server') };
    const selector = selectorLabels(cluster.name, 'api-server');
    const mounts = mountsOf(settings.mounts);

    const hasTunnel = usesTunnel(cluster.spec);

    const authentication = authenticationVolume(cluster);
    const tunnelToNodes = konnectivityServer(cluster);

    new KonnectivityConfig(this, 'konnectivity', { cluster });
    new AuthenticationConfig(this, 'authentication', { cluster });
    if (hasTunnel) new TunnelConfig(this, 'tunnel', { cluster });
    if (settings?.audit) new AuditConfig(this, 'audit', { cluster });

    const flags = mergeFlags(apiServerFlags(cluster, endpoint, facts), argumentsBesideFile(cluster));
    const checked = checkedConfiguration(cluster);
    new k8s.KubeDeployment(this, 'deployment', {
      metadata: { ...metadata, ...(checked ? { annotations: { [checkedAnnotation]: checked } } : {}) },
      spec: {
        replicas: cluster.spec.replicas,
        selector: { matchLabels: selector },
        ...definedOnly({ progressDeadlineSeconds: cluster.spec.rollout?.progressDeadlineSeconds }),
        // Never fewer than requested, and one at a time, because every API server reads all of etcd when it starts.
        strategy: oneMoreAtATime,
        template: podTemplate({
          cluster,
          component: 'api-server',
          near: 'etcd',
          settings,
          version: cluster.spec.version,
          binaries: cluster.binaries,
          spreadPerRevision: true,
          restartsWith: {
            ...readAtStart(cluster, facts, 'api-server'),
            ...(facts.encryptionAtRest && !hasChange(cluster.spec.version, 'reportsLoadedEncryption')
              ? fingerprints(facts, [secrets.encryption])
              : {}),
            ...facts.mounts,
            ...auditRestarts(cluster),
            ...rolloutOf(facts),
          },
          volumes: [
            pkiVolume(cluster.name),
            projected('egress', [{ configMap: konnectivity, items: { [egressSelectorFile]: egressSelectorFile } }]),
            ...(facts.encryptionAtRest ? [encryptionVolume(secrets.encryption)] : []),
            ...authentication.volumes,
            ...auditVolumes(cluster),
            ...fanOutVolumes(cluster),
            ...konnectivityVolumes(cluster),
            ...(hasTunnel ? tunnelVolumes(cluster) : []),
            ...mounts.map(({ volume }) => volume),
          ],
          initContainers: [...fanOut(cluster), ...tunnelToNodes.initContainers],
          containers: [
            container({
              name: 'kube-apiserver',
              image: imageReference(
                cluster.spec,
                kubernetesImage('kube-apiserver', binariesVersion(cluster)),
                settings.image,
              ),
              command: ['kube-apiserver'],
              args: apiServerArgs(flags, cluster, endpoint, facts),
              ports: { api: exposureStrategy(cluster.spec).securePort },
              // While etcd has no quorum a restart cures nothing, and its back-off would last longer than the fault.
              probes: probes({
                port: 'api',
                scheme: 'HTTPS',
                startup: '/livez?exclude=etcd',
                readiness: '/readyz',
                liveness: '/livez?exclude=etcd',
                readinessPeriodSeconds: 1,
              }),
              requests: { cpu: '100m', memory: '384Mi' },
              settings,
              // The binary in the published image has this file capability; the kernel does not start it otherwise.
              capabilities: ['NET_BIND_SERVICE'],
              volumeMounts: [
                { name: 'pki', mountPath: apiServerPaths.pki, readOnly: true },
                { name: 'egress', mountPath: apiServerPaths.egress, readOnly: true },
                ...(facts.encryptionAtRest
                  ? [{ name: 'encryption', mountPath: apiServerPaths.encryption, readOnly: true }]
                  : []),
                ...authentication.mounts,
                ...auditMounts(cluster),
                { name: 'konnectivity-sockets', mountPath: apiServerPaths.konnectivitySockets },
                ...mounts.map(({ volume, path }) => ({ name: volume.name, mountPath: path, readOnly: true })),
              ],
            }),
            ...tunnelToNodes.containers,
            ...(hasTunnel ? [tunnel(cluster)] : []),
          ],
        }),
      },
    });

    if (cluster.spec.replicas > 1) {
      const budget = disruptionBudget({ metadata, selector, notReady: 'AlwaysAllow' });
      new k8s.KubePodDisruptionBudget(this, 'budget', budget);
    }
  }
}

/** Only the configuration that the API server reads. The Secret also contains old keys. */
function encryptionVolume(secret: string): k8s.Volume {
  const items = { [encryptionConfigurationFile]: encryptionConfigurationFile };
  return projected('encryption', [{ secret, items }]);
}
