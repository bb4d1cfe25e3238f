import { open, readdir, readFile, rm, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkStore } from './image-store.ts';
import { firstWorkerNumber, loadBalancerNumbers, type Instance } from './instance.ts';
import { powerOff, powerOn } from './machine-power.ts';
import type { Machine } from './machine.ts';

/**
 * Gives an instance its own hard links to an image store, for all its machines: the store in the cache is removed
 * when another instance packs newer images.
 */
export async function keepImageStore(instance: Instance, store: string, pauseImage: string): Promise<void> {
  const own = storeDirectory(instance);
  await mkdir(own, { recursive: true });
  await linkStore(store, own);
  await writeFile(pauseImagePath(instance), pauseImage);
}

/** Creates a machine with containerd and every image of the testbed. The instance must have an image store. */
export async function makeMachine(instance: Instance, name: string, number: number): Promise<Machine> {
  const pauseImage = await readFile(pauseImagePath(instance), 'utf8');
  const fillImageStore = (containerdRoot: string): Promise<void> => linkStore(storeDirectory(instance), containerdRoot);
  return powerOn(instance, { name, number, pauseImage, fillImageStore });
}

/** Adds a machine beside the management cluster's own, for a worker node of a hosted cluster. */
export async function addMachine(instance: Instance, name: string): Promise<Machine> {
  const number = await claimNumber(instance, name);
  try {
    return await makeMachine(instance, name, number);
  } catch (error) {
    await removeMachine(instance, name);
    throw error;
  }
}

/** Ends a machine that {@link addMachine} created. Returns what it left on the host, which is nothing unless there is a fault. */
export async function removeMachine(instance: Instance, name: string): Promise<string[]> {
  const left = await powerOff(instance, name);
  const directory = numbersDirectory(instance);
  for (const number of await readdir(directory).catch(() => [])) {
    const path = join(directory, number);
    // another machine may be removed at the same time, with its file
    if ((await readFile(path, 'utf8').catch(() => '')) === name) await rm(path);
  }
  return left;
}

/** One file per number, created by one process only: machines may be added at the same time. */
async function claimNumber(instance: Instance, name: string): Promise<number> {
  await mkdir(numbersDirectory(instance), { recursive: true });
  for (let number = firstWorkerNumber; number < loadBalancerNumbers.first; number += 1) {
    const file = await open(join(numbersDirectory(instance), String(number)), 'wx').catch(() => undefined);
    if (!file) continue;
    await file.writeFile(name);
    await file.close();
    return number;
  }
  throw new Error(`testbed ${instance.name} has no address left for machine ${name}: remove others first`);
}

function numbersDirectory(instance: Instance): string {
  return join(instance.directory, 'numbers');
}

function storeDirectory(instance: Instance): string {
  return join(instance.directory, 'image-store');
}

function pauseImagePath(instance: Instance): string {
  return join(instance.directory, 'pause-image');
}
