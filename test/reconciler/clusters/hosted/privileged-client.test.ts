import { expect, it } from 'vitest';
import { Deployment } from '../../../../constructs/api/resources.ts';
import { Administrator, privilegedClient } from '../../../../reconciler/clusters/hosted/privileged-client.ts';
import type { KubernetesApi } from '../../../../reconciler/kube/client.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';

const { apiVersion, kind } = Deployment;
const agent = { apiVersion, kind, metadata: { namespace: 'kube-system', name: 'konnectivity-agent' } };

/** A client whose applies are refused for this field until the object is deleted, and what it has been asked. */
function refusing(field: string) {
  const asked: string[] = [];
  const apply = async (object: unknown) => {
    asked.push('apply');
    if (asked.includes('delete')) return object;
    throw new KubeError('field is immutable', {
      code: 422,
      reason: 'Invalid',
      causes: [{ field, message: '', reason: '' }],
    });
  };
  const administrator = { delete: async () => void asked.push('delete'), close: async () => {} };
  const client = privilegedClient(
    { apply } as unknown as KubernetesApi,
    new Administrator(async () => administrator as unknown as KubernetesApi),
    () => {},
  );
  return { asked, apply: () => client.apply(agent, { fieldManager: 'test' }) };
}

it('an add-on whose selector another provider has chosen is created again', async () => {
  const { asked, apply } = refusing('spec.selector');
  expect(await apply()).toEqual(agent);
  expect(asked).toEqual(['apply', 'delete', 'apply']);
});

it('an add-on that is refused for another reason stays', async () => {
  const { asked, apply } = refusing('spec.template.spec.containers[0].image');
  await expect(apply()).rejects.toThrow('field is immutable');
  expect(asked).toEqual(['apply']);
});
