/** The Dockerfile holds to every rule, each rule finds what it is about, and a build is handed nothing of the user's. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readDockerfile } from './dockerfile.ts'
import { contextOf, ignoredBy } from './dockerIgnore.ts'
import { findingsIn, isExact, ruleNames } from './dockerRules.ts'

const root = resolve(import.meta.dirname, '..', '..')
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')
const dockerfile = textOf('Dockerfile')
const [exposed = ''] = /^EXPOSE .*$/m.exec(dockerfile) ?? []

test('the Dockerfile breaks no rule', () => {
  expect(findingsIn(dockerfile)).toEqual([])
})

/** A change of the Dockerfile that breaks the rule of that name, and no other but those beside it. */
const broken: Readonly<Record<string, readonly [from: string | RegExp, to: string, ...others: string[]]>> = {
  'image-pinned': [/^FROM node:\S+$/m, 'FROM node:24.21.0-bookworm-slim'],
  'image-not-latest': [/^FROM node:\S+$/m, 'FROM node:latest', 'image-pinned'],
  'stage-named': [' AS dependencies', '', 'copy-from-known-stage'],
  'workdir-absolute': ['WORKDIR /app', 'WORKDIR app'],
  'no-cd': ['RUN mkdir /etc/perpd', 'RUN cd /etc && mkdir /etc/perpd'],
  'no-sudo': ['RUN mkdir /etc/perpd', 'RUN sudo mkdir /etc/perpd'],
  'no-maintainer': ['ENV NODE_ENV', 'MAINTAINER somebody\nENV NODE_ENV'],
  'copy-not-add': ['COPY config', 'ADD config'],
  'copy-not-everything': ['COPY src ./src', 'COPY . ./'],
  'copy-from-known-stage': ['--from=dependencies', '--from=elsewhere'],
  'pipe-fails': ['RUN mkdir /etc/perpd', 'RUN ls | cat && mkdir /etc/perpd'],
  'apt-tidy': ['RUN mkdir /etc/perpd', 'RUN apt-get install -y curl && mkdir /etc/perpd'],
  'npm-ci': ['npm ci --omit=dev --ignore-scripts', 'npm install'],
  'npm-production': ['npm ci --omit=dev --ignore-scripts', 'npm ci'],
  'npm-cache-cleaned': [' && npm cache clean --force', ''],
  'no-secret': ['ENV NODE_ENV=production', 'ENV NODE_ENV=production PERPD_PRIVATE_KEY=0x1'],
  'user-numeric': ['USER 1000:1000', 'USER node'],
  'nothing-run-after-user': [exposed, `RUN touch /app/x\n${exposed}`],
  'exec-form': [/^CMD \[.*$/m, 'CMD node dist/cli/bin.js run', 'signal-reaches-node'],
  'one-command': [exposed, `CMD ["node"]\n${exposed}`],
  'signal-reaches-node': [/^CMD \["node"/m, 'CMD ["npm", "start"'],
  'stop-by-sigterm': ['STOPSIGNAL SIGTERM', 'STOPSIGNAL SIGKILL'],
  healthcheck: [/^HEALTHCHECK.*\\\n.*$/m, ''],
  'state-is-volume': ['VOLUME ["/app/var"]', ''],
}

test('every rule finds the Dockerfile that breaks it', () => {
  expect(Object.keys(broken).sort()).toEqual([...ruleNames].sort())
  for (const [rule, [from, to, ...others]] of Object.entries(broken)) {
    const changed = dockerfile.replace(from, () => to)
    expect(changed, rule).not.toBe(dockerfile)
    const found = new Set(findingsIn(changed).map((each) => each.rule))
    expect([...found].sort(), rule).toEqual([rule, ...others].sort())
  }
})

test('secrets in arguments, no user at all and a user of root are found', () => {
  const rulesOf = (text: string) => findingsIn(text).map(({ rule }) => rule)
  expect(rulesOf(dockerfile.replace(exposed, `ARG NPM_TOKEN\n${exposed}`))).toEqual(['no-secret'])
  expect(rulesOf(`ARG NPM_TOKEN=x\n${dockerfile}`)).toEqual(['no-secret'])
  for (const user of ['', 'USER 0', 'USER root'])
    expect(rulesOf(dockerfile.replace('USER 1000:1000', user))).toContain('user-numeric')
})

test('a digest that the build is given pins every stage, and docs/releasing.md says how it is asked for and given', () => {
  const digest = `sha256:${'0a'.repeat(32)}`
  const [tag = ''] = readDockerfile(dockerfile, { NODE_DIGEST: '' }).map(({ image }) => image)
  const images = readDockerfile(dockerfile, { NODE_DIGEST: digest }).map(({ image }) => image)
  expect(images).toEqual([`${tag}@${digest}`, `${tag}@${digest}`, `${tag}@${digest}`])
  const said = textOf('docs/releasing.md')
  expect(said).toContain(`docker buildx imagetools inspect ${tag} --format '{{.Manifest.Digest}}'`)
  expect(said).toContain(
    `docker build --build-arg NODE_DIGEST=sha256:… -t perpd:${JSON.parse(textOf('package.json')).version} .`,
  )
  expect(() => readDockerfile('FROM node:1.2.3$'.concat('{OTHER}'))).toThrow('no argument OTHER')
})

test('the image has the Node that this project is developed with', () => {
  const { version } = JSON.parse(textOf('package-lock.json')).packages['node_modules/node']
  for (const { image } of readDockerfile(dockerfile))
    expect(image.split('@')[0]).toBe(`node:${version}-bookworm-slim`)
})

/** Files that may name an image: all that git has, but for pictures, code and packages. */
const naming = spawnSync(
  'git',
  ['ls-files', '-z', 'Dockerfile', '*.md', '*.yaml', '*.yml', '*.sh', '.ci', 'deploy'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .stdout.split('\0')
  .filter(
    (path) =>
      /(Dockerfile|\.(md|ya?ml|sh|json|service)|\.ci\/\w+)$/.test(path) && !/sbom|dashboards/.test(path),
  )

/** Images that a text names: behind `image:`, and wherever a name of a registry's form has a version. */
function imagesIn(text: string): readonly string[] {
  const named = text.matchAll(/^\s*-?\s*"?image"?:\s*"?([^\s"]+)/gm)
  const written = text.matchAll(
    /(?<![\w./:@-])(?:[a-z\d][a-z\d._-]*\/)*(?:[a-z\d._-]+\/[a-z\d._-]+|node|debian|alpine):v?\d+[.-]\w[\w.-]*(?:@[\w:]+)?/g,
  )
  return [...new Set([...[...named].map(([, image = '']) => image), ...[...written].map(([image]) => image)])]
}

test('every image of others that a file names has its exact version and its digest', () => {
  const isOwn = (image: string) => /^perpd(:[\d.]+)?(@sha256:…)?$/.test(image)
  /** A variable without a default: the operator names it, or nothing starts. */
  const isAsked = (image: string) => /^'\$\{\w+:\?/.test(image)
  const found = naming.flatMap((path) => {
    // To ask for a digest, and to say what was taken in place of an image, the version alone is named.
    const text = textOf(path).replaceAll(/imagetools inspect \S+|place of `[^`]+`/g, '')
    const images = path === 'Dockerfile' ? readDockerfile(text).map(({ image }) => image) : imagesIn(text)
    return images.filter((image) => !isOwn(image) && !isAsked(image)).map((image) => [path, image] as const)
  })
  expect(found.filter(([, image]) => !isExact(image))).toEqual([])
  expect(new Set(found.map(([path]) => path))).toEqual(
    new Set(['Dockerfile', 'deploy/monitoring.compose.yaml']),
  )
})

test('an image without version or digest, or with a part of one, is not exact, and is found in a manifest and in a sentence', () => {
  const digest = `sha256:${'0a'.repeat(32)}`
  for (const image of [
    `node:24.21.0-bookworm-slim@${digest}`,
    `prom/prometheus:v3.5.0@${digest}`,
    `ghcr.io/a/b:1.2.3@${digest}`,
  ])
    expect(isExact(image), image).toBe(true)
  for (const image of [
    'prom/prometheus:v3.5.0',
    `prom/prometheus@${digest}`,
    `node:24@${digest}`,
    `node:latest@${digest}`,
    `node:24.21.0@${digest.slice(0, -1)}`,
  ])
    expect(isExact(image), image).toBe(false)
  expect(imagesIn('    - image: prom/prometheus:v3.5.0\n')).toEqual(['prom/prometheus:v3.5.0'])
  expect(imagesIn('  "image": "nginx"')).toEqual(['nginx'])
  expect(imagesIn('run `docker pull grafana/grafana:12.1.0` and node:24-slim')).toEqual([
    'grafana/grafana:12.1.0',
    'node:24-slim',
  ])
  expect(imagesIn('see a/b.md:12, http://127.0.0.1:80 and 2026-11-27T10:00:00')).toEqual([])
})

test('a build is handed what the Dockerfile copies, and nothing else of the folder', () => {
  const context = contextOf(root, textOf('.dockerignore'))
  const copied = readDockerfile(dockerfile)
    .flatMap(({ instructions }) => instructions)
    .filter(({ name, flags }) => name === 'COPY' && flags.from === undefined)
    .flatMap(({ text }) => text.split(/\s+/).slice(0, -1))
  const isCopied = (path: string) => copied.some((each) => path === each || path.startsWith(`${each}/`))
  expect(context.filter((path) => !isCopied(path))).toEqual([])
  for (const each of copied)
    expect(
      context.some((path) => path === each || path.startsWith(`${each}/`)),
      each,
    ).toBe(true)
  const isIgnored = ignoredBy(textOf('.dockerignore'))
  for (const path of [
    'var/key.json',
    'perpd.json',
    '.env',
    'deploy/secrets/perpd-password',
    'deploy/settings/perpd.json',
    '.git/config',
    'node_modules/viem/package.json',
  ])
    expect(isIgnored(path), path).toBe(true)
})
