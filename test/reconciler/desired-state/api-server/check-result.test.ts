import { expect, it } from 'vitest';
import { acceptedPath } from '../../../../constructs/control-plane/api-server/check.ts';
import type { ContainerStateTerminated } from '../../../../imports/kubernetes.ts';
import { configurationCheckResult } from '../../../../reconciler/desired-state/api-server/check-pod.ts';

const klog = (rest: string) => `E1123 07:52:26.161491   15306 run.go:72] "command failed" err=${rest}`;
const opens = `error creating storage factory: open ${acceptedPath}: no such file or directory`;
const celLines = [
  '\tinvalid authentication configuration: jwt[0].claimMappings.username.expression: Invalid value: "claims.sub +": compilation failed: ERROR: <input>:1:13: Syntax error',
  '\t | claims.sub +',
  '\t | ............^',
];

it.each<[string, ContainerStateTerminated, string]>([
  ['etcd would be asked next', { exitCode: 1, message: klog(JSON.stringify(opens)) }, 'accepted'],
  [
    'etcd would be asked next, in the format json',
    { exitCode: 1, message: `{"ts":1,"msg":"any"}\n${JSON.stringify({ ts: 1.5, msg: 'command failed', err: opens })}` },
    'accepted',
  ],
  [
    'an expression does not compile',
    { exitCode: 1, message: `I1123 any\n${klog(`<\n${celLines.join('\n')}\n >\n`)}` },
    'refused: invalid authentication configuration: jwt[0].claimMappings.username.expression: Invalid value: "claims.sub +": compilation failed: ERROR: <input>:1:13: Syntax error | claims.sub + | ............^',
  ],
  [
    'an audit policy is wrong',
    { exitCode: 1, message: klog('"loading audit policy file: rules[0].level: Unsupported value: \\"Nonsense\\""') },
    'refused: loading audit policy file: rules[0].level: Unsupported value: "Nonsense"',
  ],
  [
    'a flag is unknown',
    { exitCode: 1, message: 'Error: unknown flag: --nonsense\n' },
    'refused: unknown flag: --nonsense',
  ],
  [
    'another file is missing',
    { exitCode: 1, message: klog('"open /etc/none.yaml: no such file or directory"') },
    'refused: open /etc/none.yaml: no such file or directory',
  ],
  ['only the end of a message is left', { exitCode: 1, message: '\t | ....^\n >' }, 'refused: | ....^ | >'],
  ['it only prints its version', { exitCode: 0 }, 'refused: it ended with exit code 0 and says nothing'],
  ['it panics', { exitCode: 2, message: 'panic: nil map' }, 'refused: panic: nil map'],
  [
    'there is too little memory',
    { exitCode: 137, reason: 'OOMKilled', message: 'I1123 any' },
    'unknown: OOMKilled, exit code 137: I1123 any',
  ],
  ['nothing is known', {}, 'unknown: Error, exit code unknown:'],
  [
    'a password is quoted',
    { exitCode: 1, message: 'Error: invalid argument "password=hunter2" for "--x" flag' },
    'refused: invalid argument "password=[removed]" for "--x" flag',
  ],
])('%s', (_, ended, expected) => {
  const result = configurationCheckResult(ended);
  expect(result.kind === 'accepted' ? result.kind : `${result.kind}: ${result.message}`).toBe(expected);
});
