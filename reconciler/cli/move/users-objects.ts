import { clusterctlMoveLabel } from '../../../constructs/api/group.ts';
import {
  ConfigMap,
  HostedControlPlaneComponentTemplate,
  type Resource,
  resourceNamed,
  Secret,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import { auditTargets } from '../../../constructs/control-plane/api-server/audit/targets.ts';
import { withComponentTemplate } from '../../../constructs/pod/component-template.ts';
import { mountsOf } from '../../../constructs/pod/mounts.ts';
import type { CommandAccess } from '../access.ts';
import { columns } from '../columns.ts';
import { cliFieldManager, type Session } from '../command.ts';
import type { ControlPlane } from '../control-plane.ts';

/** What this needs in the namespace of the control plane. */
export const takingAlong: readonly CommandAccess[] = [
  { resource: HostedControlPlaneComponentTemplate, verbs: ['get'], why: 'the objects that its settings name' },
  { resource: ServiceAccount, verbs: ['get'], why: 'whether the one of etcd.backup.webIdentity exists' },
  ...[Secret, ConfigMap].map((resource): CommandAccess => ({
    resource,
    verbs: ['get', 'patch'],
    why: 'labelling what the spec names, so that clusterctl takes it along',
  })),
];

/** An object of a user that a spec names, and that follows no owner. */
interface UsersObject {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

/** What becomes of it. */
type Travel = UsersObject & { readonly travels: 'labelled' | 'elsewhere' | 'missing' | 'by hand' };

/**
 * The objects that a control plane needs and that users have made, in the order of the list. The operator's own objects follow the
 * HostedControlPlane.
 */
function usersObjectsOf({ object: { spec, metadata } }: Pick<ControlPlane, 'object'>): readonly UsersObject[] {
  const { namespace } = metadata;
  const { backup } = spec.etcd;
  const mounts = mountsOf(spec.deployment.apiServer.mounts).map(({ kind, object }) => ({
    resource: resourceNamed(kind),
    namespace,
    name: object,
  }));
  const secrets = [
    ...(backup ? [{ namespace: backup.secret.namespace ?? namespace, name: backup.secret.name }] : []),
    ...(backup?.encryption ? [{ namespace, name: backup.encryption.secretName }] : []),
    ...auditTargets({ namespace, spec }).flatMap(({ token }) => token ?? []),
    ...pullSecrets(spec).map((name) => ({ namespace, name })),
  ];
  const accounts = backup?.webIdentity ? [backup.webIdentity.serviceAccountName] : [];
  const all: UsersObject[] = [
    ...secrets.map(({ namespace: home, name }) => ({ resource: Secret, namespace: home, name })),
    ...mounts,
    ...accounts.map((name) => ({ resource: ServiceAccount, namespace, name })),
  ];
  const unique = new Map(all.map((one) => [nameOf(one), one]));
  return [...unique.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** Each component has its own list, and so have the defaults of all. */
function pullSecrets({ deployment, etcd }: ControlPlane['object']['spec']): string[] {
  return [...Object.values(deployment), etcd].flatMap((pods: object | undefined) => {
    const { imagePullSecrets = [] } = (pods ?? {}) as { imagePullSecrets?: readonly { readonly name: string }[] };
    return imagePullSecrets.map(({ name }) => name);
  });
}

function nameOf({ resource: { kind }, namespace, name }: UsersObject): string {
  return `${kind} ${namespace}/${name}`;
}

/**
 * Labels the users' objects, so that `clusterctl move` takes them along. It takes no kind but Secrets and ConfigMaps, of one
 * namespace.
 * @throws when the component template that the spec refers to is missing or does not fit
 */
export async function takeAlong(
  session: Session,
  { object }: Pick<ControlPlane, 'object'>,
): Promise<readonly Travel[]> {
  const found: Travel[] = [];
  for (const one of usersObjectsOf({ object: await withSettings(session, object) }))
    found.push({ ...one, travels: await label(session, one) });
  return found;
}

/** The object with the settings of its component template. */
async function withSettings({ client }: Session, object: ControlPlane['object']): Promise<ControlPlane['object']> {
  const { name } = object.spec.componentTemplateRef ?? {};
  if (name === undefined) return object;
  const { namespace } = object.metadata;
  const template = await client.find(HostedControlPlaneComponentTemplate, { namespace, name });
  const combined = withComponentTemplate(object, () => template);
  if (!combined.valid) throw new Error(`HostedControlPlane ${object.metadata.name} is invalid: ${combined.message}`);
  return combined.hostedControlPlane;
}

async function label({ client, namespace }: Session, one: UsersObject): Promise<Travel['travels']> {
  if (one.namespace !== namespace) return 'elsewhere';
  const place = { namespace, name: one.name };
  if (!(await client.find(one.resource, place))) return 'missing';
  if (one.resource !== Secret && one.resource !== ConfigMap) return 'by hand';
  await client.mergePatch(
    one.resource,
    place,
    { metadata: { labels: { [clusterctlMoveLabel]: '' } } },
    cliFieldManager,
  );
  return 'labelled';
}

const sentences: Readonly<Record<Travel['travels'], string>> = {
  labelled: `travels: it has the label ${clusterctlMoveLabel} now`,
  elsewhere: 'does not travel, because it is in another namespace: create it in the other management cluster',
  missing: 'does not exist',
  'by hand': 'does not travel, because clusterctl moves no such kind: create it in the other management cluster',
};

/** What becomes of the users' objects, a line for each. */
export function describeObjects(objects: readonly Travel[]): string[] {
  return columns(objects.map((one) => [nameOf(one), sentences[one.travels]]));
}
