import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { clustersDomain } from './gateway-address.ts';
import { clusterRoleBinding, type Manifest } from './manifest.ts';

/** Name of Traefik and of its Service. */
export const traefikName = { name: 'traefik', namespace: 'traefik' } as const;

/** The Gateway that all hosted clusters share. */
export const gatewayName = { name: 'capi', namespace: 'capi-system' } as const;

const labels = { app: 'traefik' };
const adminPort = 8080;
const tlsPort = 443;

/** Traefik as a pod behind one address, with its permissions: `roles` are those in its module. */
export function traefikObjects(image: string, address: string, roles: readonly KubeObject[]): KubeObject[] {
  const account = { kind: 'ServiceAccount', ...traefikName } as const;
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: traefikName.namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: traefikName },
    ...roles,
    ...roles.map(({ metadata: { name } }) => clusterRoleBinding(name, name, account)),
    deployment(image, address),
    service(address),
    gatewayClass,
    ingressClass,
    gateway,
  ];
}

const gatewayClass: Manifest = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'traefik' },
  spec: { controllerName: 'traefik.io/gateway-controller' },
};

const ingressClass: Manifest = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'nginx' },
  spec: { controller: 'k8s.io/ingress-nginx' },
};

const gateway: Manifest = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: gatewayName,
  spec: {
    gatewayClassName: gatewayClass.metadata.name,
    listeners: [
      {
        name: 'tls-passthrough',
        protocol: 'TLS',
        // Traefik serves a listener only at the port of one of its entry points
        port: tlsPort,
        hostname: `*.${clustersDomain}`,
        tls: { mode: 'Passthrough' },
        allowedRoutes: { namespaces: { from: 'All' } },
      },
    ],
  },
};

function service(address: string): Manifest {
  const ports = [{ name: 'tls', port: tlsPort, protocol: 'TCP', targetPort: tlsPort }];
  const spec = { type: 'LoadBalancer', loadBalancerIP: address, selector: labels, ports };
  return { apiVersion: 'v1', kind: 'Service', metadata: traefikName, spec };
}

function deployment(image: string, address: string): Manifest {
  const container = {
    name: 'traefik',
    image,
    args: traefikFlags(address),
    ports: [{ name: 'tls', containerPort: tlsPort, protocol: 'TCP' }],
    readinessProbe: { httpGet: { path: '/ping', port: adminPort }, periodSeconds: 1 },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
  };
  const securityContext = {
    runAsNonRoot: true,
    runAsUser: 65532,
    seccompProfile: { type: 'RuntimeDefault' },
    // port 443 without root
    sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
  };
  const spec = { serviceAccountName: traefikName.name, securityContext, containers: [container] };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: traefikName,
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** Defaults that do not fit: a watch is cut after a minute of silence, and changes wait for two seconds. */
function traefikFlags(address: string): string[] {
  return [
    '--global.checknewversion=false',
    '--global.sendanonymoususage=false',
    `--entrypoints.admin.address=:${adminPort}`,
    '--ping.entrypoint=admin',
    `--entrypoints.websecure.address=:${tlsPort}`,
    '--entrypoints.websecure.transport.respondingtimeouts.readtimeout=0s',
    '--providers.providersthrottleduration=0.1s',
    '--providers.kubernetesgateway=true',
    `--providers.kubernetesgateway.statusaddress.ip=${address}`,
    '--providers.kubernetesingressnginx=true',
    `--providers.kubernetesingressnginx.publishstatusaddress=${address}`,
    '--providers.kubernetesingressnginx.httpentrypoint=admin',
    '--providers.kubernetesingressnginx.httpsentrypoint=websecure',
    '--providers.kubernetescrd=true',
  ];
}
