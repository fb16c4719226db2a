/** Prints the script by which a shell completes `perpd`, from the commands. Pure. */
import { defined } from '../../base/defined.ts'
import type { CommandLine, LiveSubject, OwnFlag } from '../../operator/commandLine.ts'

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
  /** Names that the running daemon is asked for as well. */
  readonly among?: LiveSubject
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
      ...defined({ among: named.find(({ among }) => among !== undefined)?.among }),
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

/** Flags whose values the running daemon has names for. */
function liveFlags(commands: readonly CommandLine[]): readonly (readonly [string, LiveSubject])[] {
  const all = commands.flatMap(({ flags }) => flags)
  return [...new Map(all.flatMap(({ name, among }) => (among === undefined ? [] : [[name, among] as const])))]
}

/** Flags that say which daemon is meant: the script hands on those that were typed. */
const meansDaemon = ['--config', '--profile', '--control.tokenFile']

function caseScript(shell: 'bash' | 'zsh', commands: readonly CommandLine[], values: ValueWords): string {
  const cases = placesOf(commands, values).map(
    ({ behind, words, isWhole, among }) =>
      `    '${behind === '' ? '' : `${behind} `}'${isWhole ? '*' : ''}) found='${words.join(' ')}'${among === undefined ? '' : ` live=${among}`} ;;`,
  )
  const ofFlags = [
    ...valuedFlags(commands, values).map(
      ([name, words]) => `    --${name}) found='${words.join(' ')}' live= ;;`,
    ),
    ...liveFlags(commands).map(([name, among]) => `    --${name}) found= live=${among} ;;`),
  ]
  const { head, line, previous, finish } = shell === 'bash' ? bashParts : zshParts
  return [
    ...(shell === 'zsh' ? ['#compdef perpd'] : []),
    `# Completion of perpd for ${shell}: source <(perpd completion ${shell})`,
    ...head,
    '_perpd() {',
    `  ${line}`,
    "  local found='' live=''",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    '  case "${line:+$line }" in',
    ...cases,
    '  esac',
    `  case "${previous}" in`,
    ...ofFlags,
    '  esac',
    ...finish.map((each) => `  ${each}`),
    '}',
    shell === 'bash' ? 'complete -o default -F _perpd perpd' : 'compdef _perpd perpd',
  ].join('\n')
}

/** The parts of a script in which the two shells differ. Each of them is a line of the shell. */
interface ShellParts {
  /** Function that prints the names of a subject; a daemon that is not there prints none. */
  readonly head: readonly string[]
  /** Sets `line` to the words before the one that is completed. */
  readonly line: string
  readonly previous: string
  /** Offers `found`, and the names of `live`. */
  readonly finish: readonly string[]
}

/** The function `_perpd_names SUBJECT`, where `words` and `last` are the shell's words and the place of the one that is completed. */
function namesFunction(words: string, last: string, first: number): readonly string[] {
  return [
    '_perpd_names() {',
    '  local at',
    '  local -a which',
    `  for ((at = ${first}; at < ${last}; at++)); do`,
    `    case "\${${words}[at]}" in`,
    `      ${meansDaemon.join('|')}) which+=("\${${words}[at]}" "\${${words}[at+1]}") ;;`,
    '    esac',
    '  done',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    '  command perpd completion "$1" "${which[@]}" 2>/dev/null </dev/null',
    '}',
  ]
}

// A name may hold spaces, as ETH/USD [WETH-USDC]: it is quoted as the shell quotes it, unless a quote is open already. `compgen` would run what
// a name holds.
const bashParts: ShellParts = {
  head: namesFunction('COMP_WORDS', 'COMP_CWORD', 1),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
  line: 'local line="${COMP_WORDS[*]:1:COMP_CWORD-1}" typed="${COMP_WORDS[COMP_CWORD]}" word about',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
  previous: '${COMP_WORDS[COMP_CWORD-1]}',
  finish: [
    'COMPREPLY=($(compgen -W "$found" -- "$typed"))',
    'if [[ -n $live && $typed != -* ]]; then',
    "  while IFS=$'\\t' read -r word about; do",
    `    [[ $typed == [\\"\\']* ]] && typed="\${typed:1}" || printf -v word %q "$word"`,
    '    [[ $word == "$typed"* ]] && COMPREPLY+=("$word")',
    '  done < <(_perpd_names "$live")',
    'fi',
  ],
}

const zshParts: ShellParts = {
  head: namesFunction('words', 'CURRENT', 2),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
  line: 'local line="${(j: :)words[2,CURRENT-1]}" word about\n  local -a named shown',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
  previous: '${words[CURRENT-1]}',
  finish: [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    'if [[ -n $live && ${words[CURRENT]} != -* ]]; then',
    "  while IFS=$'\\t' read -r word about; do",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    '    named+=("$word") shown+=("$word${about:+  $about}")',
    '  done < <(_perpd_names "$live")',
    'fi',
    '(( $#named )) && compadd -l -d shown -a named',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    'compadd -- ${=found} || (( $#named )) || _files',
  ],
}

function fishScript(commands: readonly CommandLine[], values: ValueWords): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const summaries = new Map(commands.map(({ name, summary }) => [name, summary]))
  const places = placesOf(commands, values)
  const live = places.flatMap(({ behind, among }) =>
    among === undefined
      ? []
      : [
          `complete -c perpd -f -n ${quoted(`__perpd_in ${quoted(`${behind} `)}`)} -a ${quoted(`(__perpd_names ${among})`)}`,
        ],
  )
  const words = places.flatMap(({ behind, words: all, isWhole }) =>
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
      const known = flag.among === undefined ? values[flag.name]?.join(' ') : `(__perpd_names ${flag.among})`
      const value = takes ? (known === undefined ? ' -r' : ` -x -a ${quoted(known)}`) : ''
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
    'function __perpd_names',
    '  set -l said (commandline -opc)',
    '  set -l which',
    '  for at in (seq 2 (count $said))',
    `    contains -- $said[$at] ${meansDaemon.join(' ')}`,
    '    and set -a which $said[$at] $said[(math $at + 1)]',
    '  end',
    '  command perpd completion $argv[1] $which 2>/dev/null </dev/null',
    'end',
    ...new Set([...words, ...live, ...flags]),
  ].join('\n')
}
