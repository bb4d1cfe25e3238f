import { describe, expect, it } from 'vitest';
import { configurationCheckResult } from '../../../reconciler/desired-state/api-server/check-pod.ts';
import { loadedConfiguration } from '../../../reconciler/encryption-at-rest/rotate-keys.ts';
import { grpcMessage } from '../../../reconciler/etcd/etcd3-client.ts';
import { samplesOf } from '../../../reconciler/kube/metric-samples.ts';
import { isOlder } from '../../../reconciler/kube/object.ts';
import { ownedValues } from '../../../reconciler/kube/owned-values.ts';
import { splitCertificates, splitPublicKeys } from '../../../reconciler/pki/pem.ts';
import { requestedAPIs } from '../../../reconciler/desired-state/upgrade/preflight/observe-preflight.ts';

const metric = 'apiserver_encryption_config_controller_last_config_info';
const deprecated = 'apiserver_requested_deprecated_apis';
const certificate = (content: string) => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----\n`;
const key = (content: string) => `-----BEGIN PUBLIC KEY-----\n${content}\n-----END PUBLIC KEY-----\n`;
const many = 300_000;

describe('of metrics', () => {
  it('the lines of one metric are read, with what their labels quote', () => {
    const text = [
      '# HELP other',
      `other{a="b"} 1`,
      `${metric}_more{hash="no"} 1`,
      `${metric}{apiserver_id_hash="x",hash="sha256:\\"1}",} 1.0`,
      `${metric}{hash="2"} 0`,
      `${metric}{} 7`,
      `${metric}{hash="open} 1`,
    ].join('\n');
    expect(samplesOf(text, metric).map(({ labels, value }) => [Object.fromEntries(labels), value])).toEqual([
      [{ apiserver_id_hash: 'x', hash: 'sha256:\\"1}' }, '1.0'],
      [{ hash: '2' }, '0'],
      [{}, '7'],
    ]);
    expect(loadedConfiguration(`${metric}{hash="a"} 1\n`)).toBe('a');
    expect(loadedConfiguration(`${metric}{hash="a"} 0\n`)).toBeUndefined();
  });

  it('deprecated APIs are named by their labels', () => {
    const line = `${deprecated}{group="policy",removed_release="1.37",resource="x",version="v1beta1"} 1`;
    expect(requestedAPIs(`${line}\n${deprecated}{group="a",removed_release=""} 1`)).toEqual([
      { group: 'policy', version: 'v1beta1', resource: 'x', removedRelease: '1.37' },
    ]);
  });
});

/** Each of these took from seconds to hours: the square of its length, or more. */
describe('a text of a hostile server ends at once, and says nothing:', () => {
  it.each<[string, () => unknown, unknown]>([
    ['a line of labels', () => loadedConfiguration(`${metric}{${',hash="a"'.repeat(many)}`), undefined],
    ['labels without an end', () => loadedConfiguration(`${metric}{${'a'.repeat(many)}`), undefined],
    ['lines without content', () => requestedAPIs('\n'.repeat(16 * many)), []],
    ['lines of one metric', () => requestedAPIs(`${deprecated}{}\n`.repeat(many)), []],
    ['begins of certificates', () => splitCertificates('-----BEGIN CERTIFICATE-----a'.repeat(many)), []],
    ['begins of keys', () => splitPublicKeys('-----BEGIN PUBLIC KEY-----'.repeat(many)), []],
    ['dashes', () => splitCertificates('-'.repeat(16 * many)), []],
    ['last errors', () => grpcMessage(new Error('Last error: '.repeat(many))).length, 4096],
    [
      'quotes',
      () => configurationCheckResult({ exitCode: 1, message: '"command failed" err="\\'.repeat(many) }).kind,
      'refused',
    ],
  ])('%s', (_, read, said) => {
    expect(read()).toEqual(said);
  });

  it('of the lines of one metric only some are kept', () => {
    expect(samplesOf(`${metric}{hash="a"} 1\n`.repeat(many), metric)).toHaveLength(1_000);
  });

  it('a number of a million digits is none', () => {
    expect(() => isOlder('9'.repeat(1_000_000), '1')).toThrow('is not a number');
  });

  it('a set of fields that names each item of a long list', () => {
    const items = Array.from({ length: 30_000 }, (_, at) => at);
    const fields = Object.fromEntries(items.map((at) => [`v:${at + items.length}`, {}]));
    expect(() => ownedValues(fields, items)).toThrow('too many');
  });
});

it('certificates and keys are split as they are, without other text', () => {
  const [one, two] = [certificate('YQ=='), certificate('Yg==')];
  expect(splitCertificates(`subject\n${one}-----BEGIN CERTIFICATE-----\n${two}${key('Yw==')}`)).toEqual([one, two]);
  expect(splitCertificates(one.trimEnd())).toEqual([one.trimEnd()]);
  expect(splitPublicKeys(`${one}${key('Yw==')}`)).toEqual([key('Yw==')]);
});

it('the cause of a failed call to etcd is between the last error and its note', () => {
  const text = '14 UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED. Resolution note: x';
  expect(grpcMessage(new Error(text))).toBe('connect ECONNREFUSED');
  expect(grpcMessage(new Error('13 INTERNAL: other'))).toBe('other');
});
