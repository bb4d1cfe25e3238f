import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PersistentVolumeClaim, Service } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { connect, loadKubeConfig } from '../../../reconciler/kube/config.ts';
import { isNotFound } from '../../../reconciler/kube/errors.ts';
import { Informer } from '../../../reconciler/kube/informer.ts';
import { objectKey } from '../../../reconciler/kube/object.ts';
import { instanceFrom, kubeconfigPath, lanAddress, loadBalancerNumbers } from './instance.ts';
import { planLoadBalancers, type LoadBalancerService } from './load-balancers.ts';
import { findMachine } from './machine.ts';
import { extraAddresses, setExtraAddresses } from './network.ts';
import {
  planVolumes,
  PersistentVolume,
  volumeFor,
  type VolumeClaim,
  type Volume,
  type VolumeAction,
} from './volumes.ts';

/**
 * Acts as a cloud for a cluster: volumes for claims and addresses for Services of type LoadBalancer. A separate process
 * that runs as long as the testbed does: `cloud.ts <instance>`.
 */
const instance = instanceFrom(process.env, process.argv[2]);
const machine = await findMachine(instance, 'm');
if (!machine) throw new Error(`testbed ${instance.name} has no management machine: npm run testbed -- up`);
const { directory, name: node, pid } = machine;

const fieldManager = 'testbed-cloud';
const client = new KubeClient(await connect(loadKubeConfig(kubeconfigPath(instance))));
const watched = { client, clock: systemClock, onError: complain };
const claims = new Informer<VolumeClaim>({ ...watched, resource: PersistentVolumeClaim });
const volumes = new Informer<Volume>({ ...watched, resource: PersistentVolume });
const services = new Informer<LoadBalancerService>({ ...watched, resource: Service });
const pool = Array.from({ length: loadBalancerNumbers.last - loadBalancerNumbers.first + 1 }, (_, index) =>
  lanAddress(instance, loadBalancerNumbers.first + index),
);

const settleVolumes = coalescing(async () => {
  for (const action of planVolumes(claims.list(), volumes.list())) await perform(action);
});
/** By the uid of a Service. */
const given = new Map<string, string>();
const settleLoadBalancers = coalescing(async () => {
  const listed = services.list();
  const { assignments, addresses } = planLoadBalancers(listed, pool, given);
  for (const uid of given.keys()) if (!listed.some(({ metadata }) => metadata.uid === uid)) given.delete(uid);
  if (!isEqual(addresses, await extraAddresses(pid))) await setExtraAddresses(pid, addresses);
  for (const { service, address } of assignments) {
    console.log(`Service ${objectKey(service.metadata)}: ${address ?? 'no address'}`);
    const patch = { status: { loadBalancer: address ? { ingress: [{ ip: address, ipMode: 'VIP' }] } : null } };
    await client.mergePatch(Service, service.metadata, patch, { fieldManager, subresource: 'status' });
    const { uid = '' } = service.metadata;
    if (address === undefined) given.delete(uid);
    else given.set(uid, address);
  }
});

for (const informer of [claims, volumes, services]) informer.start();
await Promise.all([claims.synced, volumes.synced, services.synced]);
claims.onChange(settleVolumes);
volumes.onChange(settleVolumes);
services.onChange(settleLoadBalancers);
console.log(`watching ${instance.name}`);

async function perform(action: VolumeAction): Promise<void> {
  const path = join(directory, 'data/volumes', action.volume);
  console.log(`${action.type} ${action.volume}`);
  switch (action.type) {
    case 'provision': {
      await mkdir(path, { recursive: true });
      const options = { fieldManager, force: true, resource: PersistentVolume };
      await client.apply<Volume>(volumeFor(action.claim, path, node), options);
      return;
    }
    case 'expand': {
      const capacity = { storage: action.storage };
      await client.mergePatch(PersistentVolume, { name: action.volume }, { spec: { capacity } }, { fieldManager });
      const status = { fieldManager, subresource: 'status' };
      await client.mergePatch(PersistentVolumeClaim, action.claim.metadata, { status: { capacity } }, status);
      return;
    }
    case 'delete':
      await rm(path, { recursive: true, force: true });
      await client.delete(PersistentVolume, { name: action.volume });
  }
}

/** Runs the work once at a time and once more if it is requested meanwhile; retries shortly after a failure. */
function coalescing(work: () => Promise<void>): () => void {
  let state: 'idle' | 'busy' | 'again' = 'idle';
  const go = async (): Promise<void> => {
    do {
      state = 'busy';
      try {
        await work();
      } catch (error) {
        // the object is gone: the next event reports that too
        if (!isNotFound(error)) {
          complain(error);
          setTimeout(ask, 300);
        }
      }
    } while (isAskedAgain());
    state = 'idle';
  };
  const isAskedAgain = (): boolean => state === 'again';
  const ask = (): void => {
    if (state === 'idle') void go();
    else state = 'again';
  };
  return ask;
}

function isEqual(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((address) => other.has(address));
}

function complain(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
}
