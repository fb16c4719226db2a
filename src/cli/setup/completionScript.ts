/** Prints the script by which a shell completes `perpd`, from the commands. Pure. */
import type { CommandLine, OwnFlag } from '../../operator/commandLine.ts'

/** Shells that a script is printed for. */
export const shells = ['bash', 'zsh', 'fish'] as const

/** One of them. */
export type Shell = (typeof shells)[number]

/** Words that stand for a value: of a flag by its name, as `profile`, and of an argument by its name, as `KIND`. Letters, digits and `-` alone. */
export type ValueWords = Readonly<Record<string, readonly string[]>>

/** A flag of every command that takes a value. */
const commonFlags: readonly OwnFlag[] = [
  { name: 'profile', value: 'NAME', doc: 'profile to start from' },
  { name: 'config', value: 'FILE', doc: 'file of settings over the profile' },
  { name: 'help', doc: 'explain the command' },
]

/** Those of a command. */
function commonOf(takesNoSettings = false): readonly OwnFlag[] {
  return commonFlags.filter(({ name }) => !takesNoSettings || name === 'help')
}

/** Position after typed words: the next words of a command, or the flags and values of a whole one. */
interface Place {
  readonly behind: string
  readonly words: readonly string[]
  /** True for a whole command; it still holds when other words follow. */
  readonly isWhole: boolean
}

function placesOf(commands: readonly CommandLine[], values: ValueWords): readonly Place[] {
  const names = commands.map(({ name }) => name.split(' '))
  const seconds = (first: string): string[] =>
    names.flatMap(([one, two]) => (one === first && two !== undefined ? [two] : []))
  const firsts = [...new Set(names.map(([first = '']) => first))]
  const whole = commands.map(({ name, flags, positional, more = [], takesNoSettings }): Place => {
    const named = [...(positional === undefined ? [] : [positional]), ...more]
    return {
      behind: name,
      isWhole: true,
      words: [
        ...named.flatMap((each) => values[each.name] ?? []),
        ...[...flags, ...commonOf(takesNoSettings)].map((flag) => `--${flag.name}`),
      ],
    }
  })
  const families = firsts.filter((first) => seconds(first).length > 0)
  return [
    // The longer name goes first, and the words of a family before the flags of the command of that name.
    ...whole.filter(({ behind }) => behind.includes(' ')),
    ...families.map((first) => ({
      behind: first,
      isWhole: false,
      words: [...seconds(first), ...(whole.find(({ behind }) => behind === first)?.words ?? [])],
    })),
    ...whole.filter(({ behind }) => !behind.includes(' ')),
    { behind: '', isWhole: false, words: [...firsts, 'help'] },
  ]
}

/** The script of a shell: `source <(perpd completion bash)`. */
export function completionScript(shell: Shell, commands: readonly CommandLine[], values: ValueWords): string {
  return shell === 'fish' ? fishScript(commands, values) : caseScript(shell, commands, values)
}

/** The flags whose values have words, with those. */
function valuedFlags(
  commands: readonly CommandLine[],
  values: ValueWords,
): readonly [string, readonly string[]][] {
  const all = [...commands.flatMap(({ flags }) => flags), ...commonFlags]
  const named = new Set(
    all.flatMap((flag) => ('value' in flag && flag.value !== undefined ? [flag.name] : [])),
  )
  return [...named].flatMap((name) => {
    const words = values[name]
    return words === undefined ? [] : [[name, words] as const]
  })
}

function caseScript(shell: 'bash' | 'zsh', commands: readonly CommandLine[], values: ValueWords): string {
  const cases = placesOf(commands, values).map(
    ({ behind, words, isWhole }) =>
      `    '${behind === '' ? '' : `${behind} `}'${isWhole ? '*' : ''}) found='${words.join(' ')}' ;;`,
  )
  const ofFlags = valuedFlags(commands, values).map(
    ([name, words]) => `    --${name}) found='${words.join(' ')}' ;;`,
  )
  const [line, previous, finish, register] =
    shell === 'bash'
      ? [
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
          'local line="${COMP_WORDS[*]:1:COMP_CWORD-1}"',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
          '${COMP_WORDS[COMP_CWORD-1]}',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
          'COMPREPLY=($(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}"))',
          'complete -o default -F _perpd perpd',
        ]
      : [
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
          'local line="${(j: :)words[2,CURRENT-1]}"',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
          '${words[CURRENT-1]}',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
          'compadd -- ${=found} || _files',
          'compdef _perpd perpd',
        ]
  return [
    ...(shell === 'zsh' ? ['#compdef perpd'] : []),
    `# Completion of perpd for ${shell}: source <(perpd completion ${shell})`,
    '_perpd() {',
    `  ${line} found=''`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    '  case "${line:+$line }" in',
    ...cases,
    '  esac',
    `  case "${previous}" in`,
    ...ofFlags,
    '  esac',
    `  ${finish}`,
    '}',
    register,
  ].join('\n')
}

function fishScript(commands: readonly CommandLine[], values: ValueWords): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const summaries = new Map(commands.map(({ name, summary }) => [name, summary]))
  const words = placesOf(commands, values).flatMap(({ behind, words: all, isWhole }) =>
    all
      .filter((word) => !word.startsWith('--'))
      .map((word) => {
        const about = summaries.get(behind === '' ? word : `${behind} ${word}`)
        const where = quoted(`__perpd_${isWhole ? 'in' : 'at'} ${quoted(behind === '' ? '' : `${behind} `)}`)
        return `complete -c perpd -f -n ${where} -a ${word}${about === undefined ? '' : ` -d ${quoted(about)}`}`
      }),
  )
  const flags = commands.flatMap(({ name, flags: own, takesNoSettings }) =>
    [...own, ...commonOf(takesNoSettings)].map((flag) => {
      const takes = 'value' in flag && flag.value !== undefined && !('isValueOptional' in flag)
      const known = values[flag.name]
      const value = takes ? (known === undefined ? ' -r' : ` -x -a ${quoted(known.join(' '))}`) : ''
      return `complete -c perpd -n ${quoted(`__perpd_in ${quoted(`${name} `)}`)} -l ${flag.name}${value} -d ${quoted(flag.doc)}`
    }),
  )
  return [
    '# Completion of perpd for fish: perpd completion fish | source',
    'function __perpd_line',
    '  set -l said (commandline -opc)',
    "  string join ' ' -- $said[2..] ''",
    'end',
    'function __perpd_at',
    '  set -l line (__perpd_line)',
    '  test "$line" = "$argv[1]"',
    'end',
    'function __perpd_in',
    '  set -l line (__perpd_line)',
    '  string match -q -- "$argv[1]*" "$line"',
    'end',
    ...new Set([...words, ...flags]),
  ].join('\n')
}
