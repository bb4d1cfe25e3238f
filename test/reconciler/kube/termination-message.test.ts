import { expect, it } from 'vitest';
import { createServiceAccountKey } from '../../../reconciler/pki/issue.ts';
import { terminationMessage, oneLine } from '../../../reconciler/kube/termination-message.ts';
import { privateKeyIn } from '../../support/private-keys.ts';

it.each<[string, string, string]>([
  [
    'the error of a Kubernetes component',
    [
      'I1123 04:44:20.123456       1 options.go:220] external host was not specified, using 10.0.0.1',
      'E1123 04:44:20.223456       1 run.go:72] "command failed" err="unknown flag: --cloud-provider"',
    ].join('\n'),
    '"command failed" err="unknown flag: --cloud-provider"',
  ],
  [
    'the error of etcd',
    [
      '{"level":"info","ts":"2026-11-23T04:44:20.1Z","caller":"etcdmain/etcd.go:64","msg":"Running: "}',
      '{"level":"fatal","ts":"2026-11-23T04:44:20.2Z","caller":"etcdmain/etcd.go:204","msg":"discovery failed","error":"no space left on device","stacktrace":"a\\nb"}',
    ].join('\n'),
    'discovery failed: no space left on device',
  ],
  ['the error of another program', 'Usage: x\nError: unknown flag: --v\n', 'unknown flag: --v'],
  ['a panic', 'starting\npanic: runtime error\n\ngoroutine 1 [running]:\nmain.main()', 'panic: runtime error'],
  ['the last lines when none is an error', 'one\ntwo\nthree\nfour\n', 'two | three | four'],
  ['each line once', 'E1123 04:44:20.1 1 a.go:1] no\nE1123 04:44:21.2 1 a.go:1] no', 'no'],
  ['JSON that is not a log line', '{"a":1}', '{"a":1}'],
  ['a line of JSON that was cut', '{"level":"info","ms', '{"level":"info","ms'],
  ['nothing', '', ''],
])('the last words of a process are %s', (_, text, expected) => {
  expect(terminationMessage(text)).toBe(expected);
});

const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';

it.each<[string, string, string]>([
  ['a token', `rejected ${jwt}`, 'rejected [removed]'],
  ['a bearer token', 'Authorization: Bearer abc.def-123', 'Authorization: Bearer [removed]'],
  ['a bootstrap token', 'bad token abcdef.0123456789abcdef', 'bad token [removed]'],
  ['credentials of a URL', 'GET https://user:pw@host/x', 'GET https://[removed]@host/x'],
  ['a password', 'password=hunter2 x', 'password=[removed] x'],
  ['a quoted secret', '{"clientSecret": "a b", "c": 1}', '{"clientSecret": [removed], "c": 1}'],
  ['an encryption key', 'secret NmQ3ZjQyYTg5MWNlNWIwM2Q4ZTQ3YTFmYjA5Y2U2NTM= is short', 'secret [removed] is short'],
  ['a hexadecimal key', `key ${'0a'.repeat(32)}`, 'key [removed]'],
  ['colours', '\u001B[31mred\u001B[0m', 'red'],
  ['control characters', 'a\u0000b\u0007\tc\rd\u202Ee', 'a b c d e'],
  ['line feeds', 'one\ntwo', 'one two'],
])('a line has no %s', (_, text, expected) => {
  expect(oneLine(text)).toBe(expected);
});

it.each([
  ['the digest of an image', `registry.test/a@sha256:${'0a'.repeat(32)}`],
  ['a path', '/var/lib/kubelet/pods/Volumes/KubernetesIo/ProjectedVolume1/token'],
  ['a flag that names a file', '--service-account-signing-key-file=/etc/kubernetes/sa.key'],
  ['a missing object', 'couldn\'t find key tls.key in Secret team/c1-ca: secret "c1-ca" not found'],
])('a line keeps %s', (_, text) => {
  expect(oneLine(text)).toBe(text);
});

it('has no part of a private key, wherever the text was cut', () => {
  const { key } = createServiceAccountKey();
  const text = `panic: cannot parse ${key}, giving up`;
  for (let start = 0; start < text.length; start += 40) {
    for (const cut of [text.slice(start), text.slice(0, text.length - start)]) {
      const told = `${terminationMessage(cut)} ${oneLine(cut)} ${oneLine(JSON.stringify(cut))}`;
      expect(privateKeyIn(told)).toBeUndefined();
      expect(told).not.toMatch(/[A-Za-z0-9+/]{40}/);
    }
  }
});

it('is cut where it is long', () => {
  expect(oneLine('x '.repeat(400))).toHaveLength(300);
});

it.each(['a-', 'eyJ-', 'A1a', '://', 'token ', '-----BEGIN A-----', '-----END A----- ', '{"', '\n'])(
  'takes milliseconds, whatever a pod repeats: %j',
  (part) => {
    const text = part.repeat(500_000 / part.length);
    const begun = performance.now();
    terminationMessage(text);
    oneLine(text);
    expect(performance.now() - begun).toBeLessThan(200);
  },
);
