import type { PodObject } from '../../../imports/kubernetes.ts';
import { createHash } from 'node:crypto';
import { Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { authenticationConfiguration } from '../../../constructs/control-plane/api-server/authentication.ts';
import { hasEnded } from '../../kube/readiness.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import { refreshFiles } from '../../clusters/pods/secret-files.ts';

/** Makes kubelets write a changed authentication configuration at once. API servers reload it automatically. */
export async function refreshAuthentication({
  cluster,
  reader,
  writer,
}: Pick<ControlPlaneContext, 'cluster' | 'reader' | 'writer'>): Promise<void> {
  const configuration = authenticationConfiguration(cluster);
  if (configuration === undefined) return;
  const pods = reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server')).filter((pod) => !hasEnded(pod));
  const version = createHash('sha256').update(configuration).digest('hex');
  await refreshFiles(writer, pods, { purpose: 'authentication', version });
}
