import { join } from 'node:path';
import { type Architecture, type ImageContent, writeArchiveForAll } from '../testbed/oci.ts';
import { fanOutContent, type NodeForImage, operatorContent } from '../testbed/operator-image.ts';

/** An image of the release, in an archive for all processors. */
export interface ReleasedImage {
  readonly file: string;
  /** With the digest, by which nothing else can take its place. */
  readonly reference: string;
  readonly digest: string;
}

type Nodes = Readonly<Record<Architecture, NodeForImage>>;

/**
 * Writes the archives of the operator and of the audit fan-out.
 * @param bundle the compiled operator
 * @param names the images' names with tags, as registries will know them
 */
export async function writeImages(
  directory: string,
  bundle: string,
  nodes: Nodes,
  names: { readonly manager: string; readonly audit: string },
): Promise<{ readonly manager: ReleasedImage; readonly audit: ReleasedImage }> {
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
): Promise<ReleasedImage> {
  const digest = await writeArchiveForAll(join(directory, file), { reference, content });
  return { file, reference: `${reference}@${digest}`, digest };
}
