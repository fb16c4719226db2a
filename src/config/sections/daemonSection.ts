/** Settings of the daemon itself: what it keeps, runs, serves and tells. */
import { isLoopback } from '../../base/networkAddress.ts'
import { logLevels } from '../../domain/logLevels.ts'
import {
  choice,
  flag,
  integer,
  liveSetting,
  ms,
  type Section,
  seconds,
  setting,
  type Typed,
} from '../../protocol/settings/setting.ts'
import * as as from './formats.ts'

/** Settings under `journal`. */
export const journal = {
  path: setting(
    as.journalLocation,
    './var/{profile}/journal.db',
    'File of the journal: what must survive the process.',
  ),
  headPath: setting(
    as.pathOrNone,
    '',
    "File of the journal's high-water mark, which reveals lost records. Empty: beside the journal. On another volume it also tells of a restored backup of the whole directory.",
  ),
  maxMiB: setting(
    integer(1, 1_048_576),
    4096,
    'Largest size of the journal file, MiB; at this size the daemon stops instead of filling the disk.',
  ),
} satisfies Section

/** Settings under `strategies`. */
export const strategies = {
  paths: setting(
    as.paths,
    ['./strategies'],
    'Strategy files and directories of them; one YAML file is one running strategy.',
  ),
  watch: setting(
    choice(['apply', 'report', 'off']),
    'report',
    'What happens when a strategy file changes, comes or goes: `apply` takes it over by itself, `report` checks it and says in the log what `perpd strategies reload` would do, `off` nothing.',
  ),
  decideTimeoutMs: setting(
    ms(10, 600_000),
    5_000,
    'Longest turn of a kind of your own, ms; a thread that takes longer is restarted.',
  ),
  slowDecideMs: setting(
    ms(1, 600_000),
    50,
    "Time of the processor from which a turn of a kind of your own is too slow, ms. Its decisions are accepted; it is reported, and counts as a failure for `pauseAfterFailures`. A thread's first three turns are not timed, nor is what else the machine does.",
  ),
  memoryMiB: setting(
    integer(16, 65_536),
    128,
    'Most memory of the JavaScript objects and buffers of one strategy of your own kind, MiB; a thread that takes more is ended, of buffers with 64 MiB more, which Node lets lie before it collects them. A SharedArrayBuffer is not counted.',
  ),
  pauseAfterFailures: setting(
    integer(1, 1_000),
    3,
    'Failures in a row after which a strategy of your own kind is not asked for a minute, and twice as long after each further one, up to 15 minutes.',
  ),
} satisfies Section

/** Settings under `control`. */
export const control = {
  host: setting(as.listenHost, '127.0.0.1', 'Address to serve status, health and metrics on.'),
  port: setting(
    integer(0, 65_535),
    9_464,
    'Port to serve status, health and metrics on; 0 takes a free one.',
  ),
  tokenFile: setting(
    as.path,
    './var/{profile}/control.token',
    'File of the token that commands need (halt, kill, limits); made with mode 0600 when there is none. The token that reading needs stands beside it, in the same name with .read at its end, and with .address where the daemon serves.',
  ),
  metricsAccess: setting(
    choice(['auto', 'open', 'token']),
    'auto',
    'Who may read /metrics: `open` everyone who reaches the port, `token` who has a token, `auto`: open when control.host is this machine alone.',
  ),
  healthAccess: setting(
    choice(['open', 'token']),
    'open',
    'Who may read /livez and /readyz: everyone who reaches the port, or who has a token.',
  ),
  requestsPerSecond: setting(
    integer(1, 10_000),
    50,
    'Most requests a second of each role, and of each address without a token; the rest are answered 429. Probes (/livez, /readyz) are not counted.',
  ),
  hostNames: setting(
    as.hostNames,
    [],
    'Further names by which this port may be addressed, as perpd in a container network; other names are refused, so that no web page can reach it. Addresses and localhost always may.',
  ),
  console: setting(
    flag,
    true,
    'Serve the web console at /console/ of this port (docs/console.md). Without it no browser gets anything.',
  ),
  consoleUrl: setting(
    as.publicUrlOrNone,
    '',
    'Where browsers reach the console through a proxy that ends TLS, as https://perpd.example.org: its cookie goes over TLS alone then, and this name may address the port. Empty: at the port itself.',
  ),
  signalSecretFile: setting(
    as.pathOrNone,
    '',
    'File of the secret that signals from outside are signed with (docs/signals.md); made with mode 0600 when there is none. Empty: none is taken by a signature.',
  ),
  signalBodySecrets: setting(
    as.pathOrNone,
    '',
    'Folder with a secret for each strategy whose signals come from a sender that cannot sign, in a file of its name: it stands in the body then, which is weaker. Empty: none is taken so.',
  ),
  signalWindowSeconds: setting(
    seconds(5, 900),
    60,
    "How far a signal's time may be from this machine's, seconds.",
  ),
  signalsPerSecond: setting(
    integer(1, 1_000),
    5,
    'Most signals a second whose sender is proven; the rest are answered 429.',
  ),
} satisfies Section

/** The same, with who may read without a token. */
export function controlOf({ metricsAccess, healthAccess, ...same }: Typed<typeof control>) {
  const isOpen = metricsAccess === 'open' || (metricsAccess === 'auto' && isOwnHost(same.host))
  return { ...same, isMetricsOpen: isOpen, isHealthOpen: healthAccess === 'open' }
}

/** Tells whether a host to listen on is this machine alone. */
export function isOwnHost(host: string): boolean {
  return isLoopback(host.includes(':') ? `[${host}]` : host)
}

/** Settings under `log`. */
export const log = {
  level: liveSetting(choice(logLevels), 'info', 'Least important line that is written.'),
  levels: liveSetting(
    as.componentLevels,
    [],
    'Levels of single components, as `host=debug`; a component is the part of an event before its first dot (docs/reference/events.md).',
  ),
  format: setting(
    choice(['auto', 'pretty', 'json']),
    'auto',
    '`pretty` for people, `json` for machines, `auto`: pretty on a terminal, else json.',
  ),
  file: setting(
    as.pathOrNone,
    '',
    'File that JSON lines are written to besides standard output. Empty: none. It may be moved away at any time: a new one is begun with the next line after a second.',
  ),
  heartbeatSeconds: setting(
    seconds(0, 86_400),
    300,
    'How often an idle daemon reports that it lives, seconds; 0 never.',
  ),
} satisfies Section
