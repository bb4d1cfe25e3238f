import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { binDirectory, type Instance } from '../../tools/testbed/instance.ts';
import { busyboxImage } from '../../tools/testbed/images.ts';

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * A pod with the program `/kubectl` of the testbed, which finds the API server as every client in a pod does.
 * @param command that runs instead of one that waits
 */
export function clientPod(
  instance: Instance,
  name: string,
  node: string,
  command: readonly string[] = ['sleep', '3600'],
): object {
  const kubectl = { name: 'kubectl', mountPath: '/kubectl', readOnly: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node },
      tolerations: [{ operator: 'Exists' }],
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'client', image: busyboxImage, command, volumeMounts: [kubectl] }],
      volumes: [
        {
          name: kubectl.name,
          hostPath: { path: realpathSync(join(binDirectory(instance), 'kubectl')), type: 'File' },
        },
      ],
    },
  };
}

/** The command that connects to the API server through the environment variables of the pod. */
export const byEnvironment = '/kubectl';

/** The command that connects by a name, as programs do that do not use the environment. */
export const byName = (host: string) =>
  `/kubectl --server=https://${host} --certificate-authority=${serviceAccount}/ca.crt --token=$(cat ${serviceAccount}/token)`;

/** Lets pods of namespace `default` read and write ConfigMaps there. */
export const clientRights = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'client-pods', namespace: 'default' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
  subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:serviceaccounts:default' }],
};
