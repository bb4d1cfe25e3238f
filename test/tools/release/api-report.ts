/**
 * `npm run api-report [-- FILE [LIBRARY]]`: writes every export of the library for npm, and every type that these name, into
 * constructs/library.api.md or another file. LIBRARY is the library in the node_modules of a project; by default the
 * sources are compiled for it.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import manifest from '../../../package.json' with { type: 'json' };
import { repository } from '../testbed/operator-bundle.ts';
import { installLibrary } from './installed-library.ts';

const reportName = 'library';

/**
 * The report of an installed library.
 * @param folder an empty one for the files of API Extractor
 */
async function apiReport(library: string, folder: string): Promise<string> {
  const entry = join(library, 'constructs/index.d.ts');
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    types: ['node'],
    // A test type-checks these declarations already: checking them again takes longer than the report.
    skipLibCheck: true,
  };
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: library,
      mainEntryPointFilePath: entry,
      // What lies in node_modules is foreign to API Extractor, and foreign types are not part of a report.
      bundledPackages: [manifest.name],
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions, files: [entry] } },
      apiReport: {
        enabled: true,
        reportFileName: reportName,
        // What is @internal is left out: schemas, whose fields are those of the CRDs, classes and charts in dist/.
        reportVariants: ['public'],
        // The same folder twice: a report is not replaced by one that differs in white space only.
        reportFolder: folder,
        reportTempFolder: folder,
        // A type that is not exported can break an app, too. Its declaration shows that better than a warning with a line.
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: { compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } } },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(library, 'package.json'),
  });
  const { succeeded } = Extractor.invoke(config, {
    messageCallback: (message) => {
      const { logLevel } = message;
      message.handled = logLevel !== ExtractorLogLevel.Error && logLevel !== ExtractorLogLevel.Warning;
    },
  });
  if (!succeeded) throw new Error('API Extractor has found the errors above');
  return readFile(join(folder, `${reportName}.public.api.md`), 'utf8');
}

const [file = join(repository, 'constructs', `${reportName}.api.md`), library] = process.argv.slice(2);
const work = await mkdtemp(join(tmpdir(), 'api-report-'));
try {
  const { directory } = library === undefined ? await installLibrary(join(work, 'project')) : { directory: library };
  await writeFile(file, await apiReport(directory, join(work, 'report')));
} finally {
  await rm(work, { recursive: true });
}
console.log(file);
