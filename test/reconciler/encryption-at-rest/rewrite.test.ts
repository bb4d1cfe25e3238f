import { describe, expect, it } from 'vitest';
import { type AsAdministrator, rewriteSecrets } from '../../../reconciler/encryption-at-rest/rewrite.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';

const count = 250;
const all = Array.from({ length: count }, (_, index) => `s-${index}`);

/** A hosted cluster whose API server answers some writes with an error. */
function hosted(answer: (name: string) => Error | undefined = () => undefined) {
  const written: string[] = [];
  let administrators = 0;
  const client: Pick<KubeClient, 'pages' | 'mergePatch'> = {
    async *pages(resource, options) {
      expect(options).toMatchObject({ metadataOnly: true });
      for (let start = 0; start < count; start += 100) {
        yield all.slice(start, start + 100).map((name) => ({ ...resource, metadata: { namespace: 'default', name } }));
      }
    },
    async mergePatch<T extends KubeObject>(resource: object, name: { name: string }, patch: object, options: object) {
      expect({ patch, options }).toMatchObject({ patch: {}, options: { metadataOnly: true } });
      const error = answer(name.name);
      if (error) throw error;
      written.push(name.name);
      return { ...resource, metadata: name } as unknown as T;
    },
  };
  const asAdministrator: AsAdministrator = (work) => {
    administrators += 1;
    return work(client);
  };
  return { written, asAdministrator, administrators: () => administrators };
}

const signal = new AbortController().signal;

describe('rewriting all Secrets', () => {
  it('writes each Secret once without reading its data, and reports progress', async () => {
    const { written, asAdministrator, administrators } = hosted();
    const reported: string[] = [];
    await rewriteSecrets(asAdministrator, { signal, report: (progress) => reported.push(progress) });
    expect(written.toSorted()).toEqual(all.toSorted());
    expect(reported).toEqual([0, 100, 200].map((done) => `${done} of 250 Secrets are rewritten`));
    // Each administrator's certificate is valid for minutes only.
    expect(administrators()).toBe(4);
  });

  it('ignores Secrets that are gone', async () => {
    const gone = new KubeError('patch Secret: not found', { code: 404, reason: 'NotFound' });
    const { written, asAdministrator } = hosted((name) => (name === 's-7' ? gone : undefined));
    await rewriteSecrets(asAdministrator, { signal, report: () => {} });
    expect(written).toHaveLength(count - 1);
  });

  it('tries all others before it reports which one is refused', async () => {
    const refused = new KubeError('admission webhook "no.example.org" denied it', { code: 403, reason: 'Forbidden' });
    const { written, asAdministrator } = hosted((name) => (name === 's-7' ? refused : undefined));
    const work = rewriteSecrets(asAdministrator, { signal, report: () => {} });
    await expect(work).rejects.toThrow('cannot rewrite Secret default/s-7');
    expect(written).toHaveLength(count - 1);
  });

  it('ends when it is aborted', async () => {
    const { written, asAdministrator } = hosted();
    const stop = new AbortController();
    const work = rewriteSecrets(asAdministrator, { signal: stop.signal, report: () => stop.abort(new Error('stop')) });
    await expect(work).rejects.toThrow('stop');
    expect(written.length).toBeLessThan(count);
  });
});
