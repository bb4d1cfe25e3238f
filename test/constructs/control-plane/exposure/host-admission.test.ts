import { expect, it } from 'vitest';
import { admittedHostsAnnotation } from '../../../../constructs/api/group.ts';
import { admitsHost, type HostAdmissionInput } from '../../../../constructs/control-plane/exposure/gateway.ts';

const question = { namespace: 'team-a', domain: 'example.org', annotations: {}, seesEveryClaim: true };
const admitting = (entries: string): Partial<HostAdmissionInput> => ({
  annotations: { [admittedHostsAnnotation]: entries },
});
const limited = { seesEveryClaim: false };

it.each<[boolean, string, Partial<HostAdmissionInput>]>([
  [true, 'prod.team-a.example.org', {}],
  [true, 'Prod.Team-A.Example.org', {}],
  [true, 'a.b.team-a.example.org', limited],
  [false, 'prod.example.org', {}],
  [false, 'team-a.example.org', {}],
  [false, 'prod.team-b.example.org', {}],
  [false, 'prod.not-team-a.example.org', {}],
  [false, 'team-a.prod.example.org', {}],
  [false, 'prod.team-a.other.example.org', {}],
  [true, 'prod.example.org', admitting('team-a/prod.example.org')],
  [true, 'prod.example.org', admitting('team-b/x.example.org,  team-a/PROD.example.org')],
  [true, 'a.b.prod.example.org', admitting('team-a/*.prod.example.org')],
  [true, 'prod.example.org', admitting('team-a/*')],
  [true, 'prod.example.org', admitting('*/prod.example.org')],
  [true, 'prod.example.org', admitting('*/*')],
  [true, 'prod.example.org', { ...admitting('team-a/*.example.org'), ...limited }],
  [false, 'prod.example.org', { ...admitting('*/*'), ...limited }],
  [false, 'prod.example.org', admitting('team-b/*')],
  [false, 'prod.example.org', admitting('team-a/*.prod.example.org')],
  [false, 'notprod.example.org', admitting('team-a/prod.example.org')],
  [false, 'prod.example.org', admitting('team-a')],
  [false, 'prod.example.org', admitting('team-a/')],
  [false, 'prod.example.org', admitting('team-a/x/prod.example.org')],
])('answers %s for %s with %j', (expected, host, changes) => {
  expect(admitsHost({ ...question, ...changes, host })).toBe(expected);
});
