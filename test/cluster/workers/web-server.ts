import { busyboxImage } from '../../testbed/images.ts';

const labels = { app: 'web' };

/** A Service in front of {@link webServer}, on port 80. */
export const webService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
};

/** Two replicas on two nodes. The page of each is the name of its node, which it also logs. */
export const webServer = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: labels },
          },
        ],
        containers: [
          {
            name: 'web',
            image: busyboxImage,
            env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
            command: [
              'sh',
              '-c',
              'echo "serving on $NODE"; mkdir /www && echo $NODE >/www/index.html; exec httpd -f -p 8080 -h /www',
            ],
            readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
};
