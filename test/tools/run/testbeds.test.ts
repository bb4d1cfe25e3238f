import { expect, test } from 'vitest';
import { instanceFrom } from '../testbed/instance.ts';
import { testbeds, withOwn } from './testbeds.ts';

const indexOf = (name: string): number => instanceFrom({}, name).index;

test.each(Object.values(testbeds))(
  'what files of testbed %s bring up for themselves has no addresses of it',
  (testbed) => {
    const [, ...own] = withOwn(testbed);
    expect(own.length).toBeGreaterThan(5);
    expect(own.filter((name) => indexOf(name) === indexOf(testbed))).toEqual([]);
  },
);
