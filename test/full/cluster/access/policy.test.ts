import { describe } from 'vitest';
import { testPolicies, type TestedServer } from '../../../cluster/access/policy-tests.ts';

const servers: readonly TestedServer[] = [
  { minor: '1.36', version: 'v1.36.4', binaries: '1.36' },
  { minor: '1.35', version: 'v1.35.8', binaries: '1.35' },
];

describe.each<TestedServer>(servers)('a $minor API server', (server) => {
  testPolicies(server);
});
