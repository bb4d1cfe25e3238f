import { describe, expect, it } from 'vitest';
import {
  errorFromStatus,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  type KubeError,
  parseStatus,
} from '../../../reconciler/kube/errors.ts';

const answered = (code: number, reason = '', message = 'no') =>
  errorFromStatus('get Secret a/b', code, { reason, message });

describe('errorFromStatus', () => {
  it("names the request and the server's message", () => {
    expect(answered(404, 'NotFound', 'secrets "b" not found').message).toBe('get Secret a/b: secrets "b" not found');
  });

  it('names the other managers and the fields of a conflict', () => {
    const error = errorFromStatus('apply Deployment a/b', 409, {
      reason: 'Conflict',
      message: 'Apply failed with 2 conflicts: conflicts with "kubectl" using apps/v1: ...',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "kubectl" using apps/v1', field: '.spec.replicas' },
          { reason: 'FieldManagerConflict', message: 'conflict with "hpa" using apps/v1', field: '.spec.paused' },
        ],
      },
    });
    expect(error.message).toBe(
      'apply Deployment a/b: conflict with "kubectl" over .spec.replicas, "hpa" over .spec.paused',
    );
  });

  it('never repeats the value of a wrong type, which may be a secret', () => {
    const message =
      'failed to create typed patch object (a/b; /v1, Kind=Secret): .data.k: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"hunter2":1}}';
    const error = errorFromStatus('apply Secret a/b', 500, { reason: 'InternalError', message });
    expect(error.message).not.toContain('hunter2');
    expect(error.message).toContain('.data.k: expected string, got a value of another type');
  });

  it('has a reason even when the answer has none', () => {
    expect(errorFromStatus('get x', 404, {}).reason).toBe('NotFound');
    expect(errorFromStatus('get x', 502, {}).message).toBe('get x: the server answered 502');
  });
});

describe('parseStatus', () => {
  it('takes a Status as it is', () => {
    expect(parseStatus(404, '{"kind":"Status","message":"gone"}').message).toBe('gone');
  });

  it("quotes the beginning of a proxy's answer", () => {
    expect(parseStatus(502, '<html>\n Bad   Gateway</html>').message).toBe(
      'the server answered 502: <html> Bad Gateway</html>',
    );
    expect(parseStatus(502, 'null').message).toBe('the server answered 502: null');
    expect(parseStatus(502, '').message).toBe('the server answered 502');
  });
});

describe('predicates', () => {
  it.each<[string, (error: unknown) => boolean, KubeError, KubeError]>([
    ['isNotFound', isNotFound, answered(404), answered(403)],
    ['isConflict', isConflict, answered(409), answered(404)],
    ['isAlreadyExists', isAlreadyExists, answered(409, 'AlreadyExists'), answered(409, 'Conflict')],
    ['isGone', isGone, answered(410), answered(404)],
    ['isForbidden', isForbidden, answered(403), answered(401)],
    ['isInvalid', isInvalid, answered(422), answered(409)],
    ['isInvalid', isInvalid, answered(500, '', 'failed to create typed patch object (a/b): .x'), answered(500)],
  ])('%s distinguishes its error from others', (_, is, yes, no) => {
    expect(is(yes)).toBe(true);
    expect(is(no)).toBe(false);
    expect(is(new Error('something else'))).toBe(false);
  });

  it('unwrap errors, and use the first of an aggregate', () => {
    const wrapped = new Error('publish', { cause: new AggregateError([answered(404), answered(500)]) });
    expect(isNotFound(wrapped)).toBe(true);
    expect(isInvalid(wrapped)).toBe(false);
  });
});
