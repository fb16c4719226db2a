/**
 * Makes the documentation a site: `npm run site [-- FOLDER]`. Every page is what `docs/` and its neighbours say, beside the types of
 * `perpd/strategy`, `perpd/indicators` and `perpd/api`. It needs no server: open site/index.html. One folder a version;
 * the folders of earlier versions stay where they are. A link that leads nowhere ends it with 1.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, Converter, OptionDefaults } from 'typedoc'

const root = fileURLToPath(new URL('../../', import.meta.url))
const site = process.argv[2] ?? join(root, 'site')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
// TypeDoc empties this folder first: it must be nobody else's.
const out = join(site, version)

/** Pages in the order in which they are listed; a page of docs/ and docs/reference/ that is not named here ends the build. */
const groups = {
  'First steps': [
    'docs/README.md',
    'docs/first-hour.md',
    'docs/recipes.md',
    'docs/faq.md',
    'docs/reference/glossary.md',
  ],
  'Running it': [
    'docs/console.md',
    'docs/control.md',
    'docs/tasks.md',
    'docs/notifications.md',
    'docs/operating.md',
    'docs/books.md',
    'docs/going-live.md',
    'docs/keys.md',
    'config/README.md',
  ],
  Strategies: [
    'docs/strategies.md',
    'docs/own-kinds.md',
    'docs/backtesting.md',
    'docs/exits.md',
    'docs/keepers.md',
    'docs/signals.md',
    'strategies/README.md',
  ],
  Reference: [
    'docs/reference/commands.md',
    'docs/reference/configuration.md',
    'docs/reference/metrics.md',
    'docs/reference/events.md',
    'docs/reference/errors.md',
    'docs/reference/messages.md',
    'docs/reference/asked.md',
    'docs/reference/results.md',
    'docs/reference/limits.md',
    'docs/reference/strategies.md',
    'docs/reference/indicators.md',
    'docs/reference/control-api.md',
    'docs/reference/alerts.md',
    'docs/reference/bounds.md',
    'docs/reference/notifications.md',
    'docs/reference/api-coverage.md',
    'docs/reference/unverified.md',
    'docs/reference/paper-venue.md',
    'docs/reference/paper-reads.md',
    'CHANGELOG.md',
  ],
  Inside: [
    'docs/orders.md',
    'docs/reference/evidence.md',
    'docs/sending.md',
    'docs/journal.md',
    'docs/scale.md',
    'docs/reference/fleet.md',
    'docs/paper-venue.md',
    'docs/architecture.md',
    'docs/reference/performance.md',
    'docs/security.md',
    'docs/hardening.md',
    'docs/reference/modules.md',
    'docs/reference/dependencies.md',
    'docs/releasing.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
  ],
  Decisions: readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`),
}
const pages = Object.entries(groups).flatMap(([group, files]) => files.map((file) => ({ group, file })))

const forgotten = ['docs', 'docs/reference']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
  .filter((name) => name.endsWith('.md') && !pages.some(({ file }) => file === name))
if (forgotten.length > 0) fail(`docs/site/build.js lists no group for: ${forgotten.join(', ')}`)

const app = await Application.bootstrapWithPlugins({
  name: 'perpd',
  out,
  customCss: join(root, 'docs/site/site.css'),
  entryPoints: ['src/strategy/strategy.ts', 'src/strategy/indicators.ts', 'src/api/index.ts'].map((path) =>
    join(root, path),
  ),
  tsconfig: join(root, 'tsconfig.json'),
  readme: join(root, 'README.md'),
  projectDocuments: pages.map(({ file }) => join(root, file)),
  highlightLanguages: [...OptionDefaults.highlightLanguages, 'python', 'sql'],
  searchInDocuments: true,
  searchInComments: true,
  includeVersion: true,
  // No address of a repository is known to be public: pages link to no source.
  disableSources: true,
  // The types are checked by perpd's own compiler.
  skipErrorChecking: true,
  excludeExternals: true,
  groupOrder: [...Object.keys(groups), '*'],
  sort: ['documents-first', 'source-order'],
  navigationLinks: { 'All versions': '../index.html' },
  // A block without a language is what a terminal shows, not TypeScript.
  markdownItLoader: (parser) =>
    parser.core.ruler.push('terminal', ({ tokens }) => {
      for (const token of tokens) if (token.type === 'fence' && token.info === '') token.info = 'text'
    }),
  navigation: { includeGroups: true },
  validation: { invalidLink: true, invalidPath: true, notExported: false },
})
app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
  const file = relative(root, document.project.files.getReflectionPath(document) ?? '')
  const page = pages.find((one) => one.file === file)
  if (page === undefined) return
  const [, title = file] = /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8')) ?? []
  document.name = title
  document.frontmatter.group = page.group
})

const project = await app.convert()
if (project === undefined) fail('The types cannot be read.')
app.validate(project)
await app.generateDocs(project, out)
if (app.logger.hasErrors() || app.logger.hasWarnings()) fail('The site has the faults above.')

// A browser takes no picture out of another file of a disk. Each page has all icons in itself, by assets/icons.js: it uses those.
for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.html')) {
    const page = readFileSync(join(out, name), 'utf8')
    writeFileSync(join(out, name), page.replaceAll(/href="[^"]*assets\/icons\.svg#/g, 'href="#'))
  }

mkdirSync(site, { recursive: true })
const versions = readdirSync(site, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(site, entry.name, 'index.html')))
  .map(({ name }) => name)
  .sort((one, other) => other.localeCompare(one, 'en', { numeric: true }))
writeFileSync(
  join(site, 'index.html'),
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>perpd: documentation by version</title></head>
<body><h1>perpd</h1><p>Documentation by version, the newest first:</p>
<ul>${versions.map((name) => `<li><a href="${name}/index.html">${name}</a></li>`).join('')}</ul></body></html>
`,
)
process.stdout.write(`${join(site, 'index.html')}\n`)

/**
 * Ends the build.
 *
 * @param {string} what
 * @returns {never}
 */
function fail(what) {
  process.stderr.write(`${what}\n`)
  process.exit(1)
}
