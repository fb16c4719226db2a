/** What an image of ours must hold to, as rules over its Dockerfile; each has a name and says where it is broken. */
import { type Instruction, pairsOf, readDockerfile, type Stage } from './dockerfile.ts'

/** A rule that is broken. */
export interface Finding {
  readonly rule: string
  readonly line: number
}

type Rule = (stages: readonly Stage[]) => readonly number[]

const all = (stages: readonly Stage[], name: string): readonly Instruction[] =>
  stages.flatMap(({ instructions }) => instructions.filter((each) => each.name === name))
const ofLast = (stages: readonly Stage[], name: string): readonly Instruction[] => all(stages.slice(-1), name)
const lines = (instructions: readonly Instruction[]): readonly number[] =>
  instructions.map(({ line }) => line)
const lastLine = (stages: readonly Stage[]): number => stages.at(-1)?.line ?? 0

/** Tells whether an image of another project is named by its exact version and its digest. */
export function isExact(image: string): boolean {
  return /^[\w./:-]+:v?\d+\.\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/.test(image)
}

/** An image of another project is exact; a stage of this file is named by its name. */
function isPinned(image: string, stages: readonly Stage[]): boolean {
  return stages.some(({ name }) => name === image) || isExact(image)
}

const secretName = /(secret|token|password|passphrase|passwd|private_?key|mnemonic|api_?key|credential)/i
const shells = new Set(['sh', 'bash', 'ash', 'dash', 'npm', 'npx', 'yarn', 'env'])
const baseOf = (word = ''): string => word.slice(word.lastIndexOf('/') + 1)

