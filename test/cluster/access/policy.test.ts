import { describe } from 'vitest';
import { kubernetesVersion } from '../../support/workbench.ts';
import { testPolicies, type TestedServer } from './policy-tests.ts';

const servers: readonly TestedServer[] = [
  { minor: '1.37', version: kubernetesVersion },
  { minor: '1.34, emulated,', version: 'v1.34.4', emulatedBy: kubernetesVersion },
];

describe.each<TestedServer>(servers)('a $minor API server', (server) => {
  testPolicies(server);
});
