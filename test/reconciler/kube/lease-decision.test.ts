import type { LeaseObject } from '../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { decideLease, observeLease, releasedLease, type LeaseTimes } from '../../../reconciler/kube/lease-decision.ts';
import { microTime } from '../../../reconciler/kube/micro-time.ts';

const now = Date.parse('2026-01-01T00:00:00.120Z');
const times: LeaseTimes = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

const lease = (spec: LeaseObject['spec'] & object, resourceVersion = '1'): LeaseObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'a', name: 'b', resourceVersion },
  spec,
});
const elapsed = 1_000_000;
const moment = { now, elapsed };
const seen = (agoMs: number) => ({ version: '1', changedAt: elapsed - agoMs });
const held = lease({ holderIdentity: 'them', leaseDurationSeconds: 15, leaseTransitions: 3 });

describe('decideLease', () => {
  it('creates the lease if there is none', () => {
    expect(decideLease(undefined, seen(0), 'us', moment, times)).toEqual({
      type: 'create',
      spec: {
        holderIdentity: 'us',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.120000Z',
        renewTime: '2026-01-01T00:00:00.120000Z',
        leaseTransitions: 0,
      },
    });
  });

  it('renews its own lease and keeps the acquire time', () => {
    const decision = decideLease(lease({ holderIdentity: 'us' }), seen(60_000), 'us', moment, times);
    expect(decision).toEqual({
      type: 'renew',
      spec: { holderIdentity: 'us', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.120000Z' },
    });
  });

  it('waits for a holder that renewed within its duration', () => {
    expect(decideLease(held, seen(14_999), 'us', moment, times)).toEqual({ type: 'wait', holder: 'them' });
  });

  it('takes over from a holder that has not renewed for its duration, and counts the transition', () => {
    expect(decideLease(held, seen(15_000), 'us', moment, times)).toMatchObject({
      type: 'take',
      spec: { holderIdentity: 'us', leaseTransitions: 4 },
    });
  });

  it('takes a released lease at once', () => {
    expect(decideLease(lease({ holderIdentity: '' }), seen(0), 'us', moment, times).type).toBe('take');
  });

  it('waits for the duration that the holder has set', () => {
    const patient = lease({ holderIdentity: 'them', leaseDurationSeconds: 60 });
    expect(decideLease(patient, seen(59_999), 'us', moment, times).type).toBe('wait');
    expect(decideLease(patient, seen(60_000), 'us', moment, times).type).toBe('take');
  });

  it('waits for its own duration if the holder has set none', () => {
    const silent = lease({ holderIdentity: 'them' });
    expect(decideLease(silent, seen(14_999), 'us', moment, times).type).toBe('wait');
    expect(decideLease(silent, seen(15_000), 'us', moment, times)).toMatchObject({
      type: 'take',
      spec: { acquireTime: '2026-01-01T00:00:00.120000Z', leaseTransitions: 1 },
    });
  });

  it('takes a lease without a holder', () => {
    const { spec: _, ...empty } = held;
    expect(decideLease(empty, seen(0), 'us', moment, times).type).toBe('take');
  });

  it('sets a duration in whole seconds that is no shorter than its own', () => {
    const decision = decideLease(undefined, seen(0), 'us', moment, { ...times, durationMs: 14_001 });
    expect(decision).toMatchObject({ spec: { leaseDurationSeconds: 15 } });
  });

  it('that its holder has released can be taken at once', () => {
    const left = releasedLease(now);
    expect(left).toEqual({ holderIdentity: '', leaseDurationSeconds: 1, renewTime: '2026-01-01T00:00:00.120000Z' });
    expect(decideLease(lease(left), seen(0), 'us', moment, times).type).toBe('take');
  });
});

describe('observeLease', () => {
  it('measures the time since the last change of the lease by its own clock, whatever times the lease contains', () => {
    const skewed = lease({ holderIdentity: 'them', renewTime: microTime(now - 3_600_000) });
    const first = observeLease(skewed, undefined, elapsed);
    expect(first).toEqual({ version: '1', changedAt: elapsed });
    expect(observeLease(skewed, first, elapsed + 5_000)).toBe(first);
    const renewed = lease({ holderIdentity: 'them' }, '2');
    expect(observeLease(renewed, first, elapsed + 5_000)).toEqual({ version: '2', changedAt: elapsed + 5_000 });
    expect(observeLease(undefined, first, elapsed + 5_000)).toEqual({ version: '', changedAt: elapsed + 5_000 });
  });
});
