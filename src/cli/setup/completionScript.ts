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
  /** Arguments of a whole command, in their order. */
  readonly args: readonly Argument[]
  /** True for a whole command; it still holds when other words follow. */
  readonly isWhole: boolean
}

/** An argument: words for it, and names that the running daemon is asked for as well. */
interface Argument {
  readonly words: readonly string[]
  readonly among?: LiveSubject
}

/** Most arguments of a command that have words of their own; of one that is given many times the last ones are alike. */
const MOST_ARGUMENTS = 4

/** Flags behind which a word is their value, and no argument. */
function takingFlags(commands: readonly CommandLine[]): readonly string[] {
  const all = [...commands.flatMap(({ flags }) => flags), ...commonFlags]
  const taking = all.filter((flag) => flag.value !== undefined && flag.isValueOptional !== true)
  return [...new Set(taking.map(({ name }) => `--${name}`)), '--*.*']
}

function placesOf(commands: readonly CommandLine[], values: ValueWords): readonly Place[] {
  const names = commands.map(({ name }) => name.split(' '))
  const seconds = (first: string): string[] =>
    names.flatMap(([one, two]) => (one === first && two !== undefined ? [two] : []))
  const firsts = [...new Set(names.map(([first = '']) => first))]
  const whole = commands.map(({ name, flags, positional, more = [], takesNoSettings }): Place => {
    const isMany = positional?.isMany === true
    const named = [...(positional === undefined ? [] : [positional]), ...more]
    const args = named.map(({ name: word, among }): Argument => {
      return { words: values[word] ?? [], ...defined({ among }) }
    })
    return {
      behind: name,
      isWhole: true,
      args: isMany ? Array.from({ length: MOST_ARGUMENTS }, () => args).flat() : args,
      words: [...flags, ...commonOf(takesNoSettings)].map((flag) => `--${flag.name}`),
    }
  })
  const families = firsts.filter((first) => seconds(first).length > 0)
  return [
    // The longer name goes first, and the words of a family before the flags of the command of that name.
    ...whole.filter(({ behind }) => behind.includes(' ')),
    ...families.map((first) => ({
      behind: first,
      isWhole: false,
      args: whole.find(({ behind }) => behind === first)?.args ?? [],
      words: [...seconds(first), ...(whole.find(({ behind }) => behind === first)?.words ?? [])],
    })),
    ...whole.filter(({ behind }) => !behind.includes(' ')),
    { behind: '', isWhole: false, args: [], words: [...firsts, 'help'] },
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

/** Flags whose own definition has words for their value, with the commands that they are of. */
function wordedFlags(
  commands: readonly CommandLine[],
): readonly (readonly [string, readonly (readonly [behind: string, words: readonly string[]])[]])[] {
  const all = commands.flatMap(({ name: behind, flags }) =>
    flags.flatMap(({ name, words }) => (words === undefined ? [] : [{ name, behind, words }])),
  )
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, own]) => [
    name,
    own.map(({ behind, words }) => [behind, words] as const),
  ])
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
    ({ behind, words, isWhole, args }) =>
      `    '${behind === '' ? '' : `${behind} `}'${isWhole ? '*' : ''}) found='${words.join(' ')}' depth=${behind === '' ? 0 : behind.split(' ').length}${args.map((arg, at) => ` a${at}='${arg.words.join(' ')}' l${at}=${arg.among ?? ''}`).join('')} ;;`,
  )
  const ofFlags = [
    ...valuedFlags(commands, values).map(
      ([name, words]) => `    --${name}) found='${words.join(' ')}' live= ;;`,
    ),
    ...wordedFlags(commands).map(
      ([name, own]) =>
        `    --${name}) case "$line " in ${own.map(([behind, words]) => `'${behind} '*) found='${words.join(' ')}' live= ;;`).join(' ')} esac ;;`,
    ),
    ...liveFlags(commands).map(([name, among]) => `    --${name}) found= live=${among} ;;`),
  ]
  const { head, line, previous, finish, word, first, last } = shell === 'bash' ? bashParts : zshParts
  const most = Math.max(...placesOf(commands, values).map(({ args }) => args.length))
  const each = Array.from({ length: most }, (_, at) => at)
  return [
    ...(shell === 'zsh' ? ['#compdef perpd'] : []),
    `# Completion of perpd for ${shell}: source <(perpd completion ${shell})`,
    ...head,
    '_perpd() {',
    `  ${line}`,
    `  local found='' live='' depth=0 place=0 at${each.map((at) => ` a${at}='' l${at}=''`).join('')}`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    '  case "${line:+$line }" in',
    ...cases,
    '  esac',
    // The place of the argument that is completed: words that are neither flags nor their values stand before it.
    `  for ((at = ${first} + depth; at < ${last}; at++)); do`,
    `    case "${word}" in`,
    `      ${takingFlags(commands).join('|')}) ((at++)) ;;`,
    '      -*) ;;',
    '      *) ((place++)) ;;',
    '    esac',
    '  done',
    '  case $place in',
    ...each.map((at) => `    ${at}) found="$a${at} $found" live=$l${at} ;;`),
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
  /** The word at `at`, and the places of the first word behind `perpd` and of the one that is completed. */
  readonly word: string
  readonly first: number
  readonly last: string
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
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
  word: '${COMP_WORDS[at]}',
  ...{ first: 1, last: 'COMP_CWORD' },
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
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
  word: '${words[at]}',
  ...{ first: 2, last: 'CURRENT' },
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
  const ofArguments = places.flatMap(({ behind, args }) =>
    args.flatMap(({ words: own, among }, at) => {
      const where = `__perpd_in ${quoted(`${behind} `)}; and test (__perpd_place ${behind.split(' ').length}) -eq ${at}`
      const told = [...own, ...(among === undefined ? [] : [`(__perpd_names ${among})`])].join(' ')
      return told === '' ? [] : [`complete -c perpd -f -n ${quoted(where)} -a ${quoted(told)}`]
    }),
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
      const known =
        flag.among === undefined
          ? (flag.words ?? values[flag.name])?.join(' ')
          : `(__perpd_names ${flag.among})`
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
    'function __perpd_place',
    '  set -l said (commandline -opc)',
    '  set -l place 0',
    '  set -l at (math 2 + $argv[1])',
    '  while test $at -le (count $said)',
    '    switch $said[$at]',
    `      case ${takingFlags(commands).map(quoted).join(' ')}`,
    '        set at (math $at + 1)',
    "      case '-*'",
    "      case '*'",
    '        set place (math $place + 1)',
    '    end',
    '    set at (math $at + 1)',
    '  end',
    '  echo $place',
    'end',
    ...new Set([...words, ...ofArguments, ...flags]),
  ].join('\n')
}
