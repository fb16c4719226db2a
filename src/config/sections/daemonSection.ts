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
    'File of the journal, which holds all state that must survive the process.',
  ),
  url: setting(
    as.postgresUrlOrNone,
    '',
    'PostgreSQL database that keeps the journal, 14 or later: postgres://USER:PASSWORD@HOST:PORT/DATABASE, or with HOST:PORT,HOST:PORT of a primary and its standbys: perpd asks all and uses the newest primary. Empty: the file journal.path keeps it. With a database, lock, mark and guard of this machine stay next to journal.path.',
  ),
  account: setting(
    as.journalAccount,
    '',
    "Name of the account's rows in the database of journal.url. Empty: the name of the profile.",
  ),
  synchronousStandby: setting(
    flag,
    false,
    'True: perpd writes only to a database with a synchronous standby, so that no failover loses an acknowledged record.',
  ),
  standby: setting(
    flag,
    false,
    'True: while another machine writes the database of journal.url, perpd waits, and takes over seconds after that one ended. False: it refuses to start then.',
  ),
  headPath: setting(
    as.pathOrNone,
    '',
    "File of the journal's high-water mark, which reveals lost records. Empty: beside the journal. On another volume it also reveals that the whole directory was restored from a backup.",
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
    'Reaction to a changed, added or removed strategy file. `apply`: perpd loads it at once. `report`: perpd checks it and logs what `perpd strategies reload` would do. `off`: nothing.',
  ),
  decideTimeoutMs: setting(
    ms(10, 600_000),
    5_000,
    'Longest turn of a kind of your own, ms; perpd restarts a thread that takes longer.',
  ),
  slowDecideMs: setting(
    ms(1, 600_000),
    50,
    "Processor time from which a turn of a kind of your own is too slow, ms. perpd accepts its decisions, reports it, and counts it as a failure for `pauseAfterFailures`. A thread's first three turns are not timed.",
  ),
  memoryMiB: setting(
    integer(16, 65_536),
    128,
    'Most memory of the JavaScript objects and buffers of one strategy of your own kind, MiB; perpd ends a thread that takes more. Buffers may take 64 MiB more, because Node collects them late. A SharedArrayBuffer is not counted.',
  ),
  pauseAfterFailures: setting(
    integer(1, 1_000),
    3,
    'Failures in a row after which a strategy of your own kind pauses for a minute, and twice as long after each further one, up to 15 minutes.',
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
    'File of the token that commands need (halt, kill, limits); perpd makes it with mode 0600 when there is none. The same name with .read at its end holds the token for reading, and with .address the address where the daemon serves.',
  ),
  metricsAccess: setting(
    choice(['auto', 'open', 'token']),
    'auto',
    'Access to /metrics. `open`: everyone who reaches the port. `token`: only with a token. `auto`: open when control.host is this machine alone.',
  ),
  healthAccess: setting(
    choice(['open', 'token']),
    'open',
    'Access to /livez and /readyz. `open`: everyone who reaches the port. `token`: only with a token.',
  ),
  requestsPerSecond: setting(
    integer(1, 10_000),
    50,
    'Most requests a second of each role, and of each address without a token; the rest get 429. Probes (/livez, /readyz) are not counted, and the files of the console have a rate of their own.',
  ),
  hostNames: setting(
    as.hostNames,
    [],
    'Further host names that requests to this port may use, as perpd in a container network. perpd refuses other names, so that no web page can reach it. IP addresses and localhost are always allowed.',
  ),
  console: setting(
    flag,
    true,
    'Serve the web console at /console/ of this port (docs/console.md). Off: perpd serves no browser.',
  ),
  consoleUrl: setting(
    as.publicUrlOrNone,
    '',
    'Address of the console behind a proxy that ends TLS, as https://perpd.example.org. The session cookie is then sent over TLS only, and requests may use this name. Empty: the port itself.',
  ),
  typedSizeBps: setting(
    integer(0, 1_000_000),
    2_500,
    'Size of an order by hand, in basis points of the equity, above which the console asks to type it before it sends the order; 0: every size.',
  ),
  signalSecretFile: setting(
    as.pathOrNone,
    '',
    'File of the secret for signed signals from outside (docs/signals.md); perpd makes it with mode 0600 when there is none. Empty: signed signals are refused.',
  ),
  signalBodySecrets: setting(
    as.pathOrNone,
    '',
    'Folder of secrets for senders that cannot sign, one file named after each strategy. Such a signal carries the secret in its body, which is weaker. Empty: such signals are refused.',
  ),
  signalWindowSeconds: setting(
    seconds(5, 900),
    60,
    "How far a signal's time may be from this machine's, seconds.",
  ),
  signalsPerSecond: setting(
    integer(1, 1_000),
    5,
    'Most signals a second whose sender is proven; the rest get 429.',
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
  level: liveSetting(choice(logLevels), 'info', 'Lowest level of the lines that perpd writes.'),
  levels: liveSetting(
    as.componentLevels,
    [],
    'Levels of single components, as `host=debug`; a component is the part of an event before its first dot (docs/reference/events.md).',
  ),
  format: setting(
    choice(['auto', 'pretty', 'json']),
    'auto',
    '`pretty` for people, `json` for machines, `auto`: json where systemd, Kubernetes or a container runs perpd and no terminal shows it, else pretty.',
  ),
  file: setting(
    as.pathOrNone,
    '',
    'File for JSON lines besides standard output. Empty: none. You may move it away at any time; perpd begins a new one within a second.',
  ),
  heartbeatSeconds: setting(
    seconds(0, 86_400),
    300,
    'How often an idle daemon logs that it is alive, seconds; 0: never.',
  ),
} satisfies Section
