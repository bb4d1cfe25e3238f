import { expect, it } from 'vitest';
import { newestRevision, releaseOf } from '../../../../constructs/cluster/release-revisions.ts';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import { diff, shapeOf } from '../../../../reconciler/cli/diff.ts';
import { compareRelease } from '../../../../reconciler/cli/diff/compare-rendered.ts';
import { specChanges } from '../../../../reconciler/cli/diff/effects.ts';
import type { Session } from '../../../../reconciler/cli/command.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import { reported } from '../../../../reconciler/desired-state/revision/believed.ts';
import { plainView } from '../../../../reconciler/cli/view.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import {
  clusterObjectWith,
  hostedCluster,
  hostedControlPlaneName,
  hostedControlPlaneObject,
  hostedControlPlaneUid,
  spec,
} from '../../../support/scope.ts';

const gateway = { namespace: 'capi-system', name: 'capi' };
const { exposure: _, ...others } = spec;

/** A user who may read what is in the namespace of a control plane behind a Gateway, and no Gateway. */
function session(recorded: number): Session {
  const release = { ...releaseOf(36, Math.min(recorded, newestRevision)), revision: recorded };
  const revision = { number: 1, generation: 1, spec: JSON.stringify({ ...others, gateway }), release };
  const owner = { name: hostedControlPlaneName, uid: hostedControlPlaneUid };
  const revisions = renderControlPlane(hostedCluster(), { ...knownFacts, owner, revisions: [revision] }, 'revision');
  const status = { revisions: reported([revision]) };
  const client = {
    async list({ kind }: { kind: string }) {
      if (kind === 'HostedControlPlane')
        return { items: [hostedControlPlaneObject({ spec: { ...others, gateway }, status })] };
      if (kind === 'ConfigMap') return { items: revisions };
      throw new KubeError(`list ${kind}: forbidden`, { code: 403 } as never);
    },
    get: async () => clusterObjectWith({}),
  };
  return { client, namespace: 'team' } as unknown as Session;
}

it('the adoption of a release revision restarts what it renders in another way, also behind a Gateway that the user may not read', async () => {
  const { cluster, objects } = await compareRelease(session(1), 'c1', newestRevision);
  expect(cluster).toBe('c1');
  expect(objects.map(({ object, effect }) => `${object}: ${effect}`)).toEqual(
    expect.arrayContaining(['StatefulSet c1-etcd: rolling restart', 'Deployment c1-api-server: rolling restart']),
  );
});

it('the adoption of its own release revision changes nothing', async () => {
  expect((await compareRelease(session(1), 'c1', 1)).objects).toEqual([]);
});

it('a release revision of a newer operator is an error that says what to use', async () => {
  await expect(compareRelease(session(newestRevision + 1), 'c1', newestRevision)).rejects.toThrow(
    `and this hcp knows revisions up to ${newestRevision}: use the hcp of the operator's release`,
  );
});

it.each([
  ['prod', { 'field-manager': 'flux' }, '--field-manager needs a file, such as ./prod or prod.yaml'],
  ['prod.yaml', { 'release-revision': '2' }, '--release-revision needs the name of a Cluster, not prod.yaml'],
  ['prod', { 'release-revision': '99' }, '--release-revision must be a whole number from 1 to'],
])('hcp diff %s with %j is refused', (target, values, message) => {
  expect(() => diff.prepare({ positionals: [target], values })).toThrow(message);
});

it('hcp diff gives programs the paths that change, and fails with its answer nevertheless', async () => {
  const printed: string[] = [];
  const terminal = { ...plainView, print: (line: string) => void printed.push(line) } as Session['terminal'];
  const values = { 'release-revision': String(newestRevision), output: 'json' };
  const ended = diff.prepare({ positionals: ['c1'], values })({ ...session(1), terminal });
  await expect(ended).rejects.toThrow(/would change c1: rolling restart$/);
  const { objects } = JSON.parse(printed.join('\n')) as { objects: object[] };
  expect(objects).toContainEqual({
    place: 'management',
    object: 'Deployment c1-api-server',
    effect: 'rolling restart',
    fields: expect.arrayContaining([expect.stringMatching(/^spec\.template/)]),
  });
});

it('no value of an environment variable is in what programs read', () => {
  const secret = 'the-token-of-a-user';
  const env = [{ name: 'TOKEN', value: secret }];
  const after = [
    { deployment: { scheduler: { env } } },
    { deployment: { scheduler: { env: [{ name: 'TOKEN', value: 'other' }] } } },
    { deployment: { scheduler: { env: [{ name: 'OTHER', value: secret }] } } },
  ];
  for (const before of [{}, ...after]) {
    const spec = after.flatMap((one) => specChanges(before, one));
    expect(spec.length).toBeGreaterThan(0);
    expect(JSON.stringify(shapeOf({ cluster: 'c1', spec, objects: [] }))).not.toMatch(/the-token|"other"/);
  }
});
