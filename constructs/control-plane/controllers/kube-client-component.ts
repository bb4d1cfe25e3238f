import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { disruptionBudget } from '../../pod/disruption-budget.ts';
import type { ControllerPod } from '../../api/pod-spec.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { binariesVersion, emulationFlags } from '../../cluster/emulation.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import {
  container,
  podTemplate,
  probes,
  projected,
  type ProjectedSource,
  oneMoreAtATime,
} from '../../pod/component.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import { type Flag, renderFlags } from '../../pod/flags.ts';
import { componentKubeconfig, kubeconfigFiles } from './kubeconfig.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { imageReference, kubernetesImage } from '../../cluster/versions.ts';

export const kubeClientPaths = { kubeconfig: '/etc/kubernetes/kubeconfig', pki: '/etc/kubernetes/pki' } as const;

/** Flags of both the controller manager and the scheduler. */
export const kubeClientFlags: readonly Flag[] = (() => {
  const file = `${kubeClientPaths.kubeconfig}/${kubeconfigFiles.config}`;
  return [
    ['authentication-kubeconfig', file, ''],
    ['authorization-kubeconfig', file, ''],
    ['kubeconfig', file, ''],
    ['leader-elect', 'true', 'also with one replica: during a rollout two may run'],
    ['profiling', 'false', 'CIS benchmark'],
  ] as const;
})();

export interface KubeClientComponentProps {
  readonly cluster: HostedCluster;
  readonly component: 'controller-manager' | 'scheduler';
  readonly flags: readonly Flag[];
  readonly settings: ControllerPod;
  readonly port: number;
  readonly probePaths: { readonly startup: string; readonly readiness: string; readonly liveness: string };
  readonly requests: { readonly cpu: string; readonly memory: string };
  /** Name of the Secret with its client certificate. */
  readonly clientCertificate: string;
  /** Additional files below {@link kubeClientPaths.pki}. */
  readonly pki: readonly ProjectedSource[];
  readonly restartsWith: Readonly<Record<string, string>>;
}

/** A component that is only a client of the API server: its Deployment and its kubeconfig. */
export class KubeClientComponent extends Construct {
  constructor(scope: Construct, id: string, props: KubeClientComponentProps) {
    super(scope, id);
    const { cluster, component, settings } = props;
    const names = namesOf(cluster.name);
    const name = `${cluster.name}-${component}`;
    const program = `kube-${component}`;
    const metadata = { name, namespace: cluster.namespace, labels: objectLabels(cluster.name, component) };
    const selector = selectorLabels(cluster.name, component);
    const apiPort = exposureStrategy(cluster.spec).service.apiPorts.api;
    const replicas = settings.replicas;

    new k8s.KubeConfigMap(this, 'kubeconfig', {
      metadata,
      data: {
        [kubeconfigFiles.config]: componentKubeconfig(
          cluster.name,
          program,
          `https://${names.apiService}.${cluster.namespace}.svc:${apiPort}`,
        ),
      },
    });

    new k8s.KubeDeployment(this, 'deployment', {
      metadata,
      spec: {
        replicas,
        selector: { matchLabels: selector },
        ...definedOnly({ progressDeadlineSeconds: cluster.spec.rollout?.progressDeadlineSeconds }),
        // The old pod stays until the new one is ready: a new one that never gets ready leaves no gap.
        strategy: oneMoreAtATime,
        template: podTemplate({
          cluster,
          component,
          near: 'api-server',
          settings,
          spreadPerRevision: true,
          restartsWith: props.restartsWith,
          volumes: [
            projected('kubeconfig', [
              { configMap: name, items: { [kubeconfigFiles.config]: kubeconfigFiles.config } },
              { secret: names.secrets.clusterCA, items: { [kubeconfigFiles.ca]: 'tls.crt' } },
              {
                secret: props.clientCertificate,
                items: { [kubeconfigFiles.certificate]: 'tls.crt', [kubeconfigFiles.key]: 'tls.key' },
              },
            ]),
            ...(props.pki.length > 0 ? [projected('pki', props.pki)] : []),
          ],
          containers: [
            container({
              name: program,
              image: imageReference(cluster.spec, kubernetesImage(program, binariesVersion(cluster)), settings.image),
              command: [program],
              args: renderFlags([...props.flags, ...emulationFlags(cluster)], settings.args),
              ports: { https: props.port },
              probes: probes({ port: 'https', scheme: 'HTTPS', ...props.probePaths, readinessPeriodSeconds: 5 }),
              requests: props.requests,
              settings,
              volumeMounts: [
                { name: 'kubeconfig', mountPath: kubeClientPaths.kubeconfig, readOnly: true },
                ...(props.pki.length > 0 ? [{ name: 'pki', mountPath: kubeClientPaths.pki, readOnly: true }] : []),
              ],
            }),
          ],
        }),
      },
    });

    if (replicas > 1) {
      const budget = disruptionBudget({ metadata, selector, notReady: 'AlwaysAllow' });
      new k8s.KubePodDisruptionBudget(this, 'budget', budget);
    }
  }
}
