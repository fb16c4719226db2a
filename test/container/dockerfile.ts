/** Reads a Dockerfile into its stages, as far as ours uses the language, and throws at what it does not know. */

/** One instruction with its words as they stand. */
export interface Instruction {
  /** Upper case: `RUN`. */
  readonly name: string
  /** First line, from 1. */
  readonly line: number
  /** Everything behind the name and its flags, lines joined. */
  readonly text: string
  /** `--from=builder` as `from: builder`. */
  readonly flags: Readonly<Record<string, string>>
  /** The words of the exec form, a JSON list; undefined: it is not in that form. */
  readonly exec: readonly string[] | undefined
}

/** One `FROM` and what follows it; of the first one also the arguments before it. */
export interface Stage {
  readonly image: string
  readonly name: string | undefined
  readonly line: number
  readonly instructions: readonly Instruction[]
}

const known = new Set(
  'FROM ARG ENV WORKDIR COPY ADD RUN VOLUME USER EXPOSE STOPSIGNAL HEALTHCHECK CMD ENTRYPOINT LABEL SHELL MAINTAINER'.split(
    ' ',
  ),
)

/**
 * Reads the text. `given`: what `--build-arg` sets of the arguments before the first `FROM`, which images may name. Throws on an instruction
 * that there is none of, on anything but arguments before the first `FROM`, and on an argument that is not declared.
 */
export function readDockerfile(text: string, given: Readonly<Record<string, string>> = {}): readonly Stage[] {
  const args = new Map<string, string>()
  const declared: Instruction[] = []
  const stages: (Stage & { instructions: Instruction[] })[] = []
  for (const instruction of instructionsOf(text)) {
    if (instruction.name === 'FROM') {
      const [image = '', , name] = instruction.text.split(/\s+/)
      stages.push({
        image: withArguments(image, args, instruction.line),
        name,
        line: instruction.line,
        instructions: stages.length === 0 ? declared : [],
      })
      continue
    }
    const stage = stages.at(-1)
    if (stage === undefined && instruction.name === 'ARG') {
      for (const [name, value] of Object.entries(pairsOf(instruction))) args.set(name, given[name] ?? value)
      declared.push(instruction)
      continue
    }
    if (stage === undefined) throw new Error(`line ${instruction.line}: ${instruction.name} before FROM`)
    stage.instructions.push(instruction)
  }
  return stages
}

/** An image with the values of `${NAME}`, and `word` of `${NAME:+word}` where it has one. */
function withArguments(image: string, args: ReadonlyMap<string, string>, line: number): string {
  return image.replace(/\$\{(\w+)(?::\+([^}]*))?\}/g, (_whole, name: string, word: string | undefined) => {
    const value = args.get(name)
    if (value === undefined)
      throw new Error(`line ${line}: no argument ${name} is declared before the first FROM`)
    return word === undefined ? value : value === '' ? '' : word
  })
}

function* instructionsOf(text: string): Generator<Instruction> {
  let joined = ''
  let first = 0
  for (const [at, raw] of text.split('\n').entries()) {
    if (/^\s*(#.*)?$/.test(raw)) continue
    if (joined === '') first = at + 1
    const isContinued = raw.endsWith('\\')
    joined += isContinued ? `${raw.slice(0, -1).trimEnd()} ` : raw
    if (isContinued) continue
    yield instructionOf(joined.trim(), first)
    joined = ''
  }
  if (joined !== '') throw new Error(`line ${first}: ends with a backslash`)
}

function instructionOf(text: string, line: number): Instruction {
  const [, word = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? []
  const name = word.toUpperCase()
  if (!known.has(name)) throw new Error(`line ${line}: no instruction is called ${word}`)
  const flags: Record<string, string> = {}
  let body = rest
  for (;;) {
    const [whole, flag, value] = /^--([a-z-]+)=(\S+)\s*/.exec(body) ?? []
    if (whole === undefined || flag === undefined || value === undefined) break
    flags[flag] = value
    body = body.slice(whole.length).replace(/^\s+/, '')
  }
  const [, command = body] = name === 'HEALTHCHECK' ? (/^CMD\s+([\s\S]*)$/.exec(body) ?? []) : []
  return { name, line, text: body, flags, exec: execOf(command) }
}

function execOf(text: string): readonly string[] | undefined {
  try {
    const words: unknown = JSON.parse(text)
    return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : undefined
  } catch {
    return undefined
  }
}

/** The names and values of an `ENV` or `LABEL`: `A=1 B="two words"`. */
export function pairsOf({ text }: Instruction): Readonly<Record<string, string>> {
  const pairs = text.matchAll(/([A-Za-z_][\w.-]*)=("(?:[^"\\]|\\.)*"|\S*)/g)
  return Object.fromEntries([...pairs].map(([, name, value = '']) => [name, value.replace(/^"|"$/g, '')]))
}
