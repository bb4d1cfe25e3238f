import { expect, it } from 'vitest';
import { Subscriptions } from '../../../../reconciler/clusters/management/subscriptions.ts';

it('returns each key that subscribed to any of the topics once, until the key is forgotten', () => {
  const subscriptions = new Subscriptions();
  subscriptions.add('team/a', 'gateway x');
  subscriptions.add('team/a', 'host y');
  subscriptions.add('team/b', 'gateway x');
  expect(subscriptions.of(['gateway x', 'host y', 'host z'])).toEqual(['team/a', 'team/b']);
  subscriptions.forget('team/a');
  expect(subscriptions.of(['gateway x', 'host y'])).toEqual(['team/b']);
  subscriptions.add('team/a', 'host y');
  expect(subscriptions.of(['host y'])).toEqual(['team/a']);
  subscriptions.forget('unknown');
});
