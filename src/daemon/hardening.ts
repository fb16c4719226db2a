/** Protects the process against inspection while it holds a key. */
import { writeFileSync } from 'node:fs'
import { CommandError, exitCodes } from '../config/exit.ts'

/**
 * Closes the doors that can be closed from inside; called before anything else.
 *
 * SIGUSR1 makes Node open a debugger that anyone on the machine can enter; a listener takes the signal away from it (the
 * flag --disable-sigusr1 of the shipped ways to start does the same from the first instant). On Linux, a crash then writes
 * a core without the memory in it.
 */
export function hardenProcess(): void {
  process.on('SIGUSR1', () => {})
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
  } catch {
    // Another system, or a container without a writable /proc; deploy/ turns core files off from outside, too.
  }
}

/** Start of this process: its environment, and the options of Node before the program's name. */
export interface Started {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly execArgv: readonly string[]
}

/** Options of Node that open the process to others, load other code into it, or write down what it knows. */
const openingOptions: readonly (readonly [form: RegExp, does: string])[] = [
  [/^(?:-r|--require|--import|--(?:experimental-)?loader)$/, 'loads other code into this process'],
  [/^--(?:inspect|debug)(?:-[a-z-]+)?$/, 'opens a debugger for this process'],
  [/^--tls-keylog$/, 'logs the keys of its connections'],
  [/^--(?:heapsnapshot-[a-z-]+|heap-prof|report-[a-z-]+)$/, 'writes its memory or its environment to files'],
  [/^--(?:tls-min-v1\.[01]|tls-max-v1\.[01]|insecure-http-parser)$/, 'weakens its connections'],
]

/** Variables that do the same. */
const openingVariables: readonly (readonly [name: string, does: string])[] = [
  ['SSLKEYLOGFILE', 'logs the keys of its connections'],
  ['NODE_DEBUG', 'logs the data that it sends, tokens included'],
  ['NODE_DEBUG_NATIVE', 'logs the data that it sends, tokens included'],
]

/** Variables that change whom it trusts or what it runs, and have honest uses. */
const toldVariables: readonly (readonly [name: string, does: string])[] = [
  ['NODE_OPTIONS', 'changes how Node runs this process'],
  ['NODE_EXTRA_CA_CERTS', 'adds certificate authorities for every connection'],
  ['SSL_CERT_FILE', 'may change the trusted certificate authorities'],
  ['SSL_CERT_DIR', 'may change the trusted certificate authorities'],
  ['OPENSSL_CONF', 'may weaken connections'],
  ['NODE_PATH', 'adds folders from which code is loaded'],
  // V8 trusts what it finds there.
  ['NODE_COMPILE_CACHE', 'runs compiled code from a folder, which anyone with write access can change'],
  ['LD_PRELOAD', 'loads other code into this process'],
  ['LD_AUDIT', 'loads other code into this process'],
  ['LD_LIBRARY_PATH', 'changes the source of library code'],
  ['DYLD_INSERT_LIBRARIES', 'loads other code into this process'],
]

/** Returns the facts about this process's start that forbid trading real money in it; empty when there are none. */
export function processProblems(
  config: { readonly isPaper: boolean },
  { env, execArgv }: Started,
): readonly string[] {
  if (config.isPaper) return []
  const no = 'perpd does not start like this with real money.'
  const problems: string[] = []
  // Not imported: each command would load it.
  if (process.getBuiltinModule('node:inspector').url() !== undefined) {
    problems.push(
      `a debugger is open for this process (${process.execArgv.join(' ')}); anyone who connects to it has the key. ${no}`,
    )
  }
  // Node takes this one word and no other.
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    problems.push(
      `NODE_TLS_REJECT_UNAUTHORIZED=0 accepts every certificate, so an attacker on the network could pose as the venue, the chain or the signer. ${no} Unset it; set your own authority with NODE_EXTRA_CA_CERTS=FILE.`,
    )
  }
  for (const [name, does] of openingVariables)
    if ((env[name] ?? '') !== '') problems.push(`${name} is set: it ${does}. ${no} Unset it.`)
  const options: readonly (readonly [from: string, option: string])[] = [
    ...optionsIn(env.NODE_OPTIONS ?? '').map((option) => ['NODE_OPTIONS', option] as const),
    ...execArgv.map((option) => ['node', option] as const),
  ]
  for (const [from, option] of options) {
    const name = (option.split('=')[0] ?? '').replaceAll('_', '-')
    const [, does] = openingOptions.find(([form]) => form.test(name)) ?? []
    if (does !== undefined) problems.push(`${from} has ${name}: it ${does}. ${no} Remove it.`)
  }
  return problems
}

/** The words of NODE_OPTIONS, without quotation marks. */
function optionsIn(text: string): readonly string[] {
  return text
    .split(/\s+/)
    .map((word) => word.replaceAll('"', ''))
    .filter((word) => word !== '')
}

/** Variables that name a proxy, in capitals or not. */
const proxyVariable = /^(?:https?|all)_proxy$/i

/** Says that the proxies of the environment lead nowhere; empty where it names none. Their addresses may hold a password. */
function proxyWarnings(env: Started['env']): readonly string[] {
  const names = Object.keys(env).filter((name) => proxyVariable.test(name) && (env[name] ?? '') !== '')
  if (names.length === 0) return []
  return [
    `${names.join(', ')} set, but perpd uses no proxy, not even with NODE_USE_ENV_PROXY or --use-env-proxy. It connects directly to hosts, endpoints, a remote signer and notification services: allow those in the firewall.`,
  ]
}

/** The warnings about how this process was started, before it trades; most apply to real money alone. */
export function processWarnings(
  config: { readonly isPaper: boolean },
  { env }: { readonly env: Readonly<Record<string, string | undefined>> },
): string[] {
  const proxies = proxyWarnings(env)
  if (config.isPaper) return [...proxies]
  const told = toldVariables
    .filter(([name]) => (env[name] ?? '') !== '')
    .map(([name, does]) => `${name} is set: it ${does}. Unset it if you do not need it.`)
  return [...proxies, ...told]
}

/** Throws CommandError with exit code 4 when this process was started in a way that real money forbids. */
export function refuseOpenProcess(config: { readonly isPaper: boolean }, started: Started): void {
  const problems = processProblems(config, started)
  if (problems.length > 0) throw new CommandError(problems.join('\n'), exitCodes.configuration)
}
