import { underTopology } from '../../constructs/api/kubernetes-version.ts';
import { degraded, done, type Outcome, wait } from '../engine/outcome.ts';
import { endOfHold } from '../desired-state/upgrade/emulation.ts';
import { areServersRolledOut } from '../desired-state/upgrade/followers.ts';
import { controllerManager, scheduler } from './controllers.ts';
import { phase } from './scope.ts';

/**
 * Begins the hold of an upgrade once all binaries of the new minor run, and says until when it lasts. No other phase waits for
 * it: {@link decideVersion} renders the new minor when it is over.
 */
export const upgradeHold = phase({
  condition: 'UpgradeHoldEnded',
  needs: [controllerManager, scheduler],
  async run({ cluster, hostedControlPlane, now, reader }): Promise<Outcome> {
    const { binaries, spec } = cluster;
    if (binaries === undefined) return done();
    // Only then do the controllers follow.
    if (!areServersRolledOut({ cluster, reader }))
      return wait('WaitingForOtherPhases', 'waiting for APIServerDeploymentsReady');
    const before = hostedControlPlane.status?.emulation;
    const emulation = before?.binaries === binaries ? before : { binaries, since: now.toISOString() };
    const end = endOfHold({ ...hostedControlPlane, status: { emulation } }, binaries) ?? now;
    const until = end > now ? `until ${end.toISOString()}` : 'until the condition UpgradePreflightSucceeded is True';
    const message = `API servers and controllers run ${binaries} and emulate ${spec.version} ${until}: to go back, set spec.version to ${spec.version}; to end the hold now, set spec.upgrade.hold to 0s; ${underTopology}`;
    return degraded('HoldingUpgrade', message, { requeueAt: end > now ? end : undefined, report: { emulation } });
  },
});
