import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fanOutImage } from '../../../constructs/control-plane/api-server/audit/fan-out.ts';
import { imageReference } from '../../../constructs/cluster/versions.ts';
import { managerImage } from '../../../constructs/provider/image.ts';
import { buildDirectory, bundleOperator } from './operator-bundle.ts';
import { packFanOutImage, packOperatorImage } from './operator-image.ts';

// `npm run image [-- REFERENCE [DIRECTORY [REFERENCE_OF_THE_AUDIT_FAN_OUT]]]`
const [reference = managerImage, directory = buildDirectory, audit = imageReference({}, fanOutImage, undefined)] =
  process.argv.slice(2);
await bundleOperator(directory);
for (const { file, name, pack } of [
  { file: 'image.tar', name: reference, pack: packOperatorImage },
  { file: 'audit-image.tar', name: audit, pack: packFanOutImage },
]) {
  const archive = join(directory, file);
  const digest = await pack(archive, name, directory);
  const { size } = await stat(archive);
  console.log(`${archive}: ${name} ${digest}, ${(size / 1e6).toFixed(0)} MB`);
}
