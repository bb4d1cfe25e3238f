import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { likeText } from '../../support/like-text.ts';
import { ownTestbed } from '../../support/own-testbed.ts';
import { likeCheckout, stepsOf, typeStep } from '../../support/page-shell.ts';
import { readPage } from '../../support/pages.ts';
import { loadImage } from '../../tools/testbed/access.ts';
import { bringUp } from '../../tools/testbed/bring-up.ts';

// What a reader types after `kind create cluster` and `clusterctl init`: a new testbed is as such a cluster.
const instance = ownTestbed('kind');
const { blocks } = await readPage('constructs/provider/KIND.md');
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'checkout-'));
  await likeCheckout(directory);
  await bringUp(instance, (line) => console.log(line));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test.each(stepsOf(blocks.filter(({ marker }) => marker?.kind === 'proof')))('$place', async (step) => {
  const printed = await typeStep({ instance, directory }, step);
  expect(printed).toMatch(likeText(step.shown));
  const archive = /^(\S+\/image\.tar): /m.exec(printed)?.[1];
  // as kind load image-archive does
  if (archive !== undefined) await loadImage(instance, archive);
});
