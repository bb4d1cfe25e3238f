import { Yaml } from 'cdk8s';

/** File names in the directory of a component's kubeconfig, which refers to them by relative path. */
export const kubeconfigFiles = {
  config: 'kubeconfig',
  ca: 'ca.crt',
  certificate: 'client.crt',
  key: 'client.key',
};

/**
 * The kubeconfig of a component, without secrets: it refers to certificate files in the same directory. client-go
 * reloads these files when they change, so a renewed certificate needs no restart.
 */
export function componentKubeconfig(cluster: string, user: string, server: string): string {
  return Yaml.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: { server, 'certificate-authority': kubeconfigFiles.ca } }],
    users: [
      {
        name: user,
        user: { 'client-certificate': kubeconfigFiles.certificate, 'client-key': kubeconfigFiles.key },
      },
    ],
    contexts: [{ name: `${user}@${cluster}`, context: { cluster, user } }],
    'current-context': `${user}@${cluster}`,
  });
}
