import { keyFinalizer } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import {
  describeDiffering,
  discardSecret,
  heldSecrets,
  type HeldSecret,
  planHold,
  replaceSecret,
} from './held-secret.ts';
import { secretProps } from './secret-props.ts';

type Context = Pick<ControlPlaneContext, 'cluster' | 'hostedControlPlane' | 'reader' | 'writer'>;

/** What has happened to the Secrets that cannot be made again. */
export interface HeldSecrets {
  /** Deleted by a person, and in their place again. */
  readonly replaced: readonly string[];
  /** Why others are not, as sentences. */
  readonly problems: readonly string[];
}

/** Holds the keys of a control plane, and replaces those that are being deleted, before any phase reads them. */
export async function holdSecrets(context: Context): Promise<HeldSecrets> {
  const replaced: string[] = [];
  const problems: string[] = [];
  for (const held of heldSecrets(context.cluster.name, context.reader)) {
    const step = planHold(held, context.hostedControlPlane.metadata.uid);
    const problem = await execute(context, held, step);
    if (problem !== undefined) problems.push(problem);
    else if (step === 'replace' || step === 'copyAgain') replaced.push(held.name);
  }
  return { replaced, problems };
}

async function execute(
  context: Context,
  held: HeldSecret,
  step: ReturnType<typeof planHold>,
): Promise<string | undefined> {
  const { writer } = context;
  const { name, original, copy } = held;
  const { owner } = secretProps(context, name);
  const successor = { ownerReferences: [owner], finalizers: [keyFinalizer] };
  switch (step) {
    case 'none':
      return undefined;
    case 'protect':
      if (original)
        await writer.setFinalizers(Secret, original, [...(original.metadata.finalizers ?? []), keyFinalizer]);
      return undefined;
    case 'tidy':
      if (copy) await discardSecret(writer, copy);
      return undefined;
    case 'differs':
      return describeDiffering(name);
    case 'copyAgain':
      if (copy) await discardSecret(writer, copy);
      return replaceSecret(writer, { ...held, copy: undefined }, successor);
    case 'replace':
      return replaceSecret(writer, held, successor);
  }
}
