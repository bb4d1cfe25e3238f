import { beforeAll, describe, expect, it } from 'vitest';
import { requestLabels } from '../../../constructs/api/kubeconfig-request.ts';
import { RequestLimits, waitingLimits } from '../../../reconciler/signer/limits.ts';
import type { ClientCertificateRequest } from '../../../reconciler/signer/request.ts';
import { clientCertificateRequest } from '../../support/client-certificate-request.ts';

let one: ClientCertificateRequest;
beforeAll(async () => {
  one = await clientCertificateRequest({ request: 'x'.repeat(16_000) });
});

const request = (number: number, username = 'mallory', namespace = 'team-a'): ClientCertificateRequest => ({
  ...one,
  metadata: { name: `r${number}`, uid: `uid-${number}`, labels: requestLabels(namespace, 'prod') },
  spec: { ...one.spec, username },
});

describe('of requests that wait the operator keeps', () => {
  it('the content of some of one requester, and that of others beside them', () => {
    const limits = new RequestLimits();
    const all = Array.from({ length: 2_000 }, (_, number) => limits.keep(request(number)));
    expect(all.filter(({ isBeyond }) => !isBeyond)).toHaveLength(waitingLimits.perRequester);
    expect(JSON.stringify(all.at(-1)).length).toBeLessThan(500);
    expect(limits.keep(request(3_000, 'jane')).isBeyond).toBeUndefined();
  });

  it('the content of some for one namespace, of any requesters, and that of others beside them', () => {
    const limits = new RequestLimits();
    const all = Array.from({ length: 2_000 }, (_, number) => limits.keep(request(number, `user-${number}`)));
    expect(all.filter(({ isBeyond }) => !isBeyond)).toHaveLength(waitingLimits.perNamespace);
    expect(limits.keep(request(3_000, 'jane', 'team-b')).isBeyond).toBeUndefined();
  });

  it('no more than 16 MiB, whatever they name', () => {
    const limits = new RequestLimits();
    const all = Array.from({ length: 20_000 }, (_, number) => limits.keep(request(number, `u${number}`, `n${number}`)));
    expect(JSON.stringify(all).length).toBeLessThan(16 << 20);
  });

  it('the content of the next one when one is answered or gone', () => {
    const limits = new RequestLimits();
    for (let number = 0; number < waitingLimits.perRequester; number++) limits.keep(request(number));
    expect(limits.keep(request(100)).isBeyond).toBe(true);
    const denied: ClientCertificateRequest = { ...request(0), status: { conditions: [{ type: 'Denied' }] } };
    limits.keep(denied);
    expect(limits.keep(request(101)).isBeyond).toBeUndefined();
    expect(limits.keep(request(102)).isBeyond).toBe(true);
    limits.forget(request(1).metadata);
    expect(limits.keep(request(103)).isBeyond).toBeUndefined();
  });

  it('the content of one that it has, also when it changes', () => {
    const limits = new RequestLimits();
    for (let number = 0; number < waitingLimits.perRequester; number++) limits.keep(request(number));
    expect(limits.keep(request(7)).spec.request).not.toBe('');
  });
});
