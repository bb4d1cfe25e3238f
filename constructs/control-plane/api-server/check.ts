import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import type { Endpoint, Facts } from '../../cluster/facts.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { imageReference, kubernetesImage } from '../../cluster/versions.ts';
import { container, helperResources, projected } from '../../pod/component.ts';
import { mergeFlags } from '../../pod/flags.ts';
import { mountsOf } from '../../pod/mounts.ts';
import { withAdditions } from '../../pod/overlay.ts';
import { restrictedPod } from '../../pod/restricted-pod.ts';
import type { ApiServerProps } from './api-server.ts';
import { argumentsBesideFile } from './authentication.ts';
import { checkedAnnotation, checkedConfiguration, checkedFiles } from './checked-configuration.ts';
import { apiServerArgs, apiServerFlags, apiServerPaths } from './flags.ts';
import { pkiVolume } from './pki-volume.ts';

/**
 * The file that the kube-apiserver of a check fails to open, because it does not exist. It is etcd's CA, which
 * kube-apiserver opens once it has accepted its flags and files, and before it connects to anything: its last words name
 * this file when it accepts them, and the cause when it does not. This takes a second; waiting for an etcd that does not
 * answer takes 20.
 */
export const acceptedPath = '/nonexistent/configuration-is-accepted';

/**
 * A pod that runs the kube-apiserver of a control plane once, with its flags and files, to learn whether it accepts them. It
 * reaches no etcd and serves nothing.
 */
export class ApiServerCheck extends Construct {
  /** @param props the control plane as it would become */
  constructor(scope: Construct, id: string, { cluster, facts, endpoint }: ApiServerProps) {
    super(scope, id);
    const metadata = {
      name: namesOf(cluster.name).apiServerCheck,
      namespace: cluster.namespace,
      labels: objectLabels(cluster.name, 'api-server-check'),
    };
    const files = checkedFiles(cluster);
    const settings = cluster.spec.deployment.apiServer;
    const mounts = mountsOf(settings.mounts);
    const volumes = [...new Set(files.map(({ directory }) => directory))].map((directory, index) => {
      const names = files.filter((file) => file.directory === directory).map(({ name }) => [name, name] as const);
      const items = Object.fromEntries(names);
      return { directory, volume: projected(`checked-${index}`, [{ configMap: metadata.name, items }]) };
    });

    if (files.length > 0) {
      new k8s.KubeConfigMap(this, 'config', {
        metadata,
        data: Object.fromEntries(files.map(({ name, content }) => [name, content])),
      });
    }
    const pod = {
      metadata: { ...metadata, annotations: { [checkedAnnotation]: checkedConfiguration(cluster) ?? '' } },
      spec: {
        ...restrictedPod({
          selector: selectorLabels(cluster.name, 'api-server-check'),
          spreadPerRevision: false,
          volumes: [
            pkiVolume(cluster.name),
            ...volumes.map(({ volume }) => volume),
            ...mounts.map(({ volume }) => volume),
          ],
          containers: [
            container({
              name: 'kube-apiserver',
              image: imageReference(
                cluster.spec,
                kubernetesImage('kube-apiserver', cluster.spec.version),
                settings.image,
              ),
              command: ['kube-apiserver'],
              args: apiServerArgs(checkFlags(cluster, endpoint, facts), cluster, endpoint, facts),
              requests,
              settings: { ...settings, resources: helperResources(requests, settings.resources) },
              capabilities: ['NET_BIND_SERVICE'],
              volumeMounts: [
                { name: 'pki', mountPath: apiServerPaths.pki, readOnly: true },
                ...volumes.map(({ directory, volume }) => ({
                  name: volume.name,
                  mountPath: directory,
                  readOnly: true,
                })),
                ...mounts.map(({ volume, path }) => ({ name: volume.name, mountPath: path, readOnly: true })),
              ],
            }),
          ],
        }),
        restartPolicy: 'Never',
        // Ends a pod whose image cannot be pulled, so that the operator tries again.
        activeDeadlineSeconds: 10 * 60,
        terminationGracePeriodSeconds: 5,
      },
    };
    new k8s.KubePod(this, 'pod', withAdditions(pod, [cluster.spec.deployment.defaults, settings]));
  }
}

const requests = { cpu: '50m', memory: '128Mi' };

/**
 * The flags of the API servers without the files that only the operator decides about. A user's own encryption
 * configuration stays.
 */
function checkFlags(cluster: HostedCluster, endpoint: Endpoint, facts: Facts): Record<string, string> {
  const operatorFlags = apiServerFlags(cluster, endpoint, { ...facts, encryptionAtRest: undefined });
  const { 'egress-selector-config-file': _, ...flags } = mergeFlags(operatorFlags, argumentsBesideFile(cluster));
  return { ...flags, 'etcd-cafile': acceptedPath };
}
