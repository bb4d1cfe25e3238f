import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';
import { haproxyImage } from '../../tools/testbed/haproxy-image.ts';

const metadata = { name: 'weather', namespace: 'default' };
const labels = { app: metadata.name };
const host = 'weather.default.svc';
const groupVersion = { group: 'weather.example.org', version: 'v1' };

/** The path of the API, and its answer. */
export const aggregatedPath = `/apis/${groupVersion.group}/${groupVersion.version}`;
export const aggregatedAnswer = '{"kind":"APIResourceList","groupVersion":"weather.example.org/v1","resources":[]}';

/**
 * An API that a pod of the hosted cluster serves over TLS. The API server proxies requests to the pod's Service, whose
 * address exists in the hosted cluster only.
 */
export async function aggregatedApi(): Promise<object[]> {
  const validity = validFor(60 * 60_000, new Date());
  const certificateAuthority = await createCA({ commonName: 'weather' }, validity);
  const subject = { commonName: host, organizations: [], usages: ['server'], hosts: [host] } as const;
  const { certificate, key } = await issueCertificate(subject, certificateAuthority, validity);
  const configuration = `defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 1s
frontend weather
  bind :8443 ssl crt /etc/weather/tls.pem
  http-request return status 200 content-type application/json string '${aggregatedAnswer}'
`;
  const files = { 'haproxy.cfg': configuration, 'tls.pem': certificate + key };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: files },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ port: 443, targetPort: 8443 }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'weather',
            image: haproxyImage,
            command: ['haproxy', '-db', '-f', '/etc/weather/haproxy.cfg'],
            volumeMounts: [{ name: 'files', mountPath: '/etc/weather' }],
          },
        ],
        volumes: [{ name: 'files', secret: { secretName: metadata.name, defaultMode: 0o444 } }],
      },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${groupVersion.version}.${groupVersion.group}` },
      spec: {
        ...groupVersion,
        groupPriorityMinimum: 100,
        versionPriority: 10,
        service: { ...metadata, port: 443 },
        caBundle: Buffer.from(certificateAuthority.certificate).toString('base64'),
      },
    },
  ];
}
