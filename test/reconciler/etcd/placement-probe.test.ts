import { expect, it } from 'vitest';
import { planProbe, type Probe, type ProbeDecision } from '../../../reconciler/etcd/placement-probe.ts';

const probe = (state: Probe['state'], template = 'new'): Probe => ({ template, state, words: `${state} words` });

it.each<[what: string, here: Probe | undefined, anywhere: Probe | undefined, decision: ProbeDecision]>([
  ['begins on the node of the pod that runs', undefined, undefined, { kind: 'create', where: 'here' }],
  ['waits for the scheduler', probe('waiting'), undefined, { kind: 'wait' }],
  ['has passed', probe('scheduled'), undefined, { kind: 'passed' }],
  ['goes on with any other node', probe('refused'), undefined, { kind: 'create', where: 'anywhere' }],
  ['waits for the scheduler again', probe('refused'), probe('waiting'), { kind: 'wait' }],
  ['has passed elsewhere', probe('refused'), probe('scheduled'), { kind: 'passed' }],
  ['has passed after all', probe('scheduled'), probe('refused'), { kind: 'passed' }],
  [
    'is refused in the words about all nodes',
    probe('refused'),
    probe('refused'),
    { kind: 'refused', words: 'refused words' },
  ],
  ['of another template is removed', probe('scheduled', 'old'), undefined, { kind: 'remove' }],
  ['of another template is removed elsewhere, too', probe('refused'), probe('scheduled', 'old'), { kind: 'remove' }],
])('a trial of a placement %s', (_, here, anywhere, decision) => {
  expect(planProbe({ template: 'new', here, anywhere })).toEqual(decision);
});
