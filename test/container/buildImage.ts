/** Builds the image as a container engine does: the steps of the Dockerfile, in their order, in a clean root. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeBase, script, words } from './cleanRoot.ts'
import { type Instruction, pairsOf, readDockerfile, type Stage } from './dockerfile.ts'
import { contextOf } from './dockerIgnore.ts'

/** What a built image is and how it is started. */
export interface Image {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly workdir: string
  /** `UID:GID`. */
  readonly user: string
  readonly command: readonly string[]
  readonly healthcheck: readonly string[]
  readonly volumes: readonly string[]
}

/** What npm needs to reach its registry from here; of the build alone. */
const passed = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy']

/** Runs one `RUN` in the root, with the network of this machine. */
function runStep(
  root: string,
  command: string,
  env: Readonly<Record<string, string>>,
  workdir: string,
): void {
  const outside = Object.fromEntries(
    [...passed, ...Object.keys(process.env).filter((name) => name === 'npm_config_registry')].flatMap(
      (name) => {
        const value = process.env[name]
        return value === undefined ? [] : [[name, value]]
      },
    ),
  )
  const certificates = existsSync(join(root, 'etc/ssl/certs/ca-certificates.crt'))
    ? { NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt' }
    : {}
  const all = { HOME: '/root', ...outside, ...certificates, ...env }
  const ran = spawnSync(
    'unshare',
    [
      '--mount',
      '--pid',
      '--fork',
      'sh',
      '-c',
      script,
      'sh',
      root,
      'no',
      '--',
      ...words(all, workdir),
      '/bin/sh',
      '-c',
      command,
    ],
    { encoding: 'utf8' },
  )
  if (ran.status !== 0)
    throw new Error(`RUN ${command}\nended with ${ran.status}: ${ran.stdout}${ran.stderr}`)
}

/** `COPY`: files and folders of the context, or of another stage, to a place in the root. */
function copyStep(
  { text, flags }: Instruction,
  at: {
    readonly root: string
    readonly workdir: string
    readonly context: string
    readonly stages: ReadonlyMap<string, string>
  },
): void {
  const parts = text.split(/\s+/)
  const to = parts.pop() ?? ''
  const from = flags.from === undefined ? at.context : (at.stages.get(flags.from) ?? '')
  const target = join(at.root, to.startsWith('/') ? to : join(at.workdir, to))
  for (const part of parts) {
    const source = join(from, part)
    // What the build is not handed is not there.
    const isFolder = statSync(source).isDirectory()
    const place = !isFolder && to.endsWith('/') ? join(target, basename(part)) : target
    mkdirSync(isFolder ? place : dirname(place), { recursive: true })
    execFileSync('cp', ['-a', '--no-preserve=ownership', isFolder ? `${source}/.` : source, place])
  }
}

/** Builds the image of a checkout in `folder`, step by step. Throws with what a step said when it fails. */
export function buildImage(checkout: string, folder: string): Image {
  const base = join(folder, 'base')
  const context = join(folder, 'context')
  makeBase(base)
  for (const each of contextOf(checkout, readFileSync(join(checkout, '.dockerignore'), 'utf8'))) {
    mkdirSync(dirname(join(context, each)), { recursive: true })
    cpSync(join(checkout, each), join(context, each))
  }
  const stages = new Map<string, string>()
  let image: Image | undefined
  for (const [at, stage] of readDockerfile(readFileSync(join(checkout, 'Dockerfile'), 'utf8')).entries()) {
    const root = join(folder, `stage-${at}`)
    execFileSync('cp', ['-al', base, root])
    image = buildStage(stage, { root, context, stages })
    stages.set(stage.name ?? String(at), root)
  }
  if (image === undefined) throw new Error('the Dockerfile has no stage')
  return image
}

function buildStage(
  { instructions }: Stage,
  at: { readonly root: string; readonly context: string; readonly stages: ReadonlyMap<string, string> },
): Image {
  const { root } = at
  let image: Image = { root, env: {}, workdir: '/', user: '0:0', command: [], healthcheck: [], volumes: [] }
  for (const instruction of instructions) {
    const { name, text, exec = [], line } = instruction
    switch (name) {
      case 'ENV':
        image = { ...image, env: { ...image.env, ...pairsOf(instruction) } }
        break
      case 'WORKDIR':
        mkdirSync(join(root, text), { recursive: true })
        image = { ...image, workdir: text }
        break
      case 'COPY':
        copyStep(instruction, { ...at, workdir: image.workdir })
        break
      case 'RUN':
        runStep(root, text, image.env, image.workdir)
        break
      case 'USER':
        image = { ...image, user: text }
        break
      case 'VOLUME':
        image = { ...image, volumes: [...image.volumes, ...exec] }
        break
      case 'CMD':
        image = { ...image, command: exec }
        break
      case 'HEALTHCHECK':
        image = { ...image, healthcheck: exec }
        break
      case 'ARG':
      case 'EXPOSE':
      case 'STOPSIGNAL':
        break
      default:
        throw new Error(`line ${line}: ${name} is not carried out here`)
    }
  }
  return image
}
