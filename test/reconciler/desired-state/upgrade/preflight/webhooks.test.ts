import { expect, it } from 'vitest';
import { Pod, Service } from '../../../../../constructs/api/resources.ts';
import { KubeError } from '../../../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../../../reconciler/kube/object.ts';
import { webhookErrors } from '../../../../../reconciler/desired-state/upgrade/preflight/webhooks.ts';

/** An API server that refuses objects of one kind in kube-system with this message. */
function refusing(kind: string, message: string) {
  return {
    async apply<T extends KubeObject>(object: T, { dryRun }: { readonly dryRun?: boolean | undefined }) {
      if (!dryRun) throw new Error('something was stored');
      const isRefused = object.kind === kind && object.metadata.namespace === 'kube-system';
      if (isRefused) throw new KubeError(message, { code: 500, reason: 'InternalError' });
      return object;
    },
  };
}

const failing = 'failed calling webhook "x.example.org": connection refused';

it.each([
  ['a webhook that pods of add-ons need', Pod.kind, failing, [failing]],
  ['a webhook that Services need', Service.kind, failing, [failing]],
  ['one that cannot be tried', Pod.kind, 'admission webhook "x" does not support dry run', []],
  ['what is no webhook', Pod.kind, 'pods "upgrade-preflight" is forbidden: exceeded quota', []],
])('an upgrade is told of %s, or not', async (_, kind, message, expected) => {
  expect(await webhookErrors(refusing(kind, message), 'v1.37.0')).toEqual(expected);
});
