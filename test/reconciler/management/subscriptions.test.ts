import { expect, it } from 'vitest';
import { Interests } from '../../../reconciler/management/subscriptions.ts';

it('names each key that asked for any of the topics once, until the key is forgotten', () => {
  const interests = new Interests();
  interests.add('team/a', 'gateway x');
  interests.add('team/a', 'host y');
  interests.add('team/b', 'gateway x');
  expect(interests.of(['gateway x', 'host y', 'host z'])).toEqual(['team/a', 'team/b']);
  interests.forget('team/a');
  expect(interests.of(['gateway x', 'host y'])).toEqual(['team/b']);
  interests.add('team/a', 'host y');
  expect(interests.of(['host y'])).toEqual(['team/a']);
  interests.forget('nobody');
});
