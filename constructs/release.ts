import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { clusterctlConfiguration, clusterctlName, releaseFiles, releaseFolder } from './provider/repository.ts';

// `npm run release -- DIRECTORY [IMAGE]` adds this release to a repository that clusterctl reads from a disk, and writes the
// configuration for it. A release that is there already is never changed: clusters may run it.
const [directory, image] = process.argv.slice(2);
if (directory === undefined) {
  console.error('npm run release -- DIRECTORY [IMAGE]: name the directory of the repository, which may be new');
  process.exit(2);
}
const repository = resolve(process.env.INIT_CWD ?? '.', directory);
const folder = join(repository, releaseFolder);

const files = releaseFiles(image).map(({ path, content }) => ({ file: join(folder, path), content }));
for (const { file, content } of files) {
  const before = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return content;
    throw error;
  });
  if (before === content) continue;
  console.error(`${file} exists with another content. Raise the version in package.json, or remove ${folder}.`);
  process.exit(1);
}

const { path, content } = clusterctlConfiguration(repository);
const configuration = join(repository, path);
for (const each of [...files, { file: configuration, content }]) {
  await mkdir(dirname(each.file), { recursive: true });
  await writeFile(each.file, each.content);
}
console.log(`${folder}: ${files.length} files`);
console.log(`clusterctl init --config ${configuration} --control-plane ${clusterctlName}`);