const rules: Readonly<Record<string, Rule>> = {
  'image-pinned': (stages) => stages.filter(({ image }) => !isPinned(image, stages)).map(({ line }) => line),
  'image-not-latest': (stages) =>
    stages.filter(({ image }) => /:latest(@|$)/.test(image)).map(({ line }) => line),
  'stage-named': (stages) =>
    stages.slice(0, -1).flatMap(({ name, line }) => (name === undefined ? [line] : [])),
  'workdir-absolute': (stages) => lines(all(stages, 'WORKDIR').filter(({ text }) => !text.startsWith('/'))),
  'no-cd': (stages) => lines(all(stages, 'RUN').filter(({ text }) => /(^|&&|;)\s*cd\s/.test(text))),
  'no-sudo': (stages) => lines(all(stages, 'RUN').filter(({ text }) => /(^|&&|;|\|)\s*sudo\s/.test(text))),
  'no-maintainer': (stages) => lines(all(stages, 'MAINTAINER')),
  'copy-not-add': (stages) => lines(all(stages, 'ADD')),
  'copy-not-everything': (stages) =>
    lines(all(stages, 'COPY').filter(({ text, flags }) => flags.from === undefined && /^\.\/?\s/.test(text))),
  'copy-from-known-stage': (stages) =>
    lines(
      all(stages, 'COPY').filter(
        ({ flags }) => flags.from !== undefined && stages.every(({ name }) => name !== flags.from),
      ),
    ),
  'pipe-fails': (stages) =>
    lines(
      all(stages, 'RUN').filter(({ text }) => /[^|]\|[^|]/.test(text) && !text.includes('set -o pipefail')),
    ),
  'apt-tidy': (stages) =>
    lines(
      all(stages, 'RUN').filter(
        ({ text }) =>
          /apt(-get)? .*install/.test(text) &&
          !(
            text.includes('--no-install-recommends') &&
            / -y\b| -qy\b/.test(text) &&
            text.includes('rm -rf /var/lib/apt/lists')
          ),
      ),
    ),
  'npm-ci': (stages) =>
    lines(all(stages, 'RUN').filter(({ text }) => /\bnpm (install|i|add)\b|(^|&&|;)\s*yarn\b/.test(text))),
  // A stage of which the last one takes no packages may have those for development.
  'npm-production': (stages) =>
    stages.flatMap((stage, at) => {
      const isKept =
        at === stages.length - 1 ||
        ofLast(stages, 'COPY').some(
          ({ text, flags }) => flags.from === stage.name && !/^\/app\/dist\s/.test(text),
        )
      return lines(
        all([stage], 'RUN').filter(
          ({ text }) =>
            /\bnpm ci\b/.test(text) &&
            !((text.includes('--omit=dev') || !isKept) && text.includes('--ignore-scripts')),
        ),
      )
    }),
  'npm-cache-cleaned': (stages) =>
    lines(
      all(stages, 'RUN').filter(
        ({ text }) => /\bnpm ci\b/.test(text) && !text.includes('npm cache clean --force'),
      ),
    ),
  'no-secret': (stages) => {
    const env = all(stages, 'ENV').filter((each) =>
      Object.keys(pairsOf(each)).some((key) => secretName.test(key)),
    )
    const arg = all(stages, 'ARG').filter(({ text }) => secretName.test(text))
    const copied = all(stages, 'COPY').filter(({ text }) => /\.(pem|key|env)\b|id_rsa|keystore/.test(text))
    return lines([...env, ...arg, ...copied])
  },
  'user-numeric': (stages) => {
    const users = ofLast(stages, 'USER')
    const last = users.at(-1)
    if (last === undefined) return [lastLine(stages)]
    return /^[1-9]\d*(:[1-9]\d*)?$/.test(last.text) ? [] : [last.line]
  },
  'nothing-run-after-user': (stages) => {
    const user = ofLast(stages, 'USER').at(-1)?.line ?? Number.POSITIVE_INFINITY
    return lines([...ofLast(stages, 'RUN'), ...ofLast(stages, 'COPY')].filter(({ line }) => line > user))
  },
  'exec-form': (stages) => {
    const commands = [...ofLast(stages, 'CMD'), ...ofLast(stages, 'ENTRYPOINT')]
    if (commands.length === 0) return [lastLine(stages)]
    return lines(commands.filter(({ exec }) => exec === undefined))
  },
  'one-command': (stages) =>
    ['CMD', 'ENTRYPOINT', 'HEALTHCHECK'].flatMap((name) => lines(ofLast(stages, name).slice(1))),
  // Process 1 is the one that is told to end: a shell or a package manager before it may keep the signal.
  'signal-reaches-node': (stages) => {
    const entry = ofLast(stages, 'ENTRYPOINT').at(-1)
    const command = entry ?? ofLast(stages, 'CMD').at(-1)
    const isNode = baseOf(command?.exec?.[0]) === 'node' && !shells.has(baseOf(command?.exec?.[0]))
    return isNode ? [] : [command?.line ?? lastLine(stages)]
  },
  'stop-by-sigterm': (stages) => {
    const signals = ofLast(stages, 'STOPSIGNAL')
    return lines(signals.filter(({ text }) => text !== 'SIGTERM'))
  },
  healthcheck: (stages) => {
    const checks = ofLast(stages, 'HEALTHCHECK')
    if (checks.length === 0) return [lastLine(stages)]
    return lines(
      checks.filter(
        ({ exec, flags }) =>
          exec === undefined ||
          ['interval', 'timeout', 'start-period', 'retries'].some((flag) => !(flag in flags)),
      ),
    )
  },
  'state-is-volume': (stages) => {
    const volumes = ofLast(stages, 'VOLUME')
    if (volumes.length === 0) return [lastLine(stages)]
    return lines(volumes.filter(({ exec }) => exec?.every((path) => path.startsWith('/')) !== true))
  },
}

/** Names of all rules. */
export const ruleNames: readonly string[] = Object.keys(rules)

/** What is broken in a Dockerfile, by rule and line. */
export function findingsIn(text: string): readonly Finding[] {
  const stages = readDockerfile(text)
  return Object.entries(rules).flatMap(([rule, look]) => look(stages).map((line) => ({ rule, line })))
}
