import { clusterNameLabel } from '../../constructs/api/group.ts';
import {
  Deployment,
  Event,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  ResourceQuota,
} from '../../constructs/api/resources.ts';
import { messageOf } from '../kube/error-message.ts';
import type { KubeObject } from '../kube/object.ts';
import { clusterArgument, type Command, type Session } from './command.ts';
import { clusterOf, findObject } from './control-plane.ts';
import { conditionOf, type StoredControlPlane } from './control-plane-state.ts';
import { type Evidence, explanation } from './explain/explanation.ts';

/**
 * Asks with the user's own rights for what the operator may not read: events and quotas. What the user may not read either is
 * named, and the rest is explained.
 */
export const explain: Command = {
  name: 'explain',
  usage: 'CLUSTER',
  summary:
    'Explains why a control plane is not Ready: pods, volumes, quotas and events behind it. Exit code 1 when it is not.',
  options: {},
  prepare(given) {
    const name = clusterArgument(given);
    return (session) => explainTo(session, name);
  },
};

async function explainTo(session: Session, name: string): Promise<void> {
  const { terminal } = session;
  const object: StoredControlPlane = await findObject(session, name);
  const cluster = clusterOf(object) ?? name;
  const refusals: string[] = [];
  const evidence = await gather(session, object, cluster, refusals);
  for (const line of explanation(evidence, cluster, session.now(), terminal)) terminal.print(line);
  for (const refusal of refusals) terminal.tell(refusal);
  if (conditionOf(object, 'Ready')?.status !== 'True') throw new Error(`${cluster} is not Ready`);
}

async function gather(
  { client, namespace }: Session,
  object: StoredControlPlane,
  cluster: string,
  refusals: string[],
): Promise<Evidence> {
  const labelSelector = `${clusterNameLabel}=${cluster}`;
  const list = async <T extends KubeObject>(
    resource: Resource,
    selection: object = { labelSelector },
  ): Promise<T[]> => {
    try {
      return [...(await client.list<T>(resource, { namespace, ...selection })).items];
    } catch (error) {
      refusals.push(`not known: ${resource.plural}: ${messageOf(error)}`);
      return [];
    }
  };
  return {
    object,
    deployments: await list(Deployment),
    pods: await list(Pod),
    claims: await list(PersistentVolumeClaim),
    events: await list(Event, {}),
    quotas: await list(ResourceQuota, {}),
  };
}
