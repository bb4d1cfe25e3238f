import { describe, expect, it } from 'vitest';
import { filteredLog } from '../../../../reconciler/cli/collect/filtered-log.ts';

const secret = 'hunter2-is-planted';
const encoded = Buffer.from(`${secret}${secret}`).toString('base64');
const certificate = ['-----BEGIN PRIVATE KEY-----', encoded, encoded.slice(0, 8), '-----END PRIVATE KEY-----'];

/** A record as `--audit-log-path=-` writes it. */
const record = JSON.stringify({
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  level: 'RequestResponse',
  auditID: 'a',
  requestObject: { kind: 'Secret', stringData: { password: secret } },
  responseObject: { kind: 'Secret', data: { password: encoded } },
  requestReceivedTimestamp: '2026-11-28T12:00:00Z',
});
const around = (lines: readonly string[]) => ['I1128 before', ...lines, 'I1128 after'].join('\n');

describe('a log for support', () => {
  it.each<[string, readonly string[]]>([
    ['an audit record', [record]],
    ['an audit record in the older format', [`2026-11-28 AUDIT: id="a" user="u" body=${secret}`]],
    ['the end of an audit record, whose beginning was rotated away', [record.slice(record.indexOf('stringData'))]],
    ...['auditID', 'requestReceivedTimestamp', 'stageTimestamp', 'responseObject'].map(
      (name): [string, readonly string[]] => [`a part of an audit record with ${name}`, [`x","${name}":"${secret}"}`]],
    ),
    ['a Secret as JSON', [`I1128 body: {"apiVersion":"v1","data":{"a b":"${secret}"},"kind":"Secret"}`]],
    ['a Secret as JSON within a text', [`I1128 body: "{\\"data\\":{\\"a\\":\\"${secret}\\"}}"`]],
    [
      'a Secret as JSON over several lines',
      ['{', '  "data": {', `    "a b": "${secret}"`, '  },', '  "kind": "Secret"', '}'],
    ],
    ['a Secret as YAML', ['apiVersion: v1', 'stringData:', `  anything: ${secret}`, 'kind: Secret']],
    ['a Secret as Go prints it', [`I1128 &Secret{ObjectMeta:{x},Data:map[string][]byte{a: ${secret}}}`]],
    ['bytes as Go prints them', [`I1128 &RawExtension{Raw:[]byte("${secret}")}`]],
    ['a short line of base64', [encoded.slice(0, 21)]],
    ['a body that a component of Kubernetes prints', ['I1128 "Request" body=<', `\tany ${secret}`, ' >']],
    ['a key', certificate],
    ['a key in one line', [`failed: ${certificate.join('\\n')} x`]],
    ['a key of which only the end is left', [encoded, encoded.slice(0, 21), '-----END PRIVATE KEY-----']],
    ['a token', [`I1128 token=${secret}`]],
    ['a token of a ServiceAccount', [`I1128 got eyJhbGciOiJub25lIn0.${encoded}.${encoded}`]],
    ['an authorization header', [`> Authorization: Bearer ${secret}`]],
    ['credentials in a URL', [`GET https://admin:${secret}@host/`]],
    [
      'a kubeconfig',
      [
        'users:',
        '- name: admin',
        '  user:',
        `    client-key-data: ${encoded}`,
        `    token: ${secret}`,
        '    password: >-',
        `      ${secret}`,
      ],
    ],
    [
      'a kubeconfig whose values begin in the next line',
      ['    client-key-data:', `      ${encoded}`, `      ${encoded}`],
    ],
    ['a value as YAML with its indentation', ['  password: |2-', `     ${secret}`]],
    ['a value as YAML with its type', ['  token: !!binary |', `    ${secret}`]],
    [
      'a Secret as Go prints it over several lines',
      ['I1128 StringData: map[string]string{', `  "a": "${secret}",`, '}'],
    ],
    ['a key of a store', [`I1128 {"accessKey":"id","secretKey":"${secret}"}`]],
    ['a passphrase', [`passphrase: ${secret}`]],
    ['a private key by another name', [`{"private_key":"${secret}"}`]],
    ['a short key of a kubeconfig', [`    client-key-data: ${secret}`]],
    ['a kubeconfig as JSON over several lines', ['  "token":', `    "${secret}"`]],
    ['a registry password', [`{"auths":{"r":{"auth": "${secret}"}}}`]],
    ['something behind a long line', [`I1128 ${'x '.repeat(3000)}${secret}`]],
  ])('has nothing of %s', (_, lines) => {
    const log = filteredLog(around(lines));
    expect(log).toContain('I1128 before');
    expect(log).toContain('I1128 after');
    for (const form of [secret, encoded, encoded.slice(0, 21)]) expect(log).not.toContain(form);
  });

  it('says how many audit lines it has lost', () => {
    expect(filteredLog(around([record, record]))).toBe('[2 lines of the audit log removed]\nI1128 before\nI1128 after');
  });

  it('has what helps', () => {
    const lines = [
      'E1128 run.go:72] "command failed" err="unknown flag: --cloud-provider"',
      '{"level":"fatal","msg":"discovery failed","error":"no space left on device"}',
      'W1128 reflector.go:1] failed to list *v1.Pod: pods is forbidden: User "system:node" cannot list resource "pods"',
      "couldn't find key tls.key in Secret team/c1-ca",
    ];
    expect(filteredLog(lines.join('\n'))).toBe(lines.join('\n'));
  });

  it('goes on after a key that never ends', () => {
    const lines = ['-----BEGIN PRIVATE KEY-----', ...Array.from({ length: 500 }, () => secret), 'I1128 after'];
    expect(filteredLog(lines.join('\n'))).toContain('I1128 after');
  });

  it.each([
    ['of blanks', ' '.repeat(1 << 20)],
    ['of quotes', `"${'"'.repeat(1 << 20)}`],
    ['of names', 'data'.repeat(1 << 18)],
    ['of beginnings of tokens', 'eyJ-'.repeat(1 << 18)],
    ['of many lines', 'data:\n  -----BEGIN \n=<\n'.repeat(40_000)],
  ])('is made in less than two seconds from one %s', (_, text) => {
    const began = performance.now();
    filteredLog(text);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
