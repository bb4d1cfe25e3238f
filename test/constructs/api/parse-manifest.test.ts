import { describe, expect, it, test } from 'vitest';
import { nearestName } from '../../../constructs/api/nearest-name.ts';
import { parseHostedControlPlane } from '../../../constructs/api/parse-manifest.ts';
import { parseStoredHostedControlPlane } from '../../../constructs/api/parse.ts';
import { hostedControlPlaneObject } from '../../support/scope.ts';

const loadBalancer = { loadBalancer: {} };
const object = (more: object) =>
  hostedControlPlaneObject({ spec: { version: 'v1.36.3', exposure: loadBalancer, ...more } });

describe('a manifest with a field that the API does not have', () => {
  it.each([
    [{ replicass: 2 }, 'spec.replicass: is no field of the API: did you mean replicas?'],
    [{ etcd: { volumesize: '1Gi' } }, 'spec.etcd.volumesize: is no field of the API: did you mean volumeSize?'],
    [
      { deployment: { defaults: { tolerations: [{ kee: 'a', operator: 'Exists' }] } } },
      'spec.deployment.defaults.tolerations[0].kee: is no field of the API: did you mean key?',
    ],
    [{ entirelyElse: true }, 'spec.entirelyElse: is no field of the API'],
  ])('%j is invalid: a misspelt field would have no effect', (spec, message) => {
    expect(parseHostedControlPlane(object(spec))).toMatchObject({ valid: false, message });
  });

  it('is named before the field that is missing because of it', () => {
    const {
      version,
      exposure: _,
      ...withoutExposure
    } = object({ exposur: loadBalancer }).spec as Record<string, unknown>;
    expect(parseHostedControlPlane(hostedControlPlaneObject({ spec: { version, ...withoutExposure } }))).toMatchObject({
      valid: false,
      message: expect.stringMatching(/^spec\.exposur: .* did you mean exposure\?; spec: exactly one exposure/),
    });
  });

  it('is read when an API server has stored it: an older or a newer release may have', () => {
    expect(parseStoredHostedControlPlane(object({ replicass: 2 }))).toMatchObject({ valid: true });
  });
});

test('labels, annotations and flags have the names of their users', () => {
  const metadata = { name: 'a', namespace: 'b', labels: { 'example.com/x': 'y' }, finalizers: ['example.com/z'] };
  const spec = {
    version: 'v1.36.3',
    exposure: loadBalancer,
    deployment: { scheduler: { args: { 'my-flag': 'true' } } },
  };
  expect(parseHostedControlPlane({ ...hostedControlPlaneObject({ spec }), metadata })).toMatchObject({ valid: true });
});

test.each([
  ['statsu', 'status'],
  ['stat', 'status'],
  ['BACKUP', 'backup'],
  ['xyz', undefined],
])('the name nearest to %s is %s', (given, expected) => {
  expect(nearestName(given, ['status', 'backup', 'backups', 'diff'])).toBe(expected);
});
test('no name is near where none is known', () => expect(nearestName('a', [])).toBeUndefined());
