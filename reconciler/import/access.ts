import {
  Cluster,
  HostedControlPlane,
  Lease,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  Secret,
} from '../../constructs/api/resources.ts';
import {
  changingControlPlane,
  type CommandAccess,
  findingControlPlane,
  followingControlPlane,
  forwardingPort,
  readingStore,
} from '../cli/access.ts';
import { k0smotronControlPlane } from './k0smotron.ts';
import { kamajiControlPlane } from './kamaji.ts';
import { TenantControlPlane, ValidatingWebhookConfiguration } from './resources.ts';
import { teutonetControlPlane } from './teutonet.ts';

const others = [
  teutonetControlPlane('any'),
  k0smotronControlPlane('any'),
  kamajiControlPlane({ ...TenantControlPlane, metadata: { name: 'any' } }),
];
const unique = (resources: readonly Resource[]): Resource[] => [...new Set(resources)];
const stopped = unique(
  others.flatMap(({ servers, etcd }) => [...servers, ...(etcd ? [etcd.set] : [])].map(({ resource }) => resource)),
);
const removed = unique(others.flatMap(({ leftovers }) => leftovers.map(({ resource }) => resource)));

/** What an import needs: it takes the parts of another provider out of the way. */
export const importAccess: readonly CommandAccess[] = [
  findingControlPlane,
  followingControlPlane('--yes'),
  changingControlPlane('pausing it, and handing it over to the operator'),
  {
    resource: HostedControlPlane,
    subresource: 'status',
    verbs: ['patch'],
    why: 'removing the conditions of the other provider',
  },
  { resource: Cluster, verbs: ['get', 'patch'], why: 'which control plane it has, and naming the new one' },
  { resource: TenantControlPlane, verbs: ['get'], why: 'where Kamaji has its parts' },
  ...stopped.map((resource): CommandAccess => ({ resource, verbs: ['get', 'patch'], why: 'stopping it' })),
  { resource: Pod, verbs: ['list', 'delete'], why: 'whether all have ended' },
  forwardingPort('etcd, for its last snapshot'),
  ...removed.map((resource): CommandAccess => ({ resource, verbs: ['get', 'delete'], why: 'removing what stays' })),
  { resource: PersistentVolumeClaim, verbs: ['list', 'delete'], why: 'removing what stays' },
  { resource: Secret, verbs: ['create', 'patch'], why: 'the keys of the cluster, and a record of the import' },
  ...readingStore,
  {
    resource: PersistentVolume,
    verbs: ['get', 'patch'],
    why: 'keeping the volumes',
    where: 'cluster',
  },
  { resource: Lease, verbs: ['list'], why: 'whether the operator of the other provider runs', where: 'cluster' },
  {
    resource: ValidatingWebhookConfiguration,
    verbs: ['list'],
    why: 'whether a webhook of the other provider blocks the import',
    where: 'cluster',
  },
];

/** What the deletion of kept volumes needs. */
export const releaseAccess: readonly CommandAccess[] = [
  findingControlPlane,
  { resource: Secret, verbs: ['delete'], why: 'deleting the record of the import' },
  { resource: PersistentVolume, verbs: ['list', 'patch'], why: 'finding and releasing the volumes', where: 'cluster' },
];
