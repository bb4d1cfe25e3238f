import { expect, it } from 'vitest';
import { cutOffReach } from '../../../../reconciler/reconcile/quarantine/cut-off.ts';

const { hostedApi: _, trustProbes, ...others } = cutOffReach;
const asked: readonly [string, (...given: never[]) => unknown][] = Object.entries({ ...others, ...trustProbes });

it.each(asked)('of a control plane in quarantine this process does not ask %s', async (_name, ask) => {
  await expect((async () => ask())()).rejects.toThrow('the control plane is in quarantine');
});
