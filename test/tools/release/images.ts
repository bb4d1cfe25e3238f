import { join } from 'node:path';
import { type Architecture, type ImageContent, writeArchiveForAll } from '../testbed/oci.ts';
import { fanOutContent, type NodeForImage, operatorContent } from '../testbed/operator-image.ts';

type Nodes = Readonly<Record<Architecture, NodeForImage>>;

/**
 * Writes the archives of the operator and of the audit fan-out, each for all processors. Returns their names with the digests, by
 * which nothing else can take their place.
 * @param bundle the compiled operator
 * @param names the images' names with tags, as registries will know them
 */
export async function writeImages(
  directory: string,
  bundle: string,
  nodes: Nodes,
  names: { readonly manager: string; readonly audit: string },
): Promise<{ readonly manager: string; readonly audit: string }> {
  return {
    manager: await writeImage(directory, 'manager.oci.tar', names.manager, {
      amd64: await operatorContent(bundle, nodes.amd64),
      arm64: await operatorContent(bundle, nodes.arm64),
    }),
    audit: await writeImage(directory, 'audit.oci.tar', names.audit, {
      amd64: fanOutContent(bundle, nodes.amd64),
      arm64: fanOutContent(bundle, nodes.arm64),
    }),
  };
}

async function writeImage(
  directory: string,
  file: string,
  reference: string,
  content: Readonly<Record<Architecture, ImageContent>>,
): Promise<string> {
  const digest = await writeArchiveForAll(join(directory, file), { reference, content });
  return `${reference}@${digest}`;
}
