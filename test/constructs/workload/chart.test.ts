import { expect, it } from 'vitest';
import { planCertificates } from '../../../reconciler/pki/plan.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import { users } from '../../../constructs/workload/identities.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';
import { renderSamples } from '../../support/rendered-objects.ts';

const objects = renderWorkload(clusterOf(), knownFacts);

interface Binding {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string }[];
}
const bindings = objects.filter(({ kind }) => kind.endsWith('RoleBinding')) as unknown as readonly Binding[];

it('binds roles of its own or of Kubernetes itself', () => {
  const own = objects
    .filter(({ kind }) => kind.endsWith('Role'))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const bound = bindings.map(({ roleRef }) => `${roleRef.kind} ${roleRef.name}`);
  expect(bound.filter((role) => !role.startsWith('ClusterRole system:')).sort()).toEqual(own.sort());
});

it('grants rights to exactly the identities that certificates give', async () => {
  const [sample] = await renderSamples();
  const { endpoint, konnectivityEndpoint } = sample!.facts;
  const issued = planCertificates(sample!.cluster, endpoint!, konnectivityEndpoint!).map(
    ({ commonName }) => commonName,
  );
  const granted = new Set(bindings.flatMap(({ subjects }) => subjects.map(({ name }) => name)));
  expect(granted).toEqual(new Set(Object.values(users)));
  expect(issued).toEqual(expect.arrayContaining([...granted]));
});

it('puts nobody into a group, least of all system:masters', () => {
  expect(bindings.flatMap(({ subjects }) => subjects).filter(({ kind }) => kind !== 'User')).toEqual([]);
});
