import { KubeClient } from '../../kube/client.ts';
import type { Connection } from '../../kube/config.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Reach } from '../reconciler-options.ts';

const why = 'the control plane is in quarantine, and this process does not connect to its servers and stores';

/** Access to the servers of a control plane in quarantine: each is as one that does not answer. */
export const cutOffReach: Reach = {
  hostedApi: ({ server }, options) => new KubeClient(cutOffConnection(server), options),
  etcd: refuse,
  etcdMembers: refuse,
  trustProbes: { userOf: refuseLater, isAdmitted: refuseLater, servedBy: refuseLater },
  hasAgent: refuseLater,
};

function cutOffConnection(baseUrl: string): Connection {
  return {
    baseUrl,
    namespace: undefined,
    dispatcher: refuse,
    authHeaders: async () => ({}),
    renew: () => {},
    close: async () => {},
  };
}

/** @throws always */
export function refuse(): never {
  throw new KubeError(why, { code: 0, reason: 'Quarantined' });
}

async function refuseLater(): Promise<never> {
  return refuse();
}
