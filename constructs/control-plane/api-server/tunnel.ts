import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { container, healthzProbes, projected } from '../../pod/component.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import { haproxyConfig, haproxyFiles, haproxyImage, haproxyScript } from '../../pod/haproxy.ts';
import { defaultGraceSeconds, servedSeconds } from '../../pod/shutdown.ts';
import { objectLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { imageReference } from '../../cluster/versions.ts';

const paths = { config: '/etc/tunnel/config', pki: '/etc/tunnel/pki' } as const;
/** HAProxy reads the key of a certificate from the file with the same name and the suffix `.key`. */
const certificate = { certificate: 'tls.pem', key: 'tls.pem.key' } as const;

/** ConfigMap of the tunnel's endpoint next to the API server. */
export class TunnelConfig extends Construct {
  constructor(scope: Construct, id: string, { cluster }: { readonly cluster: HostedCluster }) {
    super(scope, id);
    const certificateFile = `${paths.pki}/${certificate.certificate}`;
    new k8s.KubeConfigMap(this, 'config', {
      metadata: {
        name: namesOf(cluster.name).tunnel,
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'api-server'),
      },
      data: {
        [haproxyFiles.config]: haproxyConfig({
          connections: 20_000,
          health: `\${POD_IP}:${ports.tunnelHealth}`,
          sections: [
            [
              'frontend tunnel',
              // The tunnel does not request client certificates, so that no worker holds a key. The API server behind
              // it requests credentials, and a route exposes it to all clients anyway.
              `bind "\${POD_IP}:${ports.tunnel}" ssl crt ${certificateFile} ssl-min-ver TLSv1.3`,
              'default_backend api-server',
            ],
            ['backend api-server', `server local 127.0.0.1:${exposureStrategy(cluster.spec).securePort}`],
          ],
        }),
        [haproxyFiles.script]: haproxyScript({
          config: `${paths.config}/${haproxyFiles.config}`,
          watched: [certificateFile, `${paths.pki}/${certificate.key}`],
          serveSeconds: servedSeconds,
          graceSeconds: defaultGraceSeconds,
        }),
      },
    });
  }
}

/**
 * The tunnel's endpoint next to an API server. It terminates the outer TLS, which only carries the name by which a
 * gateway routes, and forwards the inner connection, whose TLS is between the API server and the client in the pod.
 */
export function tunnel({ spec }: HostedCluster): k8s.Container {
  return container({
    name: 'tunnel',
    image: imageReference(spec, haproxyImage, spec.proxy.image),
    command: ['sh', `${paths.config}/${haproxyFiles.script}`],
    args: [],
    env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    ports: { tunnel: ports.tunnel, 't-health': ports.tunnelHealth },
    probes: healthzProbes('t-health'),
    requests: { cpu: '10m', memory: '48Mi' },
    settings: spec.proxy,
    volumeMounts: [
      { name: 'tunnel-config', mountPath: paths.config, readOnly: true },
      { name: 'tunnel-pki', mountPath: paths.pki, readOnly: true },
    ],
  });
}

/** The volumes of {@link tunnel}. */
export function tunnelVolumes(cluster: HostedCluster): k8s.Volume[] {
  const { tunnel: name, secrets } = namesOf(cluster.name);
  const { config, script } = haproxyFiles;
  return [
    projected('tunnel-config', [{ configMap: name, items: { [config]: config, [script]: script } }]),
    projected('tunnel-pki', [
      { secret: secrets.tunnel, items: { [certificate.certificate]: 'tls.crt', [certificate.key]: 'tls.key' } },
    ]),
  ];
}
