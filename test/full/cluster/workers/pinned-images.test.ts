import { expect, test } from 'vitest';
import { imagesOf } from '../../../cluster/workers/pinned-images.ts';
import { furtherMinors } from '../../../tools/testbed/families.ts';

test.each(Object.entries(furtherMinors))(
  'images of Kubernetes %s are those that its kubeadm pins',
  async (_, folders) => {
    const { pinned, rendered } = await imagesOf(folders);
    expect(pinned).toEqual(expect.arrayContaining(rendered));
  },
);
