import { expect, it } from 'vitest';
import { readControlPlane } from '../../../reconciler/cli/control-plane.ts';
import { configurationResult } from '../../../reconciler/cli/preflight.ts';
import { hostedControlPlaneObject, spec } from '../../support/scope.ts';

const [present, newer] = ['v1.36.3', 'v1.37.1'];

function resultOf({ version = present, args = {}, reason = '', observedGeneration = 1 }) {
  const accepted = {
    type: 'APIServerConfigurationAccepted',
    status: reason === '' ? 'True' : 'False',
    reason: reason || 'ReconcileSucceeded',
    message: reason === '' ? '' : 'unknown flag',
    lastTransitionTime: '2026-11-21T12:00:00Z',
  };
  const changed = { ...spec, version, deployment: { apiServer: { args } } };
  const status = { observedGeneration, conditions: [accepted] };
  return configurationResult(readControlPlane(hostedControlPlaneObject({ spec: changed, status })), newer);
}

const args = { v: '2' };

it.each<[string, ReturnType<typeof resultOf>, object]>([
  ['passed without anything that a user decides', resultOf({}), { result: 'passed' }],
  [
    'to come before the spec has the version',
    resultOf({ args }),
    { result: 'later', message: expect.stringContaining('kube-apiserver v1.37.1') as unknown },
  ],
  [
    'to come until the operator has seen the version',
    resultOf({ args, version: newer, observedGeneration: 0 }),
    { result: 'later' },
  ],
  ['to come while it runs', resultOf({ args, version: newer, reason: 'CheckingConfiguration' }), { result: 'later' }],
  [
    'failed when kube-apiserver has refused it',
    resultOf({ args, version: newer, reason: 'ConfigurationRefused' }),
    { result: 'failed', message: 'unknown flag' },
  ],
  ['passed when kube-apiserver has accepted it', resultOf({ args, version: newer }), { result: 'passed' }],
])('the check of the configuration before an upgrade is %s', (_, found, expected) => {
  expect(found).toMatchObject(expected);
});
