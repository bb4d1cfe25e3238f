import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { container, probes, projected } from '../../pod/component.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import { haproxyConfig, haproxyFiles, haproxyImage, haproxyScript } from '../../pod/haproxy.ts';
import { objectLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { imageReference } from '../../cluster/versions.ts';

const paths = { config: '/etc/tunnel/config', pki: '/etc/tunnel/pki' } as const;
/** HAProxy looks for the key of a certificate beside it, under its name and `.key`. */
const certificate = { certificate: 'tls.pem', key: 'tls.pem.key' } as const;

/** As long as the API server serves after it was told to stop: see its flag `shutdown-delay-duration`. */
const serveSeconds = 3;
/** Less than the pod's 30 seconds; it takes as long as the API server takes to end its watches. */
const drainSeconds = 20;

/** ConfigMap of the tunnel's end beside the API server. */
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
              // No client certificate is asked for, so that no key lies on any worker. What is behind asks for
              // credentials itself, and is served to everybody by the route beside this one anyway.
              `bind "\${POD_IP}:${ports.tunnel}" ssl crt ${certificateFile} ssl-min-ver TLSv1.3`,
              'default_backend api-server',
            ],
            ['backend api-server', `server local 127.0.0.1:${exposureStrategy(cluster.spec).securePort}`],
          ],
        }),
        [haproxyFiles.script]: haproxyScript({
          config: `${paths.config}/${haproxyFiles.config}`,
          watched: [certificateFile, `${paths.pki}/${certificate.key}`],
          serveSeconds,
          drainSeconds,
        }),
      },
    });
  }
}

/**
 * The tunnel's end beside an API server: takes off the outer TLS, which only carries the name a gateway routes by, and
 * passes on the connection inside, whose TLS is that of the API server and of the client in the pod.
 */
export function tunnel({ spec: { proxy } }: HostedCluster): k8s.Container {
  return container({
    name: 'tunnel',
    image: imageReference(haproxyImage, proxy.image),
    command: ['sh', `${paths.config}/${haproxyFiles.script}`],
    args: [],
    env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    ports: { tunnel: ports.tunnel, 't-health': ports.tunnelHealth },
    probes: probes({
      port: 't-health',
      scheme: 'HTTP',
      startup: '/healthz',
      readiness: '/healthz',
      liveness: '/healthz',
      readinessPeriodSeconds: 5,
    }),
    requests: { cpu: '10m', memory: '48Mi' },
    settings: proxy,
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
